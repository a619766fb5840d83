// Claims per second, checks against many claims, overlap against plain matching, and the start of `claim check`.
import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync, watch } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import picomatch from 'picomatch'
import { systemClock } from '../src/clock.ts'
import { checkScopes } from '../src/coordination/claims/check-scopes.ts'
import { claimScopes } from '../src/coordination/claims/claims.ts'
import { releaseClaims } from '../src/coordination/claims/held.ts'
import { type Coordination, openCoordination } from '../src/coordination/coordination.ts'
import type { AgentActor } from '../src/coordination/change.ts'
import { register } from '../src/coordination/who/registration.ts'
import { storePath } from '../src/coordination/store-path.ts'
import { findProject } from '../src/paths.ts'
import { overlap } from '../src/scopes/overlap.ts'
import { NO_DISK, parseScope } from '../src/scopes/scope.ts'
import { openDatabase } from '../src/storage/sqlite.ts'
import { runBench } from './support/bench.ts'

const env = { USER: 'ana' }
const folders: string[] = []

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'hm-bench-')))
  folders.push(path)
  return path
}

function open(root: string): Coordination {
  return openCoordination({ project: findProject(root, env), env, clock: systemClock, staleMinutes: 15 })
}

async function enter(room: Coordination, name: string): Promise<AgentActor> {
  const { agent, secret } = await register(room, { name, role: 'bench' })
  return { kind: 'agent', haid: agent.haid, secret }
}

const request = (room: Coordination, scopes: readonly string[]) => ({
  scopes,
  cwd: room.project.root,
  task: null,
  ttlMinutes: 60,
})

/** Pairs of claim and release per second. */
async function claimAndRelease(room: Coordination, actor: AgentActor, count: number): Promise<number> {
  const start = systemClock.monoMs()
  // Scopes of its own: what is measured is the engine, not who wins.
  const own = actor.haid.split('/')[1] ?? 'own'
  for (let n = 0; n < count; n += 1) {
    const scopes = [`${own}/${n % 50}/**`]
    if (!(await claimScopes(room, actor, request(room, scopes))).granted)
      throw new Error(`${scopes.join()} was not granted`)
    await releaseClaims(room, actor, { scopes, cwd: room.project.root })
  }
  return (count * 1_000) / (systemClock.monoMs() - start)
}

/** What the disk alone allows: as many durable transactions of the same number, one row each. */
function bareTransactions(path: string, count: number): number {
  const db = openDatabase(path, { migrations: ['CREATE TABLE rows (n INTEGER)'] })
  const insert = db.prepare('INSERT INTO rows VALUES (?)')
  const start = systemClock.monoMs()
  for (let n = 0; n < count * 2; n += 1) db.transaction(() => insert.run(n))
  const took = systemClock.monoMs() - start
  db.close()
  return (count * 1_000) / took
}

/** 8 processes of this same program, each claiming and releasing scopes of its own; pairs per second of all together. */
async function eightProcesses(root: string, count: number): Promise<number> {
  const start = systemClock.monoMs()
  const endings = Array.from({ length: 8 }, (_, i) => {
    const child = spawn(
      process.execPath,
      [...process.execArgv, process.argv[1] ?? '', 'worker', root, `w${i}-${Math.floor(start)}`, String(count)],
      { stdio: 'inherit' },
    )
    return new Promise<void>((done, fail) =>
      child.once('exit', (code) => (code === 0 ? done() : fail(new Error(`worker ended with ${code}`)))),
    )
  })
  await Promise.all(endings)
  return (8 * count * 1_000) / (systemClock.monoMs() - start)
}

/** p50 of the milliseconds from the beginning of a commit until another process has heard of it. */
async function untilHeard(room: Coordination, how: 'follow' | 'watch', count: number): Promise<number> {
  const child = fork(process.argv[1] ?? '', [how, room.project.root], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const told = (): Promise<number> => once(child, 'message').then(([at]) => Number(at))
  const times: number[] = []
  await told()
  for (let n = 0; n < count; n += 1) {
    child.send('next')
    await told()
    const heard = told()
    const start = systemClock.monoMs()
    await room.store.change((rows) => rows.putSetting('bench', `${how} ${n} ${start}`))
    times.push((await heard) - start)
  }
  child.kill()
  await once(child, 'exit')
  return times.sort((a, b) => a - b)[Math.floor(count / 2)] ?? Number.NaN
}

/** The other process: says when it is ready for the next commit, and when it has heard of it. */
async function listen(how: string, root: string): Promise<void> {
  const room = open(root)
  let isNext = false
  const heard = (): void => {
    if (isNext) process.send?.(systemClock.monoMs())
    isNext = false
  }
  process.on('message', () => {
    isNext = true
    process.send?.(0)
  })
  process.send?.(0)
  if (how === 'watch') watch(`${storePath(room.project)}-wal`, heard)
  else {
    const head = room.store.read((rows) => rows.head())
    for await (const _ of room.store.follow(head, new AbortController().signal)) heard()
  }
}

/** Granted in one transaction: it is the checking that is measured, not ten thousand flushes of the disk. */
async function manyClaims(count: number): Promise<{ room: Coordination; outsider: AgentActor }> {
  const room = open(folder())
  const owner = await enter(room, 'many-owner')
  const outsider = await enter(room, 'some-outsider')
  const sample = await claimScopes(room, owner, request(room, ['sample/src/**']))
  if (!sample.granted) throw new Error('the sample was not granted')
  const context = { root: room.project.root, cwd: room.project.root, caseSensitive: true, lookup: NO_DISK }
  await room.store.change((rows) => {
    for (let n = 0; n < count; n += 1)
      rows.addClaim({ ...sample.claim, claimId: `claim-${n}`, scopes: [parseScope(`packages/p${n}/src/**`, context)] })
  })
  return { room, outsider }
}

/** Microseconds per check, half of them of a held path and half of a free one. */
function checkTime({ room, outsider }: { room: Coordination; outsider: AgentActor }): number {
  const rounds = 200
  const start = systemClock.monoMs()
  for (let n = 0; n < rounds; n += 1) {
    const scope = n % 2 === 0 ? `packages/p${n % 10}/src/x.ts` : `elsewhere/${n}.ts`
    const { conflicts } = checkScopes(room, { scopes: [scope], cwd: room.project.root, asker: outsider })
    if (conflicts.length !== (n % 2 === 0 ? 1 : 0)) throw new Error(`${scope}: ${conflicts.length} conflicts`)
  }
  return ((systemClock.monoMs() - start) * 1_000) / rounds
}

const PATTERNS = [
  'src/**/*.ts',
  'src/a/*.js',
  'src/*/x.ts',
  'src/{a,b}/**',
  'docs/[a-m]*.md',
  '**/test/*.ts',
  'src/lib',
  'src/lib/parser.ts',
]

/** Microseconds per pair of globs. */
function overlapTime(): number {
  const context = { root: '/repo', cwd: '/repo', caseSensitive: true, lookup: NO_DISK }
  const scopes = PATTERNS.map((pattern) => parseScope(pattern, context))
  return perPair((i, j) => {
    const [a, b] = [scopes[i], scopes[j]]
    if (a !== undefined && b !== undefined) overlap(a, b)
  })
}

/** Microseconds for a pattern against one path, which answers a much smaller question. */
function matchTime(): number {
  const matchers = PATTERNS.map((pattern) => picomatch(pattern))
  const paths = PATTERNS.map((_, i) => `src/lib/folder-${i}/parser.ts`)
  return perPair((i, j) => matchers[i]?.(paths[j] ?? ''))
}

function perPair(act: (i: number, j: number) => unknown): number {
  const laps = 400
  const start = systemClock.monoMs()
  for (let lap = 0; lap < laps; lap += 1)
    for (let i = 0; i < PATTERNS.length; i += 1) for (let j = 0; j < PATTERNS.length; j += 1) act(i, j)
  return ((systemClock.monoMs() - start) * 1_000) / (laps * PATTERNS.length ** 2)
}

function startTime(args: readonly string[], cwd: string): number {
  const { NODE_EXTRA_CA_CERTS: _, ...bare } = process.env
  const start = systemClock.monoMs()
  execFileSync(process.execPath, [...args], { cwd, env: bare, stdio: ['ignore', 'pipe', 'inherit'] })
  return systemClock.monoMs() - start
}

async function bench(): Promise<void> {
  await runBench({
    name: 'coordination',
    about: 'claims, checks, overlap, and the start of claim check',
    async prepare() {
      execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
      const launcher = resolve('bin/heimdall')
      const one = open(folder())
      const actor = await enter(one, 'lone-claimer')
      const shared = folder()
      open(shared).store.close()
      const [ten, tenThousand] = [await manyClaims(10), await manyClaims(10_000)]
      const project = folder()
      execFileSync('git', ['init', '-q', project])
      for (let n = 0; n < 5; n += 1)
        execFileSync(process.execPath, [resolve('bin/heimdall-claim'), 'claim', `src/${n}/**`, '--task', `T-${n}`], {
          cwd: project,
        })
      return {
        comparisons: [
          {
            what: 'claim and release, one process',
            unit: 'pairs/s',
            rounds: 7,
            ours: { name: 'claims', measure: async () => claimAndRelease(one, actor, 20) },
            peers: [
              { name: 'bare durable transactions', measure: () => bareTransactions(join(folder(), 'bare.db'), 20) },
            ],
          },
          {
            what: 'claim and release, 8 processes with their start',
            unit: 'pairs/s',
            rounds: 3,
            ours: { name: 'claims', measure: () => eightProcesses(shared, 20) },
            peers: [{ name: 'one process', measure: async () => claimAndRelease(one, actor, 20) }],
          },
          {
            what: 'check against live claims',
            unit: 'µs',
            rounds: 9,
            ours: { name: 'among 10,000', measure: () => checkTime(tenThousand) },
            peers: [{ name: 'among 10', measure: () => checkTime(ten), goal: { atMost: 20 } }],
          },
          {
            what: 'a commit until another process has it, p50',
            unit: 'ms',
            rounds: 5,
            ours: { name: 'follow', measure: () => untilHeard(one, 'follow', 40) },
            peers: [{ name: 'bare fs.watch on the log', measure: () => untilHeard(one, 'watch', 40) }],
          },
          {
            what: 'overlap of two globs, with a witness',
            unit: 'µs',
            rounds: 9,
            ours: { name: 'overlap', measure: overlapTime },
            peers: [{ name: 'picomatch, pattern against a path', measure: matchTime }],
          },
          {
            what: 'heimdall claim check, end to end',
            unit: 'ms',
            rounds: 25,
            ours: { name: 'claim check', measure: () => startTime([launcher, 'claim', 'check', 'docs/a.md'], project) },
            peers: [{ name: 'node -e 0', measure: () => startTime(['-e', '0'], project), goal: { atMost: 2 } }],
          },
        ],
        cleanup() {
          for (const { store } of [one, ten.room, tenThousand.room]) store.close()
          for (const path of folders) rmSync(path, { recursive: true, force: true })
        },
      }
    },
  })
}

const [mode, root = '', name = '', count = '0'] = process.argv.slice(2)
if (mode === 'worker') {
  const room = open(root)
  await claimAndRelease(room, await enter(room, name), Number(count))
  room.store.close()
} else if (mode === 'follow' || mode === 'watch') await listen(mode, root)
else await bench()
