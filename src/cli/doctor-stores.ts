// doctor's look into every store: is it sound, of a version that this program knows, and free to be written to?
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { DOCTOR_BUSY_MS, DOCTOR_ROOM_BYTES, DOCTOR_STORES_MAX } from '../limits.ts'
import { findProject, runsDirOf } from '../paths.ts'
import type { Database, DatabaseOptions } from '../storage/sqlite.ts'
import type { Context } from './command.ts'
import type { DoctorFinding } from './doctor.ts'

/** What a person calls the errors of a store. */
const WORDS: Readonly<Record<string, string>> = {
  STORE_CORRUPT: 'corrupt',
  STORE_NEWER: 'newer',
  STORE_BUSY: 'locked',
  STORE_FULL: 'full',
  STORE_UNREADABLE: 'unreadable',
  STATE_UNSAFE: 'unsafe',
}

export async function checkCoordination({ cwd, env }: Context): Promise<DoctorFinding> {
  const [{ storePath }, { isStoreThere }, { MIGRATIONS }] = await Promise.all([
    import('../coordination/store-path.ts'),
    import('../coordination/sqlite/open-store.ts'),
    import('../coordination/sqlite/schema.ts'),
  ])
  const path = storePath(findProject(cwd, env))
  const first = judged(() =>
    isStoreThere(path) ? SOUND : { state: 'ok', found: 'nothing coordinated here yet', fix: null },
  )
  if (first !== SOUND) return first
  return (await lookAt(path, MIGRATIONS)) ?? { state: 'ok', found: `${path}, ${kilobytes(path)}`, fix: null }
}

/** The counters of runs, the newest first. */
export async function checkCounters({ env }: Context): Promise<DoctorFinding> {
  const [{ runFolders }, { COUNTER_MIGRATIONS, countersPath }] = await Promise.all([
    import('../runs/run-folder.ts'),
    import('../runs/counters.ts'),
  ])
  const dir = runsDirOf(env)
  const paths = runFolders(dir)
    .runs.map(({ runDir }) => countersPath(runDir))
    .filter((path) => existsSync(path))
    .toSorted((a, b) => mtimeMs(b) - mtimeMs(a))
    .slice(0, DOCTOR_STORES_MAX)
  for (const path of paths) {
    const problem = await lookAt(path, COUNTER_MIGRATIONS)
    if (problem !== undefined) return problem
  }
  return { state: 'ok', found: `counters of ${paths.length} runs`, fix: null }
}

/** Derived: whatever is wrong with it, the next query puts right. */
export async function checkIndex({ env }: Context): Promise<DoctorFinding> {
  const [{ indexPath, openIndexToRead }, { behindOf }] = await Promise.all([
    import('../runs/index/run-index.ts'),
    import('../runs/index/catch-up.ts'),
  ])
  const path = indexPath(runsDirOf(env))
  if (!existsSync(path)) return { state: 'ok', found: 'no run index yet; the first query makes it', fix: null }
  const index = openIndexToRead(path)
  if (index === undefined) return { state: 'warn', found: `${path} is of no use`, fix: 'heimdall runs reindex' }
  try {
    const [problem] = index.db.problems()
    if (problem !== undefined)
      return { state: 'warn', found: `corrupt: ${path}: ${problem}`, fix: 'heimdall runs reindex' }
    const records = index.records.all()
    const events = records.reduce((sum, record) => sum + record.events, 0)
    const bad = records.reduce((sum, record) => sum + record.bad_lines, 0)
    const behind = Math.ceil(behindOf(index, runsDirOf(env)).bytes / 1024)
    const found = `${events} events of ${records.length} runs, ${kilobytes(path)}, ${behind} KiB behind`
    return bad === 0
      ? { state: 'ok', found, fix: null }
      : {
          state: 'warn',
          found: `${found}; ${bad} lines of records are no events`,
          fix: 'they are passed over; where they stand is in the table bad_lines',
        }
  } finally {
    index.close()
  }
}

/** Whether the lines that imports wrote still start something. */
export async function checkImports({ env }: Context): Promise<DoctorFinding> {
  const { allRecords } = await import('../hosts/import-record.ts')
  const records = allRecords(env).filter(({ path }) => existsSync(path))
  const lost = records.find(({ own }) => !existsSync(own.node) || !existsSync(own.launcher))
  if (lost === undefined)
    return { state: 'ok', found: `${records.length} configurations of hosts behind the shim`, fix: null }
  const missing = existsSync(lost.own.node) ? lost.own.launcher : lost.own.node
  return {
    state: 'fail',
    found: `${lost.path} starts its servers by ${missing}, which is gone`,
    fix: `heimdall import ${lost.hosts.join(' ')}, or heimdall restore ${lost.hosts.join(' ')}`,
  }
}

export async function checkBriefing({ cwd, env, clock, note }: Context): Promise<DoctorFinding> {
  const [{ openPlanning }, { listSymbols }, { listFacts }, { readBaselines }, { readLedger }, { listCapsules }] =
    await Promise.all([
      import('../briefing/planning.ts'),
      import('../briefing/symbols.ts'),
      import('../briefing/blackboard.ts'),
      import('../briefing/baselines.ts'),
      import('../briefing/token-ledger.ts'),
      import('../briefing/capsules.ts'),
    ])
  const planning = openPlanning(findProject(cwd, env), clock, note)
  return judged(() => {
    readBaselines(planning)
    const counts = [
      `${listSymbols(planning).size} symbols`,
      `${listFacts(planning).length} facts`,
      `${listCapsules(planning).length} capsules`,
      `${readLedger(planning).rows.length} ledger rows`,
    ]
    return { state: 'ok', found: counts.join(', '), fix: null }
  })
}

/** Nothing when all is well. Opened to read first: a look must not migrate anything. */
async function lookAt(path: string, migrations: readonly string[]): Promise<DoctorFinding | undefined> {
  const [{ openDatabase }, { tryRoom }] = await Promise.all([
    import('../storage/sqlite.ts'),
    import('../storage/room.ts'),
  ])
  const options: DatabaseOptions = { migrations, busyMs: DOCTOR_BUSY_MS }
  let version = 0
  const found = judged(() =>
    using(openDatabase(path, { ...options, readOnly: true }), (db) => {
      const [first] = db.problems()
      if (first !== undefined)
        return { state: 'fail', found: `corrupt: ${path}: ${first}`, fix: 'move it aside; a new one is made' }
      version = (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
      return SOUND
    }),
  )
  if (found !== SOUND) return found
  const isCurrent = version === migrations.length
  const writable = judged(() => {
    // First, and whatever the version: where nothing can be written, the newest of a store may not even be seen.
    tryRoom(dirname(path), DOCTOR_ROOM_BYTES)
    if (isCurrent) using(openDatabase(path, options), (db) => db.transaction(() => undefined))
    return SOUND
  })
  if (writable === SOUND)
    return isCurrent
      ? undefined
      : { state: 'ok', found: `${path}, of an older version; the next command brings it up to date`, fix: null }
  return writable.found.startsWith('unreadable')
    ? { state: 'warn', found: `${path} can be read and not be written to`, fix: writable.fix }
    : writable
}

const SOUND: DoctorFinding = { state: 'ok', found: '', fix: null }

function judged(look: () => DoctorFinding): DoctorFinding {
  try {
    return look()
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    const word = WORDS[error.code]
    if (word === undefined) throw error
    return { state: 'fail', found: `${word}: ${error.message}`, fix: error.hint ?? null }
  }
}

function using<T>(db: Database, act: (db: Database) => T): T {
  try {
    return act(db)
  } finally {
    db.close()
  }
}

const mtimeMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
const kilobytes = (path: string): string => `${Math.ceil(statSync(path).size / 1024)} KiB`
