// Contended grants over three machines, with workers and the engine killed among them: in the log, read behind everybody's back, no moment has two holders of one path.
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { releaseClaims } from '../../src/coordination/claims/held.ts'
import { type CoordinationOptions, openCoordination } from '../../src/coordination/coordination.ts'
import { connect } from '../../src/fleet/engine-connection.ts'
import { fleetDoor } from '../../src/fleet/door.ts'
import { createFleet } from '../../src/fleet/creation.ts'
import { joinFleet } from '../../src/fleet/membership.ts'
import { findProject } from '../../src/paths.ts'
import { overlaps } from '../coordination/claim-table.ts'
import { fixture, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { withSeed } from '../support/seed.ts'
import { enter } from './box.ts'
import { testEngine } from './engine.ts'

const engine = testEngine()
const GRANTS = scaled(5, 20_000)
const DEEDS = scaled(20, 1_500)

interface Row {
  readonly epoch: number
  readonly holder: string
  readonly state: string
  readonly scopes: string
}

interface Held {
  readonly holder: string
  readonly path: string
}

/** What the log itself says: every grant, and those that another holder stood in the way of at that moment. */
class ReadLog {
  readonly doubled: unknown[] = []
  grants = 0
  readonly #held = new Map<number, Held>()
  #seq = '0'

  /** From where it was read to last. */
  async readOn(url: string): Promise<void> {
    const sql = await connect({ url, isPooled: false })
    try {
      const entries = await sql<{ seq: string; body: string }[]>`SELECT seq, body FROM heimdall.entries
        WHERE body IS NOT NULL AND seq > ${this.#seq} ORDER BY seq`
      for (const { seq, body } of entries) this.#take(seq, body)
      this.#seq = entries.at(-1)?.seq ?? this.#seq
    } finally {
      await sql.end()
    }
  }

  #take(seq: string, body: string): void {
    const { puts } = JSON.parse(body) as { puts: { table: string; row: Row }[] }
    const claims = puts.filter(({ table }) => table === 'claims').map(({ row }) => row)
    for (const { epoch, state } of claims) if (state !== 'active') this.#held.delete(epoch)
    for (const { epoch, holder, state, scopes } of claims) {
      if (state !== 'active') continue
      const [scope] = JSON.parse(scopes) as [{ raw: string }]
      if (!this.#held.has(epoch)) this.grants += 1
      this.#held.set(epoch, { holder, path: scope.raw })
      for (const other of this.#held.values())
        if (other.holder !== holder && overlaps(other.path, scope.raw)) this.doubled.push([seq, holder, other])
    }
  }
}

test(
  `${GRANTS} contended grants over three machines under kills, none of them double`,
  { timeout: scaled(120_000, 3 * 3_600_000) },
  async () => {
    const homes = [0, 1, 2].map(() => temporaryFolder())
    const machines = homes.map((home): CoordinationOptions => {
      const env = { USER: 'ana', HOME: home }
      return { project: findProject(temporaryFolder(), env), env, clock: systemClock, staleMinutes: 15 }
    })
    const owner = await engine.server.database()
    let url = owner
    for (const [i, options] of machines.entries()) {
      const joining = { options, isPooled: false, version: '0.0.0', machine: `m${i}`, url }
      if (i === 0) url = (await createFleet({ ...joining, name: 'grants' })).joinUrl
      else await joinFleet(joining, { setsAside: false, rebuilds: false })
    }
    const room = openCoordination({ ...(machines[0] as CoordinationOptions), fleet: fleetDoor })
    onTestFinished(() => room.store.close())
    const person = await enter(room, 'sweeper')
    const log = new ReadLog()
    await withSeed(async (random) => {
      for (let round = 0; ; round += 1) {
        const workers = machines.map(({ project, env }, m) => {
          const seed = String(Math.floor(random() * 2 ** 32))
          const args = ['random', project.root, `worker-${round}-${m}`, seed, String(DEEDS)]
          return startProgram([...fixture('claim-worker'), ...args], { env: { HOME: env['HOME'] ?? '' } })
        })
        for (const worker of workers) await worker.nextLine(/^call /)
        // One is killed in the middle of what it does, and in every second round the engine too.
        const victim = workers[round % workers.length]
        for (let left = random() * DEEDS * 0.5; left > 0; left -= 1) await victim?.nextLine(/^done /)
        victim?.kill('SIGKILL')
        if (round % 2 === 0) {
          await engine.server.kill()
          await engine.server.start()
        }
        await Promise.all(workers.map(({ ended }) => ended))
        // What the killed one held nobody else would get: a person takes it.
        const all = { scopes: ['x/**'], cwd: room.project.root }
        const takeover = { force: 'ana', reason: 'its worker was killed' }
        expect(await claimScopes(room, person, { ...all, task: null, ttlMinutes: 60, takeover })).toMatchObject({
          granted: true,
        })
        await releaseClaims(room, person, all)
        await log.readOn(owner)
        expect(log.doubled).toEqual([])
        if (log.grants >= GRANTS) return
      }
    })
  },
)
