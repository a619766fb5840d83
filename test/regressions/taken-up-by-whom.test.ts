// Over MCP a name is taken up only where a connection had it that is over and has left nothing; the rest takes evidence (seed 002 §4.4, §6).
import { expect, test } from 'vitest'
import { joinAsClient } from '../../src/coordination/who/clients.ts'
import { registerHaid } from '../../src/coordination/who/registration.ts'
import { startTask } from '../../src/coordination/tasks.ts'
import { MINUTE, openRoom } from '../coordination/room.ts'
import { join } from '../mcp/session.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryProject } from '../support/project.ts'

test('an agent that a command registered is not taken over, however long it is silent', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock, fateOf: () => 'alive' })
  const haid = `${room.rootHaid}/cursor`
  await registerHaid(room, haid)
  clock.advance(24 * 60 * MINUTE)
  const connection = { client: 'cursor', process: 'here 1 1', startedBy: 'here 2 2' }
  await expect(joinAsClient(room, { ...connection, client: 'copilot', label: 'cursor' })).rejects.toThrow(
    /IDENTITY_HELD|belongs/,
  )
  expect((await joinAsClient(room, connection)).agent.haid).toMatch(/\/cursor-[0-9a-f]{4}$/)
})

test('a connection that is over and has a task in progress keeps its name', async () => {
  let fate: 'alive' | 'gone' = 'alive'
  const room = openRoom({ fateOf: () => fate })
  const first = await joinAsClient(room, { client: 'cursor', process: 'here 1 1' })
  const actor = { kind: 'agent' as const, haid: first.agent.haid, secret: first.secret }
  await startTask(room, actor, { taskId: 'T-1', title: 'x' })
  fate = 'gone'
  expect((await joinAsClient(room, { client: 'cursor', process: 'here 3 3' })).agent.haid).toMatch(
    /\/cursor-[0-9a-f]{4}$/,
  )
})

test('a label does not open what a killed neighbour of another name has left, under the same parent', async () => {
  const project = temporaryProject()
  const cursor = await join(project, 'cursor')
  await cursor.call('make_claim', { surfaces: ['src/**'], task: 'T-1' })
  cursor.program.kill('SIGKILL')
  await cursor.program.ended
  const copilot = await join(project, 'copilot')
  expect(await copilot.call('release_claim', { client_identity: 'cursor' })).toMatchObject({
    isError: true,
    data: { error: 'IDENTITY_HELD' },
  })
  // The same client, started again, goes on with it.
  expect(await (await join(project, 'cursor')).call('release_claim')).toMatchObject({ data: { released: 1 } })
})
