// The whole life of claims against a model, with a clock that advances, jumps and restarts.
import fc from 'fast-check'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adopt } from '../../src/coordination/who/adoption.ts'
import { checkScopes } from '../../src/coordination/claims/check-scopes.ts'
import { claimScopes, listClaims, reap } from '../../src/coordination/claims/claims.ts'
import { releaseClaims, renewClaims } from '../../src/coordination/claims/held.ts'
import { type Coordination, openCoordination } from '../../src/coordination/coordination.ts'
import type { AgentActor } from '../../src/coordination/change.ts'
import { heartbeat, register, setRevoked } from '../../src/coordination/who/registration.ts'
import { endSession } from '../../src/coordination/who/enrol.ts'
import { endTask, startTask } from '../../src/coordination/tasks.ts'
import { HeimdallError } from '../../src/errors.ts'
import { findProject } from '../../src/paths.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { scaled } from '../support/scale.ts'
import { ClaimModel, SCOPES } from './claim-model.ts'
import { MINUTE } from './room.ts'

const NAMES = ['amber-otter', 'cobalt-harbor', 'dusky-lynx']
const DAY = 86_400_000

class Real {
  readonly clock: FakeClock = fakeClock()
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'hm-')))
  readonly actors = new Map<string, AgentActor>()
  readonly outdated: AgentActor[] = []
  readonly epochs: number[] = []
  room: Coordination

  constructor() {
    this.room = this.#open(1)
  }

  async enter(): Promise<void> {
    for (const name of NAMES) {
      const { agent, secret } = await register(this.room, { name, role: 'agent' })
      this.actors.set(name, { kind: 'agent', haid: agent.haid, secret })
    }
  }

  #open(boot: number): Coordination {
    const env = { USER: 'ana' }
    const project = findProject(this.root, env)
    return openCoordination({
      project,
      env,
      clock: this.clock,
      staleMinutes: 15,
      machine: { boot: `boot-${boot}`, host: 'box' },
    })
  }

  async reboot(boot: number): Promise<void> {
    this.room.store.close()
    this.room = this.#open(boot)
    // The first change after a reboot is when beats of before are first seen.
    await reap(this.room)
  }

  actor(name: string): AgentActor {
    const actor = this.actors.get(name)
    if (actor === undefined) throw new Error(`no actor ${name}`)
    return actor
  }

  /** What an act answers: its value, or the code it was refused with. */
  async attempt<T>(act: () => Promise<T>): Promise<T | string> {
    try {
      return await act()
    } catch (error) {
      if (error instanceof HeimdallError) return error.code
      throw error
    }
  }

  summary(): string[] {
    return listClaims(this.room)
      .map(({ claim, agentId, liveness, lease }) => {
        const scopes = new Set(claim.scopes.map(({ raw }) => raw.replace(/\/\*$/, '')))
        return `${agentId} ${[...scopes].sort().join(' ')} ${liveness} ${lease}`
      })
      .sort()
  }

  close(): void {
    this.room.store.close()
    rmSync(this.root, { recursive: true, force: true })
  }
}

type Cmd = fc.AsyncCommand<ClaimModel, Real>

/** A command of the model-based test: `act` gives what the model says and what really happened. */
function command(text: string, act: (model: ClaimModel, real: Real) => Promise<readonly [unknown, unknown]>): Cmd {
  return {
    check: () => true,
    toString: () => text,
    async run(model, real) {
      const [expected, seen] = await act(model, real)
      expect(seen).toEqual(expected)
      expect(real.summary()).toEqual(model.summary())
    },
  }
}

const name = fc.constantFrom(...NAMES)
const scope = fc.constantFrom(...SCOPES)

const commands: fc.Arbitrary<Cmd>[] = [
  fc
    .tuple(
      name,
      fc.uniqueArray(scope, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(1, 20, 120),
      fc.constantFrom('plain' as const, 'takeover' as const, 'archive' as const),
    )
    .map(([who, scopes, ttl, mode]) =>
      command(`${who} claims ${scopes.join(' ')} (${mode}, ${ttl} min)`, async (model, real) => {
        const refused = model.act(who)
        const expected = refused ?? model.claim(who, scopes, ttl, mode)
        const seen = await real.attempt(async () => {
          const result = await claimScopes(real.room, real.actor(who), {
            scopes,
            cwd: real.root,
            task: null,
            ttlMinutes: ttl,
            takeover: mode === 'takeover' ? 'stale' : undefined,
            archivesLapsed: mode === 'archive',
          })
          if (result.granted && !result.renewed) {
            // Later grants have higher epochs, always.
            expect(result.claim.epoch).toBeGreaterThan(real.epochs.at(-1) ?? 0)
            real.epochs.push(result.claim.epoch)
          }
          const others = (result.granted ? result.displaced : result.conflicts).map(({ agentId }) => agentId).sort()
          return { granted: result.granted, others }
        })
        return [expected, seen]
      }),
    ),
  fc.tuple(name, scope, fc.constantFrom('release' as const, 'renew' as const)).map(([who, wanted, verb]) =>
    command(`${who} ${verb}s ${wanted}`, async (model, real) => {
      const refused = model.act(who)
      const owned = refused === undefined ? model.owned(who, wanted) : []
      const missing = model.isHeldElsewhere(who, wanted) ? 'RELEASE_FORBIDDEN' : 'RESERVATION_NOT_FOUND'
      const expected = refused ?? (owned.length > 0 ? owned.length : missing)
      if (verb === 'release') model.drop(owned)
      else
        for (const claim of owned)
          Object.assign(claim, { grantedMono: model.mono, grantedWall: model.wall, grantedBoot: model.boot })
      const act = verb === 'release' ? releaseClaims : renewClaims
      return [
        expected,
        await real.attempt(
          async () => (await act(real.room, real.actor(who), { scopes: [wanted], cwd: real.root })).length,
        ),
      ]
    }),
  ),
  name.map((who) =>
    command(`${who} beats`, async (model, real) => [
      model.act(who) ?? who,
      await real.attempt(async () => (await heartbeat(real.room, real.actor(who))).agentId),
    ]),
  ),
  fc.tuple(name, scope).map(([who, wanted]) =>
    command(`${who} checks ${wanted}`, async (model, real) => [
      model
        .conflicts(who, [wanted])
        .map(({ holder }) => holder)
        .sort(),
      checkScopes(real.room, { scopes: [wanted], cwd: real.root, asker: real.actor(who) })
        .conflicts.map(({ agentId }) => agentId)
        .sort(),
    ]),
  ),
  fc.constantFrom(1, MINUTE, 5 * MINUTE, 15 * MINUTE - 1, 15 * MINUTE, 30 * MINUTE, 10 * 60 * MINUTE, DAY).map((ms) =>
    command(`${ms} ms pass`, async (model, real) => {
      model.mono += ms
      model.wall += ms
      real.clock.advance(ms)
      return [null, null]
    }),
  ),
  fc.constantFrom(-DAY, -MINUTE, MINUTE, DAY).map((ms) =>
    command(`the wall jumps by ${ms} ms`, async (model, real) => {
      model.wall += ms
      real.clock.jumpWall(real.clock.wallMs() + ms)
      return [null, null]
    }),
  ),
  fc.constant(
    command('the machine restarts', async (model, real) => {
      model.reboot()
      await real.reboot(model.boot)
      model.drop(model.claims.filter((claim) => model.isLapsed(claim) && model.liveness(claim.holder) !== 'active'))
      return [null, null]
    }),
  ),
  fc.constant(
    command('somebody reaps', async (model, real) => {
      const lapsed = model.claims.filter((claim) => model.isLapsed(claim) && model.liveness(claim.holder) !== 'active')
      model.drop(lapsed)
      const { reaped, active } = await reap(real.room)
      return [
        [lapsed.length, model.claims.length],
        [reaped.length, active],
      ]
    }),
  ),
  fc.tuple(name, fc.boolean()).map(([who, isRevoked]) =>
    command(`${who} is ${isRevoked ? 'revoked' : 'reinstated'}`, async (model, real) => {
      model.agent(who).isRevoked = isRevoked
      await setRevoked(real.room, { kind: 'human', name: 'ana' }, real.actor(who).haid, isRevoked)
      return [null, null]
    }),
  ),
  name.map((who) =>
    command(`${who} ends its session`, async (model, real) => {
      const refused = model.act(who)
      const owned = refused === undefined ? model.claims.filter(({ holder }) => holder === who) : []
      model.drop(owned)
      if (refused === undefined) model.agent(who).isEnded = true
      return [
        refused ?? owned.length,
        await real.attempt(async () => (await endSession(real.room, real.actor(who))).released.length),
      ]
    }),
  ),
  name.map((who) =>
    command(`${who} starts or ends a task`, async (model, real) => {
      const refused = model.act(who)
      const task = `task-of-${who}`
      const isStart = model.agent(who).task === undefined
      if (refused === undefined) model.agent(who).task = isStart ? task : undefined
      const act = async (): Promise<string> =>
        (isStart
          ? await startTask(real.room, real.actor(who), { taskId: task, title: task })
          : await endTask(real.room, real.actor(who), { taskId: task, state: 'done', summary: 'it is done' })
        ).taskId
      return [refused ?? task, await real.attempt(act)]
    }),
  ),
  name.map((who) =>
    command(`a new session adopts ${who}`, async (model, real) => {
      const agent = model.agent(who)
      // Seed 002 §3.2 wants evidence; nobody takes up the living without a person's word, whatever the evidence.
      const isAlive = !agent.isEnded && model.liveness(who) === 'active'
      const expected =
        agent.task === undefined
          ? 'ADOPTION_REJECTED'
          : agent.isRevoked
            ? 'AGENT_REVOKED'
            : isAlive
              ? 'ADOPTION_REJECTED'
              : 'adopted'
      const before = real.actor(who)
      const seen = await real.attempt(async () => {
        const { secret } = await adopt(real.room, who)
        real.actors.set(who, { ...before, secret })
        real.outdated.push(before)
        return 'adopted'
      })
      if (expected === 'adopted') {
        agent.isEnded = false
        model.act(who)
      }
      return [expected, seen]
    }),
  ),
  fc.nat(5).map((which) =>
    command('an outdated session tries to act', async (_, real) => {
      const old = real.outdated[which]
      if (old === undefined) return [null, null]
      // Whoever proves nothing learns nothing, not even that the agent is revoked.
      return [
        'IDENTITY_UNPROVEN',
        await real.attempt(async () => (await releaseClaims(real.room, old, { cwd: real.root })).length),
      ]
    }),
  ),
]

test(`claims live as the model says, ${scaled(50, 2_000)} lives of up to 50 steps`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 50 }), async (steps) => {
      const real = new Real()
      try {
        await real.enter()
        await fc.asyncModelRun(() => {
          const model = new ClaimModel()
          model.wall = real.clock.wallMs()
          for (const who of NAMES) model.register(who)
          return { model, real }
        }, steps)
      } finally {
        real.close()
      }
    }),
    { numRuns: scaled(50, 2_000) },
  )
})
