// How a checkout stands, looked at so that nothing hides: what is not committed, what is unfinished, where its HEAD is.
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isErrno } from '../../errors.ts'
import { entryAt } from './entry-at.ts'
import type { AgentWorktree } from './owner-record.ts'
import { hasRepositories } from './refusals.ts'
import { ask, askIfThere, commitOf, fieldsOf, foldersOf, git, type Git, withIndex } from './git.ts'

export interface Head {
  /** Nothing in a repository without commits. */
  readonly commit: string | undefined
  /** Nothing when HEAD is detached. */
  readonly branch: string | undefined
}

export async function headOf(at: Git): Promise<Head> {
  const [commit, branch] = await Promise.all([commitOf(at, 'HEAD'), branchOf(at)])
  return { commit, branch }
}

/** Nothing when HEAD is detached. */
export function branchOf(at: Git): Promise<string | undefined> {
  return askIfThere(at, ['symbolic-ref', '--quiet', '--short', 'HEAD'])
}

interface Change {
  readonly path: string
  /** The two letters of `git status`. */
  readonly letters: string
}

/** Everything that is not committed, untracked files one by one; what is ignored does not count. */
export async function uncommitted(at: Git): Promise<Change[]> {
  const hidden = await hiddenFiles(at)
  if (hidden.length === 0) return statusOf(at)
  return withIndexCopy(at, async (copy) => {
    for (const flag of ['--no-assume-unchanged', '--no-skip-worktree'])
      await git(copy, ['update-index', '-z', flag, '--stdin'], { input: `${hidden.join('\0')}\0` })
    return statusOf(copy)
  })
}

/** Commits paths that are not committed, with the given words for `git commit`. */
export async function commitAll(
  at: Git,
  worktree: AgentWorktree,
  paths: readonly string[],
  words: readonly string[],
): Promise<void> {
  // Git lists a repository inside of another as one folder, and would commit a link to it: none of its files.
  const repositories = paths.filter((path) => path.endsWith('/'))
  if (repositories.length > 0) throw hasRepositories(worktree, repositories)
  const here = { cwd: worktree.path, env: { ...at.env, GIT_LITERAL_PATHSPECS: '1' } }
  await git(here, ['add', '--all', '--pathspec-from-file=-', '--pathspec-file-nul'], { input: `${paths.join('\0')}\0` })
  await git(here, ['commit', '--quiet', ...words])
}

/** The person's settings may leave out untracked files, submodules, or look at times alone: here nothing is left out. */
async function statusOf(at: Git): Promise<Change[]> {
  const text = await ask(at, [
    '--no-optional-locks',
    '-c',
    'core.fsmonitor=false',
    'status',
    '--porcelain=v1',
    '-z',
    '--no-renames',
    '--untracked-files=all',
    '--ignore-submodules=none',
  ])
  return fieldsOf(text).map((field) => ({ letters: field.slice(0, 2), path: field.slice(3) }))
}

/** Files that are on disk and marked so that `git status` does not look at them (assume-unchanged, skip-worktree). */
async function hiddenFiles(at: Git): Promise<string[]> {
  const entries = fieldsOf(await ask(at, ['ls-files', '-v', '-z']))
  return entries
    .filter((entry) => /^[a-zS] /.test(entry))
    .map((entry) => entry.slice(2))
    .filter((path) => entryAt(join(at.cwd, path)) !== undefined)
}

/** Runs `act` where new objects go to a folder that is thrown away: a question adds nothing to the repository. */
export async function withScratchObjects<T>(at: Git, act: (scratch: Git) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'heimdall-objects-'))
  try {
    // Quoted, because a colon or a line feed would end the path.
    const quoted = `"${join(foldersOf(at).commonDir, 'objects').replaceAll(/["\\]/g, '\\$&')}"`
    return await act({
      ...at,
      env: { ...at.env, GIT_OBJECT_DIRECTORY: folder, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted },
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs `act` on a copy of the index; the real one is neither locked nor changed. */
export async function withIndexCopy<T>(at: Git, act: (copy: Git) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'heimdall-index-'))
  try {
    const copy = join(folder, 'index')
    try {
      copyFileSync(join(foldersOf(at).gitDir, 'index'), copy)
    } catch (error) {
      // A checkout that nothing was ever checked out or added in has none.
      if (!isErrno(error, 'ENOENT')) throw error
    }
    return await act(withIndex(at, copy))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const OPERATIONS: readonly (readonly [file: string, what: string])[] = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'cherry-pick or revert'],
  ['BISECT_LOG', 'bisect'],
]

/** The merge, rebase or other operation that somebody has begun there and not ended. */
export function unfinished(at: Git): string | undefined {
  const { gitDir } = foldersOf(at)
  return OPERATIONS.find(([file]) => existsSync(join(gitDir, file)))?.[1]
}
