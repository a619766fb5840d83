// A running server answers from what it knows; these try to catch it with something that is no longer true.
import { symlinkSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { Desk } from '../../src/mcp/desk.ts'
import { findTool } from '../../src/mcp/tools.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { scaled } from '../support/scale.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { join, type RawSession } from './session.ts'

const MINUTE = 60_000

async function holders(session: RawSession): Promise<unknown[]> {
  const { data } = await session.call('read_claims')
  return (data['active_claims'] as { haid: string; claimed_surfaces: string[] }[]).flatMap((claim) =>
    claim.claimed_surfaces.map((surface) => `${claim.haid.split('/').at(-1)} ${surface}`),
  )
}

const isClear = async (session: RawSession, surface: string): Promise<unknown> =>
  (await session.call('check_claim', { surfaces: [surface] })).data['clear']

test('each change by another process is in the very next answer, round after round', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  for (let round = 0; round < scaled(6, 300); round += 1) {
    const surface = `src/${round % 3}/**`
    expect(await holders(copilot)).toEqual([])
    expect(await isClear(copilot, surface)).toBe(true)
    await cursor.call('make_claim', { surfaces: [surface], task: `T-${round}` })
    expect(await isClear(copilot, surface)).toBe(false)
    expect(await holders(copilot)).toEqual([`cursor ${surface}`])
    expect(await holders(cursor)).toEqual([`cursor ${surface}`])
    await cursor.call('release_claim')
    expect(await isClear(copilot, surface)).toBe(true)
    expect(await holders(cursor)).toEqual([])
  }
})

test('a claim from the command line is in the next answer, and its release too', async () => {
  const project = temporaryProject()
  const session = await join(project, 'cursor')
  expect(await isClear(session, 'src/**')).toBe(true)
  const env = { BB_AGENT: 'amber-otter' }
  const bb = async (...words: string[]): Promise<void> =>
    expect(await project.run('bb', ['agent', ...words], { env })).toMatchObject({ code: 0 })
  await bb('register', '--name', 'amber-otter', '--role', 'agent')
  await bb('reserve', '--agent', 'amber-otter', '--scope', 'src/a.ts', '--bead', 'T-1')
  expect(await isClear(session, 'src/**')).toBe(false)
  expect(await holders(session)).toEqual(['amber-otter src/a.ts'])
  await bb('release', '--agent', 'amber-otter', '--scope', 'src/a.ts')
  expect(await isClear(session, 'src/**')).toBe(true)
  expect(await holders(session)).toEqual([])
})

test('a holder that is killed keeps its claim, and what it had committed before is known', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  expect(await isClear(copilot, 'src/**')).toBe(true)
  await cursor.call('make_claim', { surfaces: ['src/**'], task: 'T-1' })
  cursor.program.kill('SIGKILL')
  await cursor.program.ended
  expect(await isClear(copilot, 'src/**')).toBe(false)
  expect(await holders(copilot)).toEqual(['cursor src/**'])
})

test('a folder that becomes a link into a held one is judged as what it is now', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  project.write('held/x.ts', '')
  await cursor.call('make_claim', { surfaces: ['held/**'], task: 'T-1' })
  expect(await isClear(copilot, 'mine/x.ts')).toBe(true)
  symlinkSync('held', project.path('mine'))
  expect(await isClear(copilot, 'mine/x.ts')).toBe(false)
})

/** The server's own rooms with a clock that the test owns: nothing is written while time passes. */
function desk(project: TemporaryProject, clock: FakeClock, pid: number): Desk {
  const opened = new Desk({ cwd: project.root, env: project.env, clock, pid, note: () => undefined })
  onTestFinished(() => opened.close())
  return opened
}

async function run(at: Desk, client: string, name: string, args: object = {}): Promise<Record<string, unknown>> {
  const identity = await at.identity(client, undefined)
  const tool = findTool(name)
  if (tool === undefined) throw new Error(name)
  return { ...(await tool.run({ desk: at, client, ...identity }, { ...args })).data }
}

test('a lease runs out though nothing is written, also for whoever has just read it', async () => {
  const project = temporaryProject()
  const clock = fakeClock()
  const [holder, reader] = [desk(project, clock, process.pid), desk(project, clock, process.ppid)]
  await run(holder, 'cursor', 'make_claim', { surfaces: ['src/**'], task: 'T-1', ttl_minutes: 20 })
  const seen = async (): Promise<unknown> => {
    const { active_claims: claims } = await run(reader, 'copilot', 'read_claims')
    const { conflicts } = await run(reader, 'copilot', 'check_claim', { surfaces: ['src/a.ts'] })
    const pick = (list: unknown, ...fields: string[]): unknown[] =>
      (list as Record<string, unknown>[]).map((item) => fields.map((field) => item[field]))
    return [pick(claims, 'liveness', 'lease'), pick(conflicts, 'liveness')]
  }
  // Read twice each time: the second answer is the one that may come from memory.
  const expectSeen = async (expected: unknown): Promise<void> => {
    expect(await seen()).toEqual(expected)
    expect(await seen()).toEqual(expected)
  }
  await expectSeen([[['active', 'live']], [['active']]])
  clock.advance(15 * MINUTE - 1)
  await expectSeen([[['active', 'live']], [['active']]])
  clock.advance(1)
  await expectSeen([[['stale', 'live']], [['stale']]])
  clock.advance(5 * MINUTE)
  await expectSeen([[], [['stale']]])
  clock.advance(10 * MINUTE)
  await expectSeen([[], [['evicted']]])
})
