// Where things live: project root, planning root, git folders, XDG folders; and paths that may not leave a folder.
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { HeimdallError, isErrno } from './errors.ts'
import { printable } from './ids.ts'
import { checkOwnFolder, type OTHERS } from './own-folder.ts'

/** The environment as a value; only the launchers read `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>

export interface Project {
  /** The git top level, or the folder itself where there is no git. Always a real path. */
  readonly root: string
  /** Shared by all linked worktrees of the repository; absent without git. */
  readonly gitCommonDir: string | undefined
  /** `.planning`, in linked worktrees that of the main checkout; or `HEIMDALL_PLANNING_DIR`. */
  readonly planningDir: string
  /** Holds `coordination.db` and what belongs to it. */
  readonly coordinationDir: string
}

/** Of linked worktrees, the checkout that they belong to. */
export function homeOf({ root, gitCommonDir }: Pick<Project, 'root' | 'gitCommonDir'>): string {
  return gitCommonDir !== undefined && basename(gitCommonDir) === '.git' ? dirname(gitCommonDir) : root
}

/** Finds the project that `cwd` is in. Git is read, not run: a command must not pay for a process to learn where it is. */
export function findProject(cwd: string, env: Env): Project {
  const start = realFolder(cwd)
  const git = findGit(start)
  const root = git?.root ?? start
  const usual = usualPlanning(root, git)
  const override = env['HEIMDALL_PLANNING_DIR'] ?? ''
  const planningDir = override === '' ? usual : resolve(cwd, override)
  // With another planning root the whole state sits inside it, so that a test or a fixture is an island.
  const isIsland = planningDir !== usual
  const inPlanning = join(planningDir, '.heimdall')
  const coordinationDir = isIsland || git === undefined ? inPlanning : storeFolder(inPlanning, git.commonDir)
  return { root, gitCommonDir: git?.commonDir, planningDir, coordinationDir }
}

/** The project as it is found now: its folder may have become a repository since, and its store may have been moved. */
export function refreshed(project: Project): Project {
  return findProjectIfThere(project.root, { HEIMDALL_PLANNING_DIR: project.planningDir }) ?? project
}

/** Where in the git folder a store belongs that is still in the planning folder; undefined when it is in its place. */
export function destinationInGit({ root, planningDir, coordinationDir }: Project): string | undefined {
  const git = gitAt(root)
  if (git === undefined || planningDir !== usualPlanning(root, git)) return undefined
  const dir = join(git.commonDir, 'heimdall')
  return coordinationDir === dir ? undefined : dir
}

const usualPlanning = (root: string, git: Git | undefined): string =>
  join(git === undefined ? root : mainFolderOf(git), '.planning')

/** The folder that all worktrees of a repository share for briefs: its main checkout, or a bare repository itself. */
function mainFolderOf({ root, gitDir, commonDir }: Git): string {
  if (gitDir === commonDir) return root
  if (basename(commonDir) === '.git') return dirname(commonDir)
  // The main checkout of a submodule.
  const config = readFileSync(join(commonDir, 'config'), 'utf8')
  const worktree = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(config)?.[1]
  return worktree === undefined ? commonDir : resolve(commonDir, worktree)
}

/**
 * In the git folder, except for a store that is older than the repository and was not moved there yet. One that is not
 * older came with the files of the repository and is not used.
 */
function storeFolder(inPlanning: string, commonDir: string): string {
  const dir = join(commonDir, 'heimdall')
  const isStore = (folder: string): boolean => kindOf(join(folder, 'coordination.db')) === 'file'
  if (isStore(dir) || !isStore(inPlanning)) return dir
  return statSync(inPlanning).birthtimeMs < statSync(commonDir).birthtimeMs ? inPlanning : dir
}

/** Nothing for a folder that is gone, or not for us to look into. */
export function findProjectIfThere(cwd: string, env: Env): Project | undefined {
  try {
    return findProject(cwd, env)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'FOLDER_GONE') throw error
    return undefined
  }
}

/** Hosts and commands name folders that were removed meanwhile, or never were. */
function realFolder(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EACCES', 'ERR_INVALID_ARG_VALUE')) throw error
    throw new HeimdallError('FOLDER_GONE', `there is no folder ${printable(path)}`, { cause: error })
  }
}

interface Git extends GitFolders {
  readonly root: string
}

export interface GitFolders {
  /** Of the checkout itself: its HEAD, its index, and what is under way there. */
  readonly gitDir: string
  /** Shared with all linked worktrees: objects and branches. */
  readonly commonDir: string
}

/** The git folders of a checkout, whose top level is `root`. */
export function gitFoldersOf(root: string): GitFolders | undefined {
  const git = gitAt(root)
  return git === undefined ? undefined : { gitDir: git.gitDir, commonDir: git.commonDir }
}

function findGit(start: string): Git | undefined {
  for (let dir = start; ; dir = dirname(dir)) {
    const git = gitAt(dir)
    if (git !== undefined || dirname(dir) === dir) return git
  }
}

function gitAt(dir: string): Git | undefined {
  const dotGit = join(dir, '.git')
  const kind = kindOf(dotGit)
  if (kind === 'dir') return { root: dir, gitDir: dotGit, commonDir: commonDirOf(dotGit) }
  if (kind === undefined) return undefined
  // To the end of the text, as git reads it: a folder may have a line feed in its name.
  const gitDir = /^gitdir: ([^]+?)[\r\n]*$/.exec(readFileSync(dotGit, 'utf8'))?.[1]
  if (gitDir === undefined) return undefined
  const linked = resolve(dir, gitDir)
  return { root: dir, gitDir: linked, commonDir: commonDirOf(linked) }
}

/** A linked worktree's git folder names the shared one in a file `commondir`; the main one has no such file. */
function commonDirOf(gitDir: string): string {
  try {
    return realpathSync.native(resolve(gitDir, readFileSync(join(gitDir, 'commondir'), 'utf8').trim()))
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
    return realpathSync.native(gitDir)
  }
}

function kindOf(path: string): 'dir' | 'file' | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : stats.isDirectory() ? 'dir' : 'file'
}

export function homeDir(env: Env): string {
  const home = env['HOME']
  if (home !== undefined && isAbsolute(home)) return home
  throw new HeimdallError('USAGE', 'HOME is not set to an absolute path', {
    hint: 'set HOME, or pass the folder as a flag',
  })
}

function xdg(env: Env, variable: string, fallback: string): string {
  const value = env[variable]
  // The XDG base directory specification: a relative value is invalid and ignored.
  return join(value !== undefined && isAbsolute(value) ? value : join(homeDir(env), fallback), 'heimdall')
}

/** Only the name, for whoever says what is wrong with it. */
export const stateDirName = (env: Env): string => xdg(env, 'XDG_STATE_HOME', '.local/state')
/** Looked at wherever it is used: one that others could have written to is refused. */
export const stateDir = (env: Env): string => checkOwnFolder(stateDirName(env))
/** One of its folders, looked at as well. */
export const stateFolder = (env: Env, name: string, others?: keyof typeof OTHERS): string =>
  checkOwnFolder(join(stateDir(env), name), others)
/** Where runs lie: one folder each. */
export const runsDirOf = (env: Env): string => stateFolder(env, 'runs')
export const configDir = (env: Env): string => xdg(env, 'XDG_CONFIG_HOME', '.config')
/** Not under XDG_DATA_HOME: clients in other languages look for sessions in this one place. */
export const sessionsDir = (env: Env): string => join(homeDir(env), '.local/share/heimdall/sessions')

/**
 * Resolves `path` (relative to `root`, or absolute) to a real path inside `root`, following symlinks of whatever
 * part of it exists. What does not exist yet is kept as written.
 */
export function resolveInside(root: string, path: string): string {
  if (path.includes('\0')) throw outside(root, path)
  const realRoot = realpathSync.native(root)
  const real = realpathOfExisting(resolve(realRoot, path))
  if (!contains(realRoot, real)) throw outside(root, path)
  return real
}

/** True when `path` is `root` or below it, by whole segments; both must be absolute and normalised. */
export function contains(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

function realpathOfExisting(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    // ELOOP is left to rise: a link that leads nowhere is not a path that may be created.
    if (!isErrno(error, 'ENOENT', 'ENOTDIR')) throw error
    const parent = dirname(path)
    return parent === path ? path : join(realpathOfExisting(parent), basename(path))
  }
}

function outside(root: string, path: string): HeimdallError {
  return new HeimdallError('PATH_OUTSIDE_ROOT', `${printable(path)} leads out of ${root}`, {
    hint: 'name a path inside that folder',
  })
}
