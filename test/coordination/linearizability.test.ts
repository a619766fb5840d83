// Six random workers, some of them killed: one order of their claims, renewals, releases and takeovers explains every answer.
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { readMachine } from '../../src/coordination/moment.ts'
import { checkLinearizability } from '../support/linearizability.ts'
import { fixture, type Program, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { withSeed } from '../support/seed.ts'
import { type Call, parse, type Step, table } from './claim-table.ts'
import { openRoom } from './room.ts'
import { silence } from './silence.ts'

/** Lets six workers act, kills two of them on the way, and silences agents at random; returns what everybody saw. */
async function record(random: () => number, perWorker: number): Promise<Step[]> {
  const root = temporaryFolder()
  const room = openRoom({ root, clock: systemClock, boot: readMachine().boot })
  // The first two would go on for much longer than it takes until they are killed.
  const deeds = (i: number): number => (i < 2 ? perWorker * 100 : perWorker)
  const start = (_: unknown, i: number): Program => {
    const seed = Math.floor(random() * 2 ** 32)
    return startProgram([...fixture('claim-worker'), 'random', root, `worker-${i}`, String(seed), String(deeds(i))])
  }
  const workers = Array.from({ length: 6 }, start)
  const history: Step[] = []
  const over = new AbortController()
  const endings = workers.map(async (worker, i) => {
    if (i < 2) {
      for (let left = random() * perWorker; left > 0; left -= 1) await worker.nextLine(/^done /)
      worker.kill('SIGKILL')
    }
    const { stdout } = await worker.ended
    history.push(...parse(stdout))
  })
  const ended = Promise.all(endings).finally(() => over.abort())
  while (!over.signal.aborted) {
    const step = await silenced(room, `worker-${Math.floor(random() * 6)}`)
    if (step !== undefined) history.push(step)
    await delay(random() * 20)
  }
  await ended
  return history
}

async function silenced(room: Coordination, agent: string): Promise<Step | undefined> {
  const haid = room.store.read((rows) => rows.agentById(agent)?.haid)
  if (haid === undefined) return undefined
  const calledAt = systemClock.monoMs()
  await silence(room, haid)
  return { call: { do: 'silence', agent }, result: 'done', calledAt, returnedAt: systemClock.monoMs() }
}

test(`histories of six random workers are linearizable, ${scaled(1, 20)} times, and a planted double grant is not`, async () => {
  for (let round = 0; round < scaled(1, 20); round += 1)
    await withSeed(async (random) => {
      const history = await record(random, 40)
      expect(history.length).toBeGreaterThan(150)
      expect(checkLinearizability(table, history)).toEqual({ isLinearizable: true })
      for (const planted of doubleGrants(history))
        expect(checkLinearizability(table, planted).isLinearizable).toBe(false)
    })
})

/** The same history with a second grant of a scope while its holder has it, at a time when nothing else happened. */
function doubleGrants(history: readonly Step[]): Step[][] {
  const end = Math.max(...history.map(({ returnedAt }) => returnedAt))
  const alone = (call: Call, at: number): Step => ({
    call,
    result: 'granted',
    calledAt: end + at,
    returnedAt: end + at + 0.5,
  })
  const fresh = (agent: string, scope: string, at: number): Step => alone({ do: 'claim', agent, scope }, at)
  return [
    // The same scope twice, a folder over a file of it, and a file of a folder; first all silent ones are cleared away.
    [...history, ...clear(end), fresh('late-a', 'x/a.ts', 10), fresh('late-b', 'x/a.ts', 11)],
    [...history, ...clear(end), fresh('late-a', 'x/a.ts', 10), fresh('late-b', 'x/**', 11)],
    [...history, ...clear(end), fresh('late-a', 'x/**', 10), fresh('late-b', 'x/b.ts', 11)],
    // A takeover from an owner that has just acted.
    [
      ...history,
      ...clear(end),
      fresh('late-a', 'x/**', 10),
      alone({ do: 'takeover', agent: 'late-b', scope: 'x/b.ts' }, 11),
    ],
  ]
}

/** Everybody falls silent, one agent takes everything over and gives it back: from here on nothing is held. */
function clear(end: number): Step[] {
  const silences = Array.from({ length: 6 }, (_, i): Step => ({
    call: { do: 'silence', agent: `worker-${i}` },
    result: 'done',
    calledAt: end + 1 + i / 10,
    returnedAt: end + 1.05 + i / 10,
  }))
  return [
    ...silences,
    {
      call: { do: 'takeover', agent: 'sweeper', scope: 'x/**' },
      result: 'granted',
      calledAt: end + 3,
      returnedAt: end + 4,
    },
    {
      call: { do: 'release', agent: 'sweeper', scope: 'x/**' },
      result: 'done',
      calledAt: end + 5,
      returnedAt: end + 6,
    },
  ]
}

test('the checker accepts the same endings without the double grant', () => {
  const steps = clear(0)
  expect(checkLinearizability(table, steps).isLinearizable).toBe(true)
})
