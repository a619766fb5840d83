// The stale threshold belongs to the repository (seed 002 §4.1): a caller's environment makes itself more patient, never less.
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { readMachine } from '../../src/coordination/moment.ts'
import { openRoom } from '../coordination/room.ts'
import { silence } from '../coordination/silence.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { type Ending, launcher } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'

const heimdall = (project: TemporaryProject, line: string, env: Record<string, string> = {}): Promise<Ending> =>
  project.run('heimdall', [...line.split(' '), '--json'], { env })

async function withSilentOwner(
  minutes: number,
): Promise<{ project: TemporaryProject; fallSilent: () => Promise<void> }> {
  const project = temporaryProject()
  for (const name of ['amber-otter', 'cobalt-harbor'])
    await heimdall(project, `agent register --name ${name} --role ui`)
  await heimdall(project, 'agent reserve --agent amber-otter --scope src')
  const fallSilent = async (): Promise<void> => {
    const room = openRoom({ project, clock: systemClock, boot: readMachine().boot })
    await silence(room, room.store.read((rows) => rows.agentById('amber-otter')?.haid) ?? '', minutes)
  }
  await fallSilent()
  return { project, fallSilent }
}

const TAKE = 'agent reserve --agent cobalt-harbor --scope src --takeover-stale'
const value = async (project: TemporaryProject, env: Record<string, string> = {}): Promise<unknown> => {
  const { stdout } = await heimdall(project, 'config get agent_stale_minutes', env)
  return (JSON.parse(stdout) as { data: unknown }).data
}

test('a short threshold of one’s own frees nothing, in a variable or in a file', async () => {
  const { project } = await withSilentOwner(2)
  const impatient = { BB_AGENT_STALE_MINUTES: '1' }
  expect(await heimdall(project, TAKE, impatient)).toMatchObject({
    code: 5,
    stdout: expect.stringContaining('RESERVATION_CONFLICT'),
  })
  project.write('heimdall.toml', 'agent_stale_minutes = 1\n')
  expect(await heimdall(project, TAKE)).toMatchObject({ code: 5 })
  expect(await value(project, impatient)).toMatchObject({ value: 15, origin: 'repository' })
})

test('a long one makes the caller more patient, and nobody else', async () => {
  const { project } = await withSilentOwner(20)
  const patient = { BB_AGENT_STALE_MINUTES: '60' }
  expect(await heimdall(project, TAKE, patient)).toMatchObject({ code: 5 })
  expect(await value(project, patient)).toMatchObject({ value: 60, origin: 'env BB_AGENT_STALE_MINUTES' })
  expect(await heimdall(project, TAKE)).toMatchObject({ code: 0 })
})

test('the first change settles it, and only a person changes it', async () => {
  const project = temporaryProject()
  await heimdall(project, 'agent register --name amber-otter --role ui', { BB_AGENT_STALE_MINUTES: '40' })
  expect(await value(project)).toMatchObject({ value: 40, origin: 'repository' })
  expect(await heimdall(project, 'config set agent_stale_minutes 5', { BB_AGENT: 'amber-otter' })).toMatchObject({
    code: 4,
    stdout: expect.stringContaining('PERSON_REQUIRED'),
  })
  const person = ownTerminal([...launcher('heimdall'), 'config', 'set', 'agent_stale_minutes', '5'], {
    cwd: project.root,
    env: project.env,
  })
  expect(await person.ended, person.written()).toBe(0)
  expect(await value(project)).toMatchObject({ value: 5, origin: 'repository' })
  const { stdout } = await heimdall(project, 'claim history --type SETTING --type REFUSED')
  expect((JSON.parse(stdout) as { data: unknown[] }).data).toMatchObject([
    { event_type: 'REFUSED', from_agent: 'amber-otter', payload: { code: 'PERSON_REQUIRED' } },
    { event_type: 'SETTING', actor_kind: 'human', payload: { value: 5, was: 40, by: expect.any(String) } },
  ])
})
