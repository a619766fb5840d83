// Where a hook is called: the project, and the paths that a tool is about to write in it.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { WritePath } from '../../coordination/claims/writes.ts'
import { isErrno, isSystemError } from '../../errors.ts'
import type { HookCall, HookTool } from '../../hosts/hooks/hook-call.ts'
import { isGitDiff, patchPaths } from '../../hosts/hooks/patch-paths.ts'
import type { AppliedDiff, WriteTarget } from '../../hosts/hooks/shell-writes.ts'
import { HOOK_PATCH_BYTES_MAX } from '../../limits.ts'
import { contains, type Env, type Project, stateDir } from '../../paths.ts'

/** The paths that a tool writes, absolute; those of a diff that it applies among them. */
export function writtenPaths(tool: HookTool, cwd: string): WritePath[] {
  const fromDiffs = tool.diffs.flatMap((diff) => pathsInDiff(diff, cwd)).map((path) => ({ path, isPattern: false }))
  const named = tool.targets.flatMap((target) => (isFolder(cwd, target) ? (target.into ?? [target]) : [target]))
  return [...named.map((target) => ({ path: absolute(cwd, target), isPattern: target.isPattern })), ...fromDiffs]
}

/** Of a copy to a folder, what is written is in it. */
const isFolder = (cwd: string, target: WriteTarget): boolean =>
  target.into !== undefined && statSync(absolute(cwd, target), { throwIfNoEntry: false })?.isDirectory() === true

const absolute = (cwd: string, { path, cwd: below }: WriteTarget): string =>
  isAbsolute(path) ? resolve(path) : resolve(cwd, below, path)

function pathsInDiff({ diff, cwd: below, strip, below: prefix, isGit }: AppliedDiff, cwd: string): string[] {
  const text = typeof diff === 'string' ? diff : diffIn(absolute(cwd, diff))
  const folder = resolve(cwd, below)
  const from = isGit && isGitDiff(text) ? topOf(folder) : folder
  return patchPaths(text, strip).map((path) => resolve(from, prefix, path))
}

/** A diff that is not there, or larger than anybody writes, is applied by nobody: git says so. */
function diffIn(path: string): string {
  try {
    const bytes = readFileSync(path)
    return bytes.length > HOOK_PATCH_BYTES_MAX ? '' : bytes.toString('utf8')
  } catch (error) {
    if (isSystemError(error)) return ''
    throw error
  }
}

/** Of the repository that a folder is in; the folder itself where it is in none. */
function topOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return folder
  }
}

/**
 * Why no agent writes there: our own state, and the hooks that guard. Whoever could change them could do without claims.
 * `isGuarding` says of a file outside of the project whether it holds hooks of ours.
 */
export function protectedBy(
  { path, isPattern }: WritePath,
  { coordinationDir, gitCommonDir, root }: Project,
  env: Env,
  isGuarding: (realPath: string) => boolean,
): string | undefined {
  if (isPattern) return undefined
  const real = realPath(path)
  if (contains(coordinationDir, real) || contains(stateDir(env), real)) return 'it is state of Heimdall itself'
  if (gitCommonDir !== undefined && contains(join(gitCommonDir, 'hooks'), real)) return 'it is a hook of git'
  // Init never writes to files of a project.
  return !contains(root, real) && isGuarding(real) ? 'the hooks that guard this host stand in it' : undefined
}

/** Where the path leads; of what is not there yet, where it would be. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTDIR')) return path
    const parent = dirname(path)
    return parent === path ? path : join(realPath(parent), basename(path))
  }
}

/** The folder that the host works in; where it says none, that of the hook. */
export const folderOf = ({ cwd }: Pick<HookCall, 'cwd'>, own: string): string => cwd ?? own
