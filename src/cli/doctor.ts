// The checks of `heimdall doctor`; each part of the product adds its own row.
import { accessSync, chmodSync, constants, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { DOCTOR_ROOM_BYTES } from '../limits.ts'
import { configDir, findProject, runsDirOf, sessionsDir, stateDirName } from '../paths.ts'
import { folderProblem } from '../own-folder.ts'
import type { Context } from './command.ts'
import { checkCodexServer, checkGuard, checkHostSessions, checkLedgerServers, HOST_CHECKS } from './doctor-hosts.ts'
import { SECURITY_CHECKS } from './doctor-security.ts'
import { checkBriefing, checkCoordination, checkCounters, checkImports, checkIndex } from './doctor-stores.ts'

export interface Check {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  /** The command, or the step, that mends it. */
  readonly fix: string | null
  /** With --fix: it was mended just now, and looked at again. */
  readonly fixed?: true
}

export interface DoctorFinding extends Omit<Check, 'check' | 'fixed'> {
  /** For --fix, where that takes nobody's word and loses nothing. */
  readonly mend?: () => void
}

const CHECKS: Readonly<Record<string, Look>> = {
  node: checkNode,
  pty: () => checkModule('@lydell/node-pty', 'sessions'),
  'file locks': () => checkModule('fs-native-extensions', 'shared state files'),
  sqlite: checkSqlite,
  configuration: checkConfiguration,
  project: checkProject,
  'state folder': checkState,
  'config folder': ({ env }) => checkFolder(configDir(env)),
  sessions: ({ env }) => withRoom(sessionsDir(env), checkPrivateFolder(sessionsDir(env))),
  runs: checkRuns,
  coordination: checkCoordination,
  counters: checkCounters,
  'run index': checkIndex,
  briefing: checkBriefing,
  imports: checkImports,
  'git guard': checkGuard,
  ...HOST_CHECKS,
  'codex server': checkCodexServer,
  'ledger servers': checkLedgerServers,
  'host sessions': checkHostSessions,
}

type Look = (context: Context) => DoctorFinding | Promise<DoctorFinding>

/** Runs every check; one that throws is a failed check, not a failed doctor. */
export async function runChecks(
  context: Context,
  { fixes, security }: { readonly fixes: boolean; readonly security: boolean } = { fixes: false, security: false },
): Promise<Check[]> {
  const checks: Check[] = []
  for (const [check, look] of Object.entries({ ...CHECKS, ...(security ? SECURITY_CHECKS : {}) })) {
    const { mend, ...found } = await looked(look, context)
    if (!fixes || mend === undefined || found.state === 'ok') {
      checks.push({ check, ...found })
      continue
    }
    mend()
    const { mend: _, ...again } = await looked(look, context)
    checks.push({ check, ...again, ...(again.state === 'ok' ? { fixed: true as const } : {}) })
  }
  return checks
}

async function looked(look: Look, context: Context): Promise<DoctorFinding> {
  try {
    return await look(context)
  } catch (error) {
    const hint = error instanceof HeimdallError ? (error.hint ?? null) : null
    const found = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    return { state: 'fail', found, fix: hint }
  }
}

const ok = (found: string): DoctorFinding => ({ state: 'ok', found, fix: null })

/** Older than all that is promised cannot work; what nobody has run the suite on may well. */
function checkNode(): DoctorFinding {
  const { engines } = createRequire(import.meta.url)('heimdall-agents/package.json') as { engines: { node: string } }
  const lines = [...engines.node.matchAll(/\^(\d+)\.(\d+)\./g)].map((range) => range.slice(1).map(Number))
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const found = `Node.js ${process.version}`
  if (lines.some(([line, lowest = 0]) => line === major && minor >= lowest)) return ok(found)
  const isOlder = lines.every(([line = 0, lowest = 0]) => major < line || (major === line && minor < lowest))
  return { state: isOlder ? 'fail' : 'warn', found, fix: `install one that is tested: ${engines.node}` }
}

function checkModule(name: string, need: string): DoctorFinding {
  try {
    createRequire(import.meta.url)(name)
    return ok(`${name} loads`)
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    return {
      state: 'fail',
      found: `${name} does not load: ${reason}`,
      fix: `npm install without --omit=optional; ${need} need it`,
    }
  }
}

async function checkSqlite(): Promise<DoctorFinding> {
  const module = checkModule('@photostructure/sqlite', 'stores and runs')
  if (module.state !== 'ok') return module
  const { openDatabase } = await import('../storage/sqlite.ts')
  const dir = mkdtempSync(join(tmpdir(), 'heimdall-doctor-'))
  try {
    const db = openDatabase(join(dir, 'check.db'), { migrations: ['CREATE TABLE t (x)'] })
    const { version } = db.prepare('SELECT sqlite_version() AS version').get() as { version: string }
    db.close()
    return ok(`SQLite ${version} writes and reads`)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function checkConfiguration(context: Context): Promise<DoctorFinding> {
  const config = await settingsOf(context)
  if ('state' in config) return config
  const ignored = Object.values(config).find((setting) => setting.ignored !== undefined)?.ignored
  if (ignored !== undefined)
    return { state: 'warn', found: `${ignored.origin} is not trusted`, fix: 'read it, then: heimdall trust' }
  const origins = new Set(Object.values(config).map(({ origin }) => origin))
  origins.delete('default')
  return ok(origins.size === 0 ? 'defaults only' : `from ${[...origins].join(', ')}`)
}

async function settingsOf(context: Context): Promise<Awaited<ReturnType<Context['settings']>> | DoctorFinding> {
  try {
    return await context.settings()
  } catch (error) {
    if (!(error instanceof HeimdallError) || !error.code.startsWith('CONFIG_')) throw error
    const found = error.message.split('\n')[0] ?? ''
    return { state: 'fail', found, fix: error.hint ?? 'mend the file at the place that is named, or move it aside' }
  }
}

function checkProject({ cwd, env }: Context): DoctorFinding {
  const project = findProject(cwd, env)
  if (project.gitCommonDir !== undefined) return ok(`git repository ${project.root}`)
  return {
    state: 'warn',
    found: `${project.root} is not in a git repository`,
    fix: 'git init, so that worktrees share claims and commits can be guarded',
  }
}

/** The folders of state that are looked at whenever they are used. */
const STATE_FOLDERS = ['', 'runs', 'secrets', 'trusted', 'pins', 'imports', 'init', 'dispatch'] as const

async function checkState({ env }: Context): Promise<DoctorFinding> {
  const dir = stateDirName(env)
  const found = STATE_FOLDERS.map((name) => checkPrivateFolder(join(dir, name)))
  const first = found.find(({ state }) => state !== 'ok')
  if (first === undefined) return await withRoom(dir, checkFolder(dir))
  const mends = found.flatMap(({ mend }) => mend ?? [])
  return first.mend === undefined ? first : { ...first, mend: () => mends.forEach((mend) => mend()) }
}

/** Writable, or creatable: the nearest folder above it that exists decides. */
function checkFolder(path: string): DoctorFinding {
  const dir = nearestFolder(path)
  try {
    accessSync(dir, constants.W_OK)
    return ok(dir === path ? path : `${path} will be created`)
  } catch (error) {
    if (isErrno(error, 'EROFS'))
      return { state: 'fail', found: `${dir} is on a read-only file system`, fix: 'mount it to be written to' }
    return { state: 'fail', found: `${dir} is not writable`, fix: `check its owner: ls -ld ${dir}` }
  }
}

/** The rights to a folder say nothing of the disk under it. */
async function withRoom(path: string, finding: DoctorFinding): Promise<DoctorFinding> {
  if (finding.state !== 'ok') return finding
  const { tryRoom } = await import('../storage/room.ts')
  tryRoom(nearestFolder(path), DOCTOR_ROOM_BYTES)
  return finding
}

function nearestFolder(path: string): string {
  for (let dir = path; ; dir = dirname(dir)) {
    try {
      accessSync(dir)
      return dir
    } catch (error) {
      if (!isErrno(error, 'ENOENT') || dirname(dir) === dir) return dir
    }
  }
}

/** Whoever looks at runs ends those that nobody takes part in any more. */
async function checkRuns(context: Context): Promise<DoctorFinding> {
  const { env, clock } = context
  const { settleRuns } = await import('./settle-runs.ts')
  await settleRuns(context)
  const { closeAbandonedRuns } = await import('../runs/run-close.ts')
  const { closed, open, problems } = closeAbandonedRuns(runsDirOf(env), clock)
  const found = `${open} open${closed === 0 ? '' : `, ${closed} that nobody had ended closed`}`
  const [problem] = problems
  if (problem === undefined) return ok(found)
  return { state: 'warn', found: `${found}; ${problem}`, fix: 'check free space and the owner of the state folder' }
}

export function checkPrivateFolder(path: string): DoctorFinding {
  const finding = checkFolder(path)
  if (finding.state !== 'ok' || finding.found !== path) return finding
  const stats = lstatSync(path)
  const problem = folderProblem(stats, process.geteuid?.() ?? stats.uid, 'entered')
  if (problem === undefined) return finding
  const found = `${path} ${problem}`
  if (!stats.isDirectory()) return { state: 'fail', found, fix: 'move it away; a folder belongs there' }
  if (stats.uid !== process.geteuid?.())
    return { state: 'fail', found, fix: `use a folder of your own, or ask its owner: ls -ld ${path}` }
  const open = `${path} is open to other users: it ${problem}`
  return { state: 'fail', found: open, fix: `chmod 700 ${path}`, mend: () => chmodSync(path, 0o700) }
}
