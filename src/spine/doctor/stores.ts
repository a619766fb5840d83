// Checks of `heimdall doctor` on stores: sound, of a known version, and writable.
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { DOCTOR_BUSY_MS, DOCTOR_ROOM_BYTES } from '../../limits.ts'
import { findProject, runsDirOf } from '../../paths.ts'
import { quoted } from '../../quoted.ts'
import type { Database, DatabaseOptions } from '../../storage/sqlite.ts'
import { type DoctorContext, type DoctorFinding, ok } from './finding.ts'

/** Words for the errors of a store. */
const WORDS: Readonly<Record<string, string>> = {
  STORE_CORRUPT: 'corrupt',
  STORE_NEWER: 'newer',
  STORE_BUSY: 'locked',
  STORE_FULL: 'full',
  STORE_UNREADABLE: 'unreadable',
  STATE_UNSAFE: 'unsafe',
}

export async function checkCoordination({ cwd, env }: DoctorContext): Promise<DoctorFinding> {
  const [{ storePath }, { isStoreThere }, { MIGRATIONS }] = await Promise.all([
    import('../../coordination/store-path.ts'),
    import('../../coordination/sqlite/open-store.ts'),
    import('../../coordination/sqlite/schema.ts'),
  ])
  const path = storePath(findProject(cwd, env))
  const first = judged(() => (isStoreThere(path) ? SOUND : ok('no coordination store yet')))
  if (first !== SOUND) return first
  return (await checkStore(path, MIGRATIONS)) ?? ok(`${path}, ${kilobytes(path)}`)
}

/** The index is derived from the records: `runs reindex` rebuilds it. */
export async function checkIndex({ env }: DoctorContext): Promise<DoctorFinding> {
  const [{ indexPath, openIndexToRead }, { behindOf }] = await Promise.all([
    import('../../runs/index/run-index.ts'),
    import('../../runs/index/catch-up.ts'),
  ])
  const path = indexPath(runsDirOf(env))
  if (!existsSync(path)) return ok('no run index yet; the first query builds it')
  const index = openIndexToRead(path)
  if (index === undefined) return { state: 'warn', found: `${path} cannot be used`, fix: 'heimdall runs reindex' }
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
      ? ok(found)
      : {
          state: 'warn',
          found: `${found}; ${bad} lines of records are invalid and skipped`,
          fix: `sqlite3 ${quoted(path)} 'SELECT * FROM bad_lines'`,
        }
  } finally {
    index.close()
  }
}

/** Whether the programs in the lines that an import wrote still exist. */
export async function checkImports({ env }: DoctorContext): Promise<DoctorFinding> {
  const { allRecords } = await import('../../hosts/import-record.ts')
  const records = allRecords(env).filter(({ path }) => existsSync(path))
  const lost = records.find(({ own }) => !existsSync(own.node) || !existsSync(own.launcher))
  if (lost === undefined) return ok(`${records.length} host config files with servers behind the shim`)
  const missing = existsSync(lost.own.node) ? lost.own.launcher : lost.own.node
  return {
    state: 'fail',
    found: `${lost.path} starts its MCP servers with ${missing}, which does not exist`,
    fix: `heimdall mcp import ${lost.hosts.join(' ')}`,
  }
}

export async function checkBriefing({ cwd, env, clock, note }: DoctorContext): Promise<DoctorFinding> {
  const [{ openPlanning }, { listSymbols }, { listFacts }, { readBaselines }, { readLedger }, { listCapsules }] =
    await Promise.all([
      import('../../briefing/planning.ts'),
      import('../../briefing/symbols.ts'),
      import('../../briefing/blackboard.ts'),
      import('../../briefing/baselines.ts'),
      import('../../briefing/token-ledger.ts'),
      import('../../briefing/capsules.ts'),
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
    return ok(counts.join(', '))
  })
}

/** Undefined if the store is sound. Opened read-only first: a check must not migrate anything. */
async function checkStore(path: string, migrations: readonly string[]): Promise<DoctorFinding | undefined> {
  const [{ openDatabase }, { tryRoom }] = await Promise.all([
    import('../../storage/sqlite.ts'),
    import('../../storage/room.ts'),
  ])
  const options: DatabaseOptions = { migrations, busyMs: DOCTOR_BUSY_MS }
  let version = 0
  const found = judged(() =>
    using(openDatabase(path, { ...options, readOnly: true }), (db) => {
      const [first] = db.problems()
      if (first !== undefined) return { state: 'fail', found: `corrupt: ${path}: ${first}`, fix: moveAway(path) }
      version = (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
      return SOUND
    }),
  )
  if (found !== SOUND) return found
  const isCurrent = version === migrations.length
  const writable = judged(() => {
    // Whatever the version: without free space, recent writes may be missing from what was read.
    tryRoom(dirname(path), DOCTOR_ROOM_BYTES)
    if (isCurrent) using(openDatabase(path, options), (db) => db.transaction(() => undefined))
    return SOUND
  })
  if (writable === SOUND)
    return isCurrent ? undefined : ok(`${path}, of an older version; the next command migrates it`)
  return writable.found.startsWith('unreadable')
    ? { state: 'warn', found: `${path} is not writable`, fix: writable.fix }
    : writable
}

const SOUND = ok('')

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

/** The next command creates a new one. */
const moveAway = (path: string): string => `mv ${quoted(path)} ${quoted(`${path}.corrupt`)}`

const kilobytes = (path: string): string => `${Math.ceil(statSync(path).size / 1024)} KiB`
