// Seed 003 with the real hosts: a worker runs a task with each, and what comes back is their own final frame, measured by their own counts.
import { expect, test } from 'vitest'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { keepLines } from '../support/hosts/recordings.ts'
import { act, dialogue, oneOf, say } from '../support/hosts/script.ts'
import { fleet } from '../dispatch/dispatch-kit.ts'

const FLAGS = { claude: ['--dangerously-skip-permissions'], codex: ['--dangerously-bypass-approvals-and-sandbox'] }

test.each(installedHosts().filter((name) => name === 'claude' || name === 'codex'))(
  '%s takes a dispatched task',
  async (name) => {
    const project = fleet()
    const model = await modelServer(
      oneOf(
        dialogue('make a note', [
          act({ shell: 'echo from-the-shell > shell.txt' }, { input: 100, cached: 1000, output: 20 }),
          say('done with it', { input: 300, cached: 3000, output: 40 }),
        ]),
      ),
    )
    const host = prepareHost(name, { project, model })
    await project.workerOf(name, [...host.command, ...FLAGS[name]], ['--runtime', name], host.env)
    const done = await project.send('make a note', ['--budget', '100000'])
    expect(done).toMatchObject({
      state: 'done',
      result: {
        status: 'done',
        reply: 'done with it',
        source: 'runtime',
        usage: { source: 'runtime', output: 60 },
        artifacts: { files_changed: ['shell.txt'] },
      },
    })
    expect(done['tokens_settled']).toBeGreaterThanOrEqual(460)
    expect(model.strayRequests).toEqual([])
    keepLines(name, 'dispatch-frames.jsonl', project.frames(), project)
    // Past its budget it is ended, with what it had done so far.
    const short = await project.send('make a note', ['--budget', '50'])
    expect(['partial', 'done']).toContain(short['state'])
  },
)

test.each(installedHosts().filter((name) => name === 'claude'))(
  '%s without leave to write: the task is not done, and its result names what was denied',
  async (name) => {
    const project = fleet()
    const model = await modelServer(
      oneOf(
        dialogue('make a note', [
          act({ shell: 'echo from-the-shell > shell.txt' }),
          say('I was not allowed to write.'),
        ]),
      ),
    )
    const host = prepareHost(name, { project, model })
    await project.workerOf(name, [...host.command, '--permission-mode', 'default'], ['--runtime', name], host.env)
    const refused = await project.send('make a note')
    expect(refused['state']).not.toBe('done')
    expect(refused['result']).not.toMatchObject({ status: 'done' })
    expect(JSON.stringify(refused['result'])).toContain('denied permission: Bash')
  },
)
