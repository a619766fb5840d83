// Claims through a fleet's engine against the usual transaction of rows in the same engine, near and far; what a member pays for a check; joining with and without a snapshot.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../src/clock.ts'
import { checkScopes } from '../src/coordination/claims/check-scopes.ts'
import { claimScopes } from '../src/coordination/claims/claims.ts'
import type { AgentActor } from '../src/coordination/change.ts'
import { type Coordination, type CoordinationOptions, openCoordination } from '../src/coordination/coordination.ts'
import { register } from '../src/coordination/who/registration.ts'
import { connect, type Sql } from '../src/fleet/engine-connection.ts'
import { fleetDoor } from '../src/fleet/door.ts'
import { createFleet } from '../src/fleet/creation.ts'
import { joinFleet } from '../src/fleet/membership.ts'
import { findProject } from '../src/paths.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { startTcpProxy } from '../test/support/tcp-proxy.ts'
import { runBench } from './support/bench.ts'
import { lengthenLog } from './support/long-log.ts'

/** Each way: 20 ms for a question and its answer. */
const ONE_WAY_MS = 10
/** As many processes contend, on one machine each or on two. */
const MACHINES = 8
/** Of each of them, far away: rows take a second for one round of eight. */
const FAR_CLAIMS = 10
/** What one machine misses in a long holiday. */
const ENTRIES = 100_000
const LONG_ROUNDS = 1
const folders: string[] = []
const rooms: Coordination[] = []

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'hm-bench-')))
  folders.push(path)
  return path
}

function machine(): CoordinationOptions {
  const env = { USER: 'ana', HOME: folder() }
  return { project: findProject(folder(), env), env, clock: systemClock, staleMinutes: 15, fleet: fleetDoor }
}

function open(options: CoordinationOptions): Coordination {
  const room = openCoordination(options)
  rooms.push(room)
  return room
}

interface Member {
  readonly room: Coordination
  readonly actor: AgentActor
  claimed: number
}

async function enter(room: Coordination, name: string): Promise<Member> {
  const { agent, secret } = await register(room, { name, role: 'bench' })
  return { room, actor: { kind: 'agent', haid: agent.haid, secret }, claimed: 0 }
}

async function claim(member: Member): Promise<void> {
  const { room, actor } = member
  const scopes = [`${actor.haid.split('/')[1]}/${(member.claimed += 1)}/**`]
  const result = await claimScopes(room, actor, { scopes, cwd: room.project.root, task: null, ttlMinutes: 60 })
  if (!result.granted) throw new Error(`${scopes.join()} was not granted`)
}

/** As a claim is usually kept in rows: look who asks, lock what may be in the way, write claim, event and beat. */
async function claimInRows(sql: Sql, who: string, n: number): Promise<void> {
  await sql.begin(async (inside) => {
    await inside`SELECT * FROM bench.agents WHERE who = ${who}`
    await inside`SELECT * FROM bench.head WHERE id = 1 FOR UPDATE`
    await inside`SELECT * FROM bench.claims WHERE scope LIKE ${`${who}/${n}/%`} AND state = 'active'`
    await inside`INSERT INTO bench.claims (scope, who, state) VALUES (${`${who}/${n}/x`}, ${who}, 'active')`
    await inside`INSERT INTO bench.events (who, body) VALUES (${who}, ${'claimed'})`
    await inside`UPDATE bench.agents SET beat = clock_timestamp() WHERE who = ${who}`
  })
}

const ROWS = `CREATE SCHEMA bench;
  CREATE TABLE bench.agents (who text PRIMARY KEY, beat timestamptz);
  CREATE TABLE bench.head (id int PRIMARY KEY);
  CREATE TABLE bench.claims (id bigserial PRIMARY KEY, scope text NOT NULL, who text, state text);
  CREATE INDEX ON bench.claims (scope text_pattern_ops);
  CREATE TABLE bench.events (id bigserial PRIMARY KEY, who text, body text);
  INSERT INTO bench.head VALUES (1)`

async function timed(count: number, act: (n: number) => Promise<unknown>): Promise<number> {
  const start = systemClock.monoMs()
  for (let n = 0; n < count; n += 1) await act(n)
  return (systemClock.monoMs() - start) / count
}

/** One of those who contend: this program once more, as a member in its folder or as a client of rows. */
type Contender =
  | { readonly kind: 'member'; readonly root: string; readonly home: string; readonly name: string }
  | { readonly kind: 'rows'; readonly url: string; readonly name: string }

const CONTENDER = 'BENCH_CONTENDER'

const start = (contender: Contender): ChildProcess =>
  fork(fileURLToPath(import.meta.url), { env: { PATH: process.env['PATH'], [CONTENDER]: JSON.stringify(contender) } })

/** Claims as often as it is told to, and answers with the times that it took. */
async function contend(contender: Contender): Promise<void> {
  const act = await actOf(contender)
  process.on('message', (count: number) => {
    void (async () => {
      const times: number[] = []
      for (let n = 0; n < count; n += 1) times.push(await timed(1, act))
      process.send?.(times)
    })()
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.('ready')
}

async function actOf(contender: Contender): Promise<() => Promise<void>> {
  if (contender.kind === 'rows') {
    const sql = await connect({ url: contender.url, isPooled: false })
    let n = 0
    return () => claimInRows(sql, contender.name, (n += 1))
  }
  const env = { USER: 'ana', HOME: contender.home }
  const project = findProject(contender.root, env)
  const room = openCoordination({ project, env, clock: systemClock, staleMinutes: 15, fleet: fleetDoor })
  const member = await enter(room, contender.name)
  return () => claim(member)
}

/** Of the slowest of all who contend, and all together per second. */
async function contending(count: number, all: readonly ChildProcess[]) {
  const start = systemClock.monoMs()
  const answers = all.map(async (one) => {
    one.send(count)
    const [times] = (await once(one, 'message')) as [number[]]
    return times.sort((a, b) => a - b)[Math.floor(count * 0.99)] ?? 0
  })
  const worst = await Promise.all(answers)
  return { perSecond: (all.length * count * 1_000) / (systemClock.monoMs() - start), p99: Math.max(...worst) }
}

function contention(who: string, ours: readonly ChildProcess[], rows: readonly ChildProcess[], count = 50) {
  const peer = 'rows, FOR UPDATE'
  return {
    rounds: 3,
    ours: { name: 'heimdall', run: () => contending(count, ours) },
    peers: [{ name: peer, run: () => contending(count, rows) }],
    figures: [
      {
        of: 'perSecond' as const,
        what: `${who} contending, claims of all`,
        unit: '/s',
        goals: { [peer]: { atLeast: 0.8 } },
      },
      {
        of: 'p99' as const,
        what: `${who} contending, worst p99`,
        unit: 'ms',
        goals: { [peer]: { atMost: 1.5 } },
      },
    ],
  }
}

function checks({ room, actor }: Member): number {
  const start = systemClock.monoMs()
  for (let n = 0; n < 300; n += 1)
    checkScopes(room, { scopes: [`free/${n % 10}.ts`], cwd: room.project.root, asker: actor })
  return ((systemClock.monoMs() - start) * 1_000) / 300
}

/** A log of many entries, machines that joined before it was that long, and a way for new ones to join now. */
async function longLog(url: string, count: number, machines: number) {
  const joining = { isPooled: false, version: '0.0.0' }
  const first = machine()
  const { joinUrl, project } = await createFleet({ ...joining, options: first, url, name: 'long', machine: 'long' })
  await claim(await enter(open(first), 'old-member'))
  const join = async (): Promise<CoordinationOptions> => {
    const options = machine()
    await joinFleet({ ...joining, options, url: joinUrl, machine: 'late' }, { setsAside: false, rebuilds: false })
    return options
  }
  const behind: Coordination[] = []
  // One more than rounds: each side is run once before it counts.
  for (let n = 0; n <= machines; n += 1) behind.push(open(await join()))
  // Without the deadline of a question.
  const sql = await connect({ url, isPooled: false })
  await lengthenLog(sql, project, count)
  await sql.end()
  // Whoever joins first keeps a snapshot for the others.
  await join()
  return { join, behind }
}

async function upToDate(room: Coordination | undefined): Promise<void> {
  await room?.store.catchUp()
  if ((room?.store.read((rows) => rows.head()) ?? 0) <= ENTRIES) throw new Error('not all entries have come')
}

const contender = process.env[CONTENDER]
if (contender !== undefined) await contend(JSON.parse(contender) as Contender)
else
  await runBench({
    name: 'fleet',
    about: 'a fleet on a PostgreSQL of this machine',
    async prepare() {
      const server = await startPostgres()
      const line = await startTcpProxy(server.port)
      line.delay(ONE_WAY_MS)
      const url = await server.database()
      const far = (at: string): string => at.replace(`:${server.port}/`, `:${line.port}/`)
      const first = machine()
      const joining = { isPooled: false, version: '0.0.0' }
      const { joinUrl } = await createFleet({ ...joining, options: first, url, name: 'bench', machine: 'm0' })
      const member = await enter(open(first), 'member-0')
      const machines = [first]
      for (let i = 1; i < MACHINES; i += 1) {
        const options = machine()
        await joinFleet({ ...joining, options, url: joinUrl, machine: `m${i}` }, { setsAside: false, rebuilds: false })
        machines.push(options)
      }
      const distant: CoordinationOptions[] = []
      for (let i = 0; i < MACHINES; i += 1) {
        const options = machine()
        const wish = { ...joining, options, url: far(joinUrl), machine: `far${i}` }
        await joinFleet(wish, { setsAside: false, rebuilds: false })
        distant.push(options)
      }
      const farMember = await enter(open(distant[0] as CoordinationOptions), 'far-member')
      const alone = await enter(open(machine()), 'alone-member')
      const sql = await connect({ url, isPooled: false })
      const farSql = await connect({ url: far(url), isPooled: false })
      await sql.unsafe(ROWS)
      for (let i = 0; i < MACHINES; i += 1) await sql`INSERT INTO bench.agents VALUES (${`w${i}`}, clock_timestamp())`
      const contenders = (of: readonly CoordinationOptions[], name: string): ChildProcess[] =>
        machines.map((_, i) => {
          const { project, env } = of[i % of.length] as CoordinationOptions
          return start({ kind: 'member', root: project.root, home: env['HOME'] ?? '', name: `${name}-${i}` })
        })
      const apart = contenders(machines, 'apart')
      const together = contenders(machines.slice(0, 2), 'together')
      const clients = machines.map((_, i) => start({ kind: 'rows', url, name: `w${i}` }))
      const farApart = contenders(distant, 'far-apart')
      const farClients = machines.map((_, i) => start({ kind: 'rows', url: far(url), name: `w${i}` }))
      const all = [...apart, ...together, ...clients, ...farApart, ...farClients]
      await Promise.all(all.map((one) => once(one, 'message')))
      let long: ReturnType<typeof longLog> | undefined
      // Made with its first use: whoever asks for another part does not wait for it.
      const madeLong = async () => (long ??= longLog(await server.database(), ENTRIES, LONG_ROUNDS))
      let laps = 0
      return {
        comparisons: [
          {
            what: 'a claim through the engine, near',
            unit: 'ms',
            rounds: 5,
            ours: { name: 'heimdall', measure: () => timed(50, () => claim(member)) },
            peers: [
              {
                name: 'a transaction of eight statements',
                measure: () => timed(50, (n) => claimInRows(sql, 'w0', (laps += 1) * 100 + n)),
                goal: { atMost: 1 },
              },
            ],
          },
          {
            what: 'a claim through the engine, 20 ms away',
            unit: 'ms',
            rounds: 3,
            ours: { name: 'heimdall', measure: () => timed(10, () => claim(farMember)) },
            peers: [
              {
                name: 'a transaction of eight statements',
                measure: () => timed(10, (n) => claimInRows(farSql, 'w1', (laps += 1) * 100 + n)),
                goal: { atMost: 0.2 },
              },
            ],
          },
          contention('eight processes on two machines', together, clients),
          contention('eight machines', apart, clients),
          // As machines are: apart, so that round trips count and not how many processors the one that runs this has.
          contention('eight machines, 20 ms away', farApart, farClients, FAR_CLAIMS),
          {
            what: `a machine that is ${ENTRIES.toLocaleString('en')} entries behind, up to date`,
            unit: 'ms',
            rounds: LONG_ROUNDS,
            ours: { name: 'from a snapshot', measure: async () => timed(1, (await madeLong()).join) },
            peers: [
              {
                name: 'entry by entry',
                async measure() {
                  const { behind } = await madeLong()
                  return timed(1, () => upToDate(behind.pop()))
                },
              },
            ],
          },
          {
            what: 'a check on a member',
            unit: 'µs',
            rounds: 7,
            ours: { name: 'member', measure: () => checks(member) },
            peers: [
              {
                name: 'a machine alone',
                async measure() {
                  // As many claims on both sides.
                  while (alone.claimed < member.claimed) await claim(alone)
                  return checks(alone)
                },
                goal: { atMost: 1.1 },
              },
            ],
          },
        ],
        async cleanup() {
          for (const room of rooms) room.store.close()
          for (const one of all) one.disconnect()
          for (const client of [sql, farSql]) await client.end({ timeout: 0 })
          line.close()
          await server.stop()
          for (const path of folders) rmSync(path, { recursive: true, force: true })
        },
      }
    },
  })
