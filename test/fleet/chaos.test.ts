// Three machines, two random workers on each, some of them killed and the engine too: one order of their claims explains every answer, and all copies are alike.
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { CoordinationOptions } from '../../src/coordination/coordination.ts'
import { openCoordination } from '../../src/coordination/coordination.ts'
import { MIGRATIONS } from '../../src/coordination/sqlite/schema.ts'
import { storePath } from '../../src/coordination/store-path.ts'
import { fleetDoor } from '../../src/fleet/door.ts'
import { createFleet } from '../../src/fleet/creation.ts'
import { joinFleet } from '../../src/fleet/membership.ts'
import { findProject } from '../../src/paths.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { parse, type Step, table } from '../coordination/claim-table.ts'
import { sharedTables } from '../coordination/replay.ts'
import { checkLinearizability } from '../support/linearizability.ts'
import { fixture, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { withSeed } from '../support/seed.ts'
import { testEngine } from './engine.ts'

const engine = testEngine()

interface Machine {
  readonly options: CoordinationOptions
  readonly home: string
}

function machine(): Machine {
  const [root, home] = [temporaryFolder(), temporaryFolder()]
  const env = { USER: 'ana', HOME: home }
  return { home, options: { project: findProject(root, env), env, clock: systemClock, staleMinutes: 15 } }
}

async function fleetOf(names: readonly string[]): Promise<Machine[]> {
  const machines = names.map(machine)
  let url = await engine.server.database()
  for (const [i, { options }] of machines.entries()) {
    const joining = { options, isPooled: false, version: '0.0.0', machine: names[i], url }
    if (i === 0) url = (await createFleet({ ...joining, name: 'chaos' })).joinUrl
    else await joinFleet(joining, { setsAside: false, rebuilds: false })
  }
  return machines
}

async function stateOf({ options }: Machine): Promise<unknown> {
  const room = openCoordination({ ...options, fleet: fleetDoor })
  try {
    await room.store.catchUp()
  } finally {
    room.store.close()
  }
  const db = openDatabase(storePath(options.project), { migrations: MIGRATIONS, readOnly: true })
  try {
    return sharedTables(db)
  } finally {
    db.close()
  }
}

/** What a worker was refused because the engine was away has not happened; what is unknown may have. */
function settled(step: Step): Step[] {
  if (step.result === 'ENGINE_UNREACHABLE') return []
  if (step.result !== 'OUTCOME_UNKNOWN') return [step]
  const { result: _, ...open } = step
  return [open]
}

test(`histories over three machines under kills of members and engine are linearizable, ${scaled(1, 10)} times`, async () => {
  for (let round = 0; round < scaled(1, 10); round += 1)
    await withSeed(async (random) => {
      const machines = await fleetOf(['one', 'two', 'far'])
      const deeds = scaled(15, 100)
      const workers = machines.flatMap(({ options, home }, m) =>
        [0, 1].map((i) => {
          const seed = String(Math.floor(random() * 2 ** 32))
          const count = String(i === 0 && m < 2 ? deeds * 100 : deeds)
          const args = ['random', options.project.root, `worker-${m}-${i}`, seed, count]
          return startProgram([...fixture('claim-worker'), ...args], { env: { HOME: home } })
        }),
      )
      // A worker that cannot register has no deeds: the engine stays until all have begun.
      for (const worker of workers) await worker.nextLine(/^call /)
      const [first, , second] = workers
      for (const victim of [first, second]) {
        // Not at once: before the engine goes, everybody has done something that can be judged.
        for (let left = deeds / 3 + random() * deeds; left > 0; left -= 1) await victim?.nextLine(/^done /)
        victim?.kill('SIGKILL')
        // Whatever the engine has acknowledged is there when it comes back.
        if (victim === first) {
          await engine.server.kill()
          await engine.server.start()
        }
      }
      const said = await Promise.all(workers.map(async ({ ended }) => (await ended).stdout))
      const history = said.flatMap(parse).flatMap(settled)
      // How many were refused while the engine was away depends on the machine; how many were tried does not.
      const tries = said.map((text) => parse(text).length)
      for (const unharmed of [1, 3, 4, 5]) expect(tries[unharmed]).toBe(deeds)
      expect(history.length).toBeGreaterThan(deeds)
      expect(checkLinearizability(table, history)).toEqual({ isLinearizable: true })
      // What the killed ones have left in doubt is settled, and perhaps appended, by the first who comes: then all have it.
      for (const machine of machines) await stateOf(machine)
      const [one, ...others] = [
        await stateOf(machines[0] as Machine),
        await stateOf(machines[1] as Machine),
        await stateOf(machines[2] as Machine),
      ]
      for (const other of others) expect(other).toEqual(one)
    })
})
