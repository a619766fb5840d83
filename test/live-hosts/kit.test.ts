// The kit itself: each real host talks to the scripted model, uses its tools, and nobody else is asked anything.
import { expect, test } from 'vitest'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { act, dialogue, oneOf, say } from '../support/hosts/script.ts'
import { temporaryProject } from '../support/project.ts'

test.each(installedHosts())('%s plays a scripted dialogue with its own tools', async (name) => {
  const project = temporaryProject()
  const model = await modelServer(
    oneOf(
      dialogue('make a note', [
        act(
          { shell: 'echo from-the-shell > shell.txt' },
          { input: 100, cached: 1000, cacheWrite: 10, output: 20, reasoning: 5 },
        ),
        act(
          { write: project.path('edit.txt'), content: 'from the edit' },
          { input: 200, cached: 2000, output: 30, reasoning: 6 },
        ),
        say('done with it', { input: 300, cached: 3000, output: 40 }),
      ]),
    ),
  )
  const host = prepareHost(name, { project, model })
  const { code, stdout, stderr } = await host.run('make a note')
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  expect(project.read('shell.txt')).toBe('from-the-shell\n')
  expect(project.read('edit.txt').trimEnd()).toBe('from the edit')
  expect(model.exchanges.filter(({ reply }) => reply === undefined)).toEqual([])
  expect(stdout).toContain('done with it')
  expect(model.strayRequests).toEqual([])
})
