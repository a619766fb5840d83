// Where a hook is called: the project, and the paths that a tool is about to write in it.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { WritePath } from '../../coordination/claims/writes.ts'
import { isErrno, isSystemError } from '../../errors.ts'
import type { HookCall, HookTool } from '../../hosts/hooks/hook-call.ts'
import { isGitDiff, patchPaths } from '../../shell/patch-paths.ts'
import type { AppliedDiff } from '../../shell/writes.ts'
import type { WriteTarget } from '../../shell/targets.ts'
import { HOOK_PATCH_BYTES_MAX } from '../../limits.ts'
import { type Env, homeDir } from '../../paths.ts'

/** A path that a tool writes. */
export interface HookPath extends WritePath {
  /** It is taken away, with all that is in it. */
  readonly isGone?: true
  /** Something somewhere below it: of interest where nothing at all may be written. */
  readonly isSomewhere?: true
}

/** The paths that a tool writes, absolute; those of a diff that it applies among them. */
export function writtenPaths(tool: HookTool, cwd: string, env: Env): HookPath[] {
  const home = homeDir(env)
  const fromDiffs = tool.diffs
    .flatMap((diff) => pathsInDiff(diff, cwd, home))
    .map((path) => ({ path, isPattern: false }))
  const named = tool.targets.flatMap((target) => (isFolder(cwd, target, home) ? (target.into ?? [target]) : [target]))
  return [
    ...named.map((target) => ({
      path: absolute(cwd, target, home),
      isPattern: target.isPattern,
      ...(target.isGone === true ? { isGone: true as const } : {}),
      ...(target.isSomewhere === true ? { isSomewhere: true as const } : {}),
    })),
    ...fromDiffs,
  ]
}

/** Of a copy to a folder, what is written is in it. */
const isFolder = (cwd: string, target: WriteTarget, home: string): boolean =>
  target.into !== undefined && statSync(absolute(cwd, target, home), { throwIfNoEntry: false })?.isDirectory() === true

export const absolute = (cwd: string, { path, cwd: below }: Pick<WriteTarget, 'path' | 'cwd'>, home: string): string =>
  resolve(cwd, atHome(below, home), atHome(path, home))

const atHome = (path: string, home: string): string => (/^~(?:\/|$)/.test(path) ? home + path.slice(1) : path)

function pathsInDiff(
  { diff, cwd: below, strip, below: prefix, isGit }: AppliedDiff,
  cwd: string,
  home: string,
): string[] {
  const text = typeof diff === 'string' ? diff : diffIn(absolute(cwd, diff, home))
  const folder = absolute(cwd, { path: '', cwd: below }, home)
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

/** A tool that writes, or may. */
export const isWriting = ({ targets, diffs, isShell, isUnread }: HookTool): boolean =>
  targets.length + diffs.length > 0 || isShell || isUnread

/** Those that are known by name; of the others only the disk knows. */
export const namedPaths = (paths: readonly HookPath[]): HookPath[] =>
  paths.filter(({ isSomewhere }) => isSomewhere !== true)

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
