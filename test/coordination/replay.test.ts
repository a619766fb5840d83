// Entries are enough: the entries of any history make the same rows again, to the last column.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { adopt } from '../../src/coordination/who/adoption.ts'
import { claimScopes, reap } from '../../src/coordination/claims/claims.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { endSession } from '../../src/coordination/who/enrol.ts'
import type { AgentActor } from '../../src/coordination/change.ts'
import { releaseClaims, renewClaims } from '../../src/coordination/claims/held.ts'
import { heartbeat, register, setRevoked, updateAgent } from '../../src/coordination/who/registration.ts'
import { acknowledge, inbox, markRead, sendNote } from '../../src/coordination/notes.ts'
import { setStaleMinutes } from '../../src/coordination/who/patience.ts'
import { waitForClaim } from '../../src/coordination/claims/queue.ts'
import { MIGRATIONS } from '../../src/coordination/sqlite/schema.ts'
import { endTask, startTask } from '../../src/coordination/tasks.ts'
import { storePath } from '../../src/coordination/store-path.ts'
import { HeimdallError } from '../../src/errors.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { replay, sharedTables } from './replay.ts'
import { MINUTE, openRoom, wants } from './room.ts'
import { entriesOf } from './store-conformance.ts'

const NAMES = ['amber-otter', 'cobalt-harbor', 'dusky-lynx']
const SCOPES = ['src', 'src/a.ts', 'src/**/*.ts', 'docs', 'docs/{a,b}.md']
const human = { kind: 'human', name: 'ana' } as const

interface World {
  readonly root: string
  readonly clock: FakeClock
  readonly actors: Map<string, AgentActor>
  room: Coordination
  boots: number
}

type Deed = (world: World, who: AgentActor, scope: string, name: string) => Promise<unknown>

const DEEDS: Readonly<Record<string, Deed>> = {
  claim: ({ room }, who, scope) => claimScopes(room, who, wants(room, scope, { task: 'T-1' })),
  takeover: ({ room }, who, scope) => claimScopes(room, who, wants(room, scope, { takeover: 'stale' })),
  force: ({ room }, who, scope) =>
    claimScopes(room, who, wants(room, scope, { takeover: { force: 'ana', reason: 'now' } })),
  release: ({ room }, who, scope) => releaseClaims(room, who, { scopes: [scope], cwd: room.project.root }),
  renew: ({ room }, who) => renewClaims(room, who, { cwd: room.project.root }),
  beat: ({ room }, who) => heartbeat(room, who),
  reap: ({ room }) => reap(room),
  rename: ({ room, clock }, who) => updateAgent(room, who, { displayName: `at ${clock.monoMs()}` }),
  revoke: ({ room, clock }, who) => setRevoked(room, human, who.haid, clock.monoMs() % 2 === 0),
  patience: ({ room }, _, scope) => setStaleMinutes(room, human, 10 + scope.length),
  send: ({ room }, who, scope) =>
    sendNote(room, who, { to: 'broadcast', task: 'T-1', category: 'HANDOFF', subject: scope, body: 'take it' }),
  async answer({ room, clock }, who, _, name) {
    const [note] = inbox(room, { agent: name })
    if (note !== undefined) await (clock.monoMs() % 2 === 0 ? markRead : acknowledge)(room, who, note.messageId)
  },
  start: ({ room }, who, scope) => startTask(room, who, { taskId: `T-${scope.length}`, title: 'a task' }),
  finish: ({ room }, who, scope) =>
    endTask(room, who, { taskId: `T-${scope.length}`, state: 'done', summary: 'it is done' }),
  wait: ({ room }, who, scope) => waitForClaim(room, who, wants(room, scope), { timeoutMs: 0 }),
  end: ({ room }, who) => endSession(room, who),
  async adopt({ room, actors }, who, _, name) {
    const { secret } = await adopt(room, name, { confirmedBy: 'ana' })
    actors.set(name, { ...who, secret })
  },
  pass: ({ clock }, _, scope) => Promise.resolve(clock.advance(scope.length * MINUTE)),
  jump: ({ clock }, _, scope) => Promise.resolve(clock.jumpWall(clock.wallMs() - scope.length * MINUTE)),
  reboot(world) {
    world.boots += 1
    world.room.store.close()
    world.room = openRoom({ root: world.root, clock: world.clock, boot: `boot-${world.boots}` })
    return Promise.resolve()
  },
}

const step = fc.record({
  deed: fc.constantFrom(...Object.keys(DEEDS)),
  name: fc.constantFrom(...NAMES),
  scope: fc.constantFrom(...SCOPES),
})

test(`the entries of ${scaled(15, 2_000)} random histories make every shared row again, row for row`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const [clock, root] = [fakeClock(), temporaryFolder()]
      const world: World = { root, clock, actors: new Map(), room: openRoom({ root, clock }), boots: 1 }
      for (const name of NAMES) {
        const { agent, secret } = await register(world.room, { name, role: 'agent' })
        world.actors.set(name, { kind: 'agent', haid: agent.haid, secret })
      }
      for (const { deed, name, scope } of steps)
        try {
          await DEEDS[deed]?.(world, world.actors.get(name) as AgentActor, scope, name)
        } catch (error) {
          // A refusal is part of history, too.
          if (!(error instanceof HeimdallError)) throw error
        }
      const { store, project } = world.room
      const entries = await entriesOf(
        store,
        0,
        store.read((rows) => rows.head()),
      )
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1))
      const db = openDatabase(storePath(project), { migrations: MIGRATIONS, readOnly: true })
      const state = sharedTables(db)
      db.close()
      store.close()
      expect(replay(entries)).toEqual(state)
    }),
    { numRuns: scaled(15, 2_000) },
  )
})
