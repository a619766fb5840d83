// What no agent writes: our own state, and what decides which hooks run. Whoever could change that could do without claims.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { GUARD_HOOKS, GUARD_MARK } from '../../coordination/guard-mark.ts'
import { gitConfigFiles, gitSetting } from '../../coordination/ledger/git-config.ts'
import { isSystemError } from '../../errors.ts'
import { guardingFiles, isGuardingFile } from '../../hosts/hooks/guarding-files.ts'
import type { HookTool } from '../../hosts/hooks/hook-call.ts'
import { contains, type Env, homeDir, type Project, stateDir } from '../../paths.ts'
import { type HookPath, realPath } from './hook-place.ts'

/** Says of a path why no agent writes there. */
export function guardedPlaces(project: Project, env: Env): (written: HookPath) => string | undefined {
  const state = realPath(stateDir(env))
  // An agent's own worktree may lie among our state, and is its work all the same.
  const isOwnWork = ({ path }: HookPath): boolean =>
    contains(state, project.root) && contains(project.root, plainPart(path))
  const hooks = hookPlaces(project, env)
  const configs = configPlaces(project, env)
  return (written) => {
    const touches = toucher(written)
    if (touches(project.coordinationDir) || (touches(state) && !isOwnWork(written)))
      return 'it is state of Heimdall itself'
    if (hooks.some(touches)) return 'it is a hook of git'
    if (configs.some(touches)) return 'it says which hooks git runs'
    // Init never writes to files of a project.
    const real = realPath(written.path)
    if (contains(project.root, real)) return undefined
    const isGuarding =
      written.isPattern || written.isGone === true ? guardingFiles(env).some(touches) : isGuardingFile(env, real)
    return isGuarding ? 'the hooks that guard this host stand in it' : undefined
  }
}

/** What is refused whoever holds what, in words for the agent: a way past the guards, and a path that no agent writes. */
export function refusedAnyway(
  { bypass }: Pick<HookTool, 'bypass'>,
  paths: readonly HookPath[],
  project: Project,
  env: Env,
): string | undefined {
  if (bypass !== null) return `${bypass} goes past the guards that keep claims; do it without, or leave it to a person.`
  if (paths.length === 0) return undefined
  const why = guardedPlaces(project, env)
  for (const path of paths) {
    const reason = why(path)
    if (reason !== undefined) return `${path.path} is not for agents to write: ${reason}. A person can change it.`
  }
  return undefined
}

function hookPlaces({ gitCommonDir, root }: Project, env: Env): string[] {
  if (gitCommonDir === undefined) return []
  const set = gitSetting({ gitCommonDir, root }, env, 'core', 'hookspath')
  const elsewhere = set === undefined ? [] : ownHooks(resolve(root, set.replace(/^~(?=\/)/, homeDir(env))))
  return [join(gitCommonDir, 'hooks'), ...elsewhere]
}

/** Of a folder of hooks in the project, which is a part of its work, those that are the guard's. */
const ownHooks = (folder: string): string[] =>
  GUARD_HOOKS.map((hook) => join(realPath(folder), hook)).filter((path) => textOf(path).includes(GUARD_MARK))

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isSystemError(error)) return ''
    throw error
  }
}

/** Git's settings, of the repository and of the user, and what leads a worktree to its repository. */
function configPlaces(project: Project, env: Env): string[] {
  const { gitCommonDir, root } = project
  if (gitCommonDir === undefined) return []
  const link = join(root, '.git')
  return [
    ...gitConfigFiles(project, env).map(realPath),
    join(gitCommonDir, 'config.worktree'),
    join(gitCommonDir, 'worktrees'),
    ...(contains(gitCommonDir, realPath(link)) && realPath(link) === gitCommonDir ? [] : [link]),
  ]
}

/** Whether a write is one to a place, or in it, or takes away a folder around it. */
function toucher({ path, isPattern, isGone }: HookPath): (place: string) => boolean {
  if (!isPattern) {
    const real = realPath(path)
    return (place) => contains(place, real) || (isGone === true && contains(real, place))
  }
  const names = patternNames(path)
  return (place) => {
    const parts = place.split('/')
    const isAround = names.length < parts.length
    return (
      (isGone === true || !isAround) && names.slice(0, parts.length).every((name, at) => name.test(parts[at] ?? ''))
    )
  }
}

/** A pattern as the shell fills it in, one name after the other, from a folder on that links have been followed to. */
function patternNames(path: string): RegExp[] {
  const parts = path.split('/')
  const folder = plainPart(path)
  return [...(folder === '/' ? [''] : folder.split('/')), ...parts.slice(plainCount(parts))].map(nameOf)
}

const plainCount = (parts: readonly string[]): number => {
  const first = parts.findIndex((part) => SIGN.test(part))
  return first === -1 ? parts.length : first
}

/** Where a path leads up to its first sign of a pattern. */
function plainPart(path: string): string {
  const parts = path.split('/')
  return realPath(parts.slice(0, plainCount(parts)).join('/') || '/')
}

const SIGN = /[*?[{]/

/** What begins with a dot is meant only where the dot is written. */
function nameOf(part: string): RegExp {
  if (!SIGN.test(part)) return new RegExp(`^${part.replaceAll(/[\\^$.|+()}\]]/g, String.raw`\$&`)}$`)
  const words = part
    .replaceAll(/[\\^$.|+()]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
    .replaceAll('[!', '[^')
    .replaceAll(/\{([^{}]*)\}/g, (_, list: string) => `(?:${list.replaceAll(',', '|')})`)
  const isHidden = /^[*?[]/.test(part)
  try {
    return new RegExp(`^${isHidden ? String.raw`(?!\.)` : ''}${words}$`)
  } catch (error) {
    // A bracket that does not end is none to the shell either.
    if (error instanceof SyntaxError) return /^(?!)/
    throw error
  }
}
