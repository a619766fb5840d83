// Each real host in a supervised terminal of ours, as a person starts it.
import { expect, test } from 'vitest'
import { spine } from '../spine/spine.ts'
import { inTerminal } from '../support/hosts/in-terminal.ts'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { act, dialogue, say } from '../support/hosts/script.ts'
import { ofType } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

test.each(installedHosts())('%s asks a person, and goes on when it was answered', async (name) => {
  const project = spine()
  const model = await modelServer(
    dialogue('make a note', [act({ shell: 'touch asked.txt', asks: true }), say('the note is made')]),
  )
  const terminal = await inTerminal(project, prepareHost(name, { project, model }), 'amber-otter')
  await terminal.ready()
  await terminal.prompt('make a note')
  await terminal.needsInput(true)
  const [wait] = await until('the wait to be booked', () => {
    const waits = ofType(project.events(terminal.runId), 'wait_start')
    return waits.length > 0 ? waits : undefined
  })
  expect(wait).toMatchObject({ wait: { source: 'osc' } })
  await terminal.press('enter')
  await terminal.see('the note is made')
  await terminal.needsInput(false)
  await until('its end to be booked', () => ofType(project.events(terminal.runId), 'wait_end').length > 0)
  await terminal.end()
  expect(project.read('asked.txt')).toBe('')
})
