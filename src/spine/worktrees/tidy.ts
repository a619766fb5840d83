// Takes away the worktree of an agent whose work is over, where nothing at all is lost with it; otherwise says what it still holds.
import { HeimdallError } from '../../errors.ts'
import type { Env, Project } from '../../paths.ts'
import { ask, fieldsOf, gitIn } from './git.ts'
import { type AgentWorktree, readRecord } from './owner-record.ts'
import { named } from './refusals.ts'
import { presenceOf, registeredWorktrees } from './registered.ts'
import { removeWorktree } from './remove-worktree.ts'
import { standingOf } from './standing.ts'

export type Tidied =
  | { readonly kind: 'removed' | 'none' }
  /** Somebody is still in it: it may be asked for again. */
  | { readonly kind: 'kept'; readonly path: string; readonly why: string; readonly isInUse: boolean }

/** Nobody has asked for it: so even what git ignores counts as somebody's. */
export async function tidyWorktree(wish: {
  readonly project: Project
  readonly agent: string
  readonly env: Env
}): Promise<Tidied> {
  const { project, agent, env } = wish
  const record = readRecord(project, agent)
  if (record === undefined) return { kind: 'none' }
  try {
    const ignored = await ignoredIn(project, record, env)
    if (ignored.length > 0)
      return { kind: 'kept', path: record.path, why: `files that git ignores: ${named(ignored)}`, isInUse: false }
    const at = gitIn(project.root, env)
    const { merged } = await standingOf(at, record, await registeredWorktrees(at))
    // Another branch may have its commits, such as one that builds on it: that is no review of them.
    if (merged === 'no') return { kind: 'kept', path: record.path, why: 'its commits are not merged', isInUse: false }
    await removeWorktree({ project, agent, isForced: false, keepsBranch: false, env })
    return { kind: 'removed' }
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return { kind: 'kept', path: record.path, why: error.message, isInUse: error.code === 'WORKTREE_IN_USE' }
  }
}

/** Files that git ignores and that were not brought along. */
export async function ignoredIn(project: Project, { path, copied }: AgentWorktree, env: Env): Promise<string[]> {
  const registered = await registeredWorktrees(gitIn(project.root, env))
  if (presenceOf(registered.find((one) => one.path === path)) !== 'ready') return []
  const brought = new Set(copied.map((one) => one.path))
  const text = await ask(gitIn(path, env), [
    '--no-optional-locks',
    'status',
    '--porcelain=v1',
    '-z',
    '--no-renames',
    '--ignored=matching',
    '--untracked-files=all',
  ])
  return fieldsOf(text).flatMap((field) =>
    field.startsWith('!! ') && !brought.has(field.slice(3)) ? [field.slice(3)] : [],
  )
}
