// The checks of `heimdall doctor`: this table, and those on Node.js, native modules, settings and folders.
import { accessSync, chmodSync, constants, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Config, loadConfig } from '../../config.ts'
import { HeimdallError, isErrno, isSystemError } from '../../errors.ts'
import { DOCTOR_ROOM_BYTES } from '../../limits.ts'
import { folderProblem } from '../../own-folder.ts'
import { configDir, findProject, runsDirOf, sessionsDir, stateDirName } from '../../paths.ts'
import { quoted } from '../../quoted.ts'
import { livingWatcher, watcherFolder } from '../../watcher-process.ts'
import { type DoctorContext, type DoctorFinding, ok } from './finding.ts'
import { checkCodexServer, checkGuard, checkHostSessions, checkLedgerServers, HOST_CHECKS } from './hosts.ts'
import { SECURITY_CHECKS } from './security.ts'
import { checkBriefing, checkCoordination, checkImports, checkIndex } from './stores.ts'

interface Check extends Omit<DoctorFinding, 'mend'> {
  readonly check: string
  /** --fix has repaired it. */
  readonly fixed?: true
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
  watcher: checkWatcher,
  coordination: checkCoordination,
  'run index': checkIndex,
  briefing: checkBriefing,
  imports: checkImports,
  'git guard': checkGuard,
  ...HOST_CHECKS,
  'codex server': checkCodexServer,
  'ledger servers': checkLedgerServers,
  'host sessions': checkHostSessions,
}

type Look = (context: DoctorContext) => DoctorFinding | Promise<DoctorFinding>

/** Runs every check. A check that throws has failed. */
export async function runChecks(
  context: DoctorContext,
  { fixes, security }: { readonly fixes: boolean; readonly security: boolean },
): Promise<Check[]> {
  const checks: Check[] = []
  for (const [check, look] of Object.entries({ ...CHECKS, ...(security ? SECURITY_CHECKS : {}) })) {
    const { mend, ...found } = await findingOf(look, context)
    if (!fixes || mend === undefined || found.state === 'ok') {
      checks.push({ check, ...found })
      continue
    }
    await mend()
    const { mend: _, ...again } = await findingOf(look, context)
    checks.push({ check, ...again, ...(again.state === 'ok' ? { fixed: true as const } : {}) })
  }
  return checks
}

async function findingOf(look: Look, context: DoctorContext): Promise<DoctorFinding> {
  try {
    return await look(context)
  } catch (error) {
    const fix = error instanceof HeimdallError ? (error.hint ?? null) : null
    const found = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    return { state: 'fail', found, fix }
  }
}

/** Versions older than the supported ones fail; untested newer ones are a warning. */
function checkNode(): DoctorFinding {
  const { engines } = createRequire(import.meta.url)('heimdall-agents/package.json') as { engines: { node: string } }
  const lines = [...engines.node.matchAll(/\^(\d+)\.(\d+)\./g)].map((range) => range.slice(1).map(Number))
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const found = `Node.js ${process.version}`
  if (lines.some(([line, lowest = 0]) => line === major && minor >= lowest)) return ok(found)
  const isOlder = lines.every(([line = 0, lowest = 0]) => major < line || (major === line && minor < lowest))
  return { state: isOlder ? 'fail' : 'warn', found, fix: `install a supported version: ${engines.node}` }
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
      fix: `reinstall with optional dependencies (${need} need it): npm install -g heimdall-agents --include=optional`,
    }
  }
}

async function checkSqlite(): Promise<DoctorFinding> {
  const module = checkModule('@photostructure/sqlite', 'stores and runs')
  if (module.state !== 'ok') return module
  const { openDatabase } = await import('../../storage/sqlite.ts')
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

async function checkConfiguration({ cwd, env, configFile: file }: DoctorContext): Promise<DoctorFinding> {
  let config: Config
  try {
    config = await loadConfig({ cwd, env, file })
  } catch (error) {
    if (!(error instanceof HeimdallError) || !error.code.startsWith('CONFIG_')) throw error
    const found = error.message.split('\n')[0] ?? ''
    return { state: 'fail', found, fix: error.hint ?? 'correct the file, or move it away' }
  }
  const ignored = Object.values(config).find((setting) => setting.ignored !== undefined)?.ignored
  if (ignored !== undefined)
    return { state: 'warn', found: `${ignored.origin} is not trusted`, fix: 'read the file, then run: heimdall trust' }
  const origins = new Set(Object.values(config).map(({ origin }) => origin))
  origins.delete('default')
  return ok(origins.size === 0 ? 'defaults only' : `from ${[...origins].join(', ')}`)
}

function checkProject({ cwd, env }: DoctorContext): DoctorFinding {
  const project = findProject(cwd, env)
  if (project.gitCommonDir !== undefined) return ok(`git repository ${project.root}`)
  return {
    state: 'warn',
    found: `${project.root} is not in a git repository: worktrees cannot share claims, commits are not guarded`,
    fix: 'git init',
  }
}

/** Folders of state that commands reject if other users can enter them. */
const STATE_FOLDERS = ['', 'runs', 'secrets', 'trusted', 'pins', 'imports', 'init', 'dispatch'] as const

async function checkState({ env }: DoctorContext): Promise<DoctorFinding> {
  const dir = stateDirName(env)
  const found = STATE_FOLDERS.map((name) => checkPrivateFolder(join(dir, name)))
  const first = found.find(({ state }) => state !== 'ok')
  if (first === undefined) return await withRoom(dir, checkFolder(dir))
  const mends = found.flatMap(({ mend }) => mend ?? [])
  return first.mend === undefined ? first : { ...first, mend: () => mends.forEach((mend) => void mend()) }
}

/** Writable, or can be created: the nearest existing parent decides. */
function checkFolder(path: string): DoctorFinding {
  const dir = nearestFolder(path)
  try {
    accessSync(dir, constants.W_OK)
    return ok(dir === path ? path : `${path} will be created`)
  } catch (error) {
    if (isErrno(error, 'EROFS'))
      return { state: 'fail', found: `${dir} is on a read-only file system`, fix: 'remount it with write access' }
    return { state: 'fail', found: `${dir} is not writable`, fix: `check its owner: ls -ld ${quoted(dir)}` }
  }
}

/** Permissions do not tell whether the disk is full. */
async function withRoom(path: string, finding: DoctorFinding): Promise<DoctorFinding> {
  if (finding.state !== 'ok') return finding
  const { tryRoom } = await import('../../storage/room.ts')
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

/** Runs whose processes are gone stay open until they are settled. */
async function checkRuns(context: DoctorContext): Promise<DoctorFinding> {
  const { env, clock } = context
  const runsDir = runsDirOf(env)
  const [{ openRuns, settleLostRuns }, { closeAbandonedRuns, isLive }, { totalsOf }, { namesIn }] = await Promise.all([
    import('../open-runs.ts'),
    import('../../runs/run-close.ts'),
    import('../../runs/run-facts.ts'),
    import('../../storage/folder-names.ts'),
  ])
  const folders = namesIn(join(runsDir, '.open'))
  const lost = new Set(openRuns(runsDir).flatMap(({ run, isLost }) => (isLost ? run.folder : [])))
  const problems: string[] = []
  for (const folder of folders)
    try {
      if (!isLive(join(runsDir, folder), totalsOf(join(runsDir, folder)), clock)) lost.add(folder)
    } catch (error) {
      if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      problems.push(`run ${folder} cannot be read: ${error.message}`)
    }
  const [problem] = problems
  if (problem !== undefined)
    return { state: 'warn', found: problem, fix: 'check free space and the owner of the state folder' }
  const open = folders.filter((folder) => !lost.has(folder)).length
  if (lost.size === 0) return ok(`${open} open`)
  const found = `${open} open, ${lost.size} lost (their processes are gone): ${[...lost].slice(0, RUNS_SHOWN).join(', ')}`
  const mend = async (): Promise<void> => {
    const note = (line: string): void => context.note(`warning: ${line}`)
    await settleLostRuns(runsDir, { env, clock, note })
    for (const problem of closeAbandonedRuns(runsDir, clock).problems) note(problem)
  }
  return { state: 'warn', found, fix: 'heimdall doctor --fix closes them', mend }
}

const RUNS_SHOWN = 5

function checkWatcher({ env }: DoctorContext): DoctorFinding {
  const watcher = livingWatcher(watcherFolder(env))
  if (watcher === undefined) return ok('none runs; the next run starts one')
  const { process: own, version, aside } = watcher
  const found = `process ${own.pid}, version ${version}`
  const [first] = aside
  if (first === undefined) return ok(found)
  const others = aside.length === 1 ? '' : ` and ${aside.length - 1} more`
  return {
    state: 'warn',
    found: `${found}; set aside: run ${first.run} (${first.error})${others}`,
    fix: 'remove what is in the way; the watcher tries again twice a minute',
  }
}

function checkPrivateFolder(path: string): DoctorFinding {
  const finding = checkFolder(path)
  if (finding.state !== 'ok' || finding.found !== path) return finding
  const stats = lstatSync(path)
  const problem = folderProblem(stats, process.geteuid?.() ?? stats.uid, 'entered')
  if (problem === undefined) return finding
  const found = `${path} ${problem}`
  if (!stats.isDirectory()) return { state: 'fail', found, fix: `mv ${quoted(path)} ${quoted(`${path}.old`)}` }
  if (stats.uid !== process.geteuid?.())
    return { state: 'fail', found, fix: `use a folder of your own, or ask the owner: ls -ld ${quoted(path)}` }
  const open = `${path} is open to other users: it ${problem}`
  return { state: 'fail', found: open, fix: `chmod 700 ${quoted(path)}`, mend: () => chmodSync(path, 0o700) }
}
