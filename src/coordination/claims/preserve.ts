// Displaced work kept on a branch: what an agent had done and not committed, as a commit that nothing else points to.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HeimdallError, isErrno } from '../../errors.ts'
import type { Env } from '../../paths.ts'

export interface Preserved {
  readonly branch: string
  readonly commit: string
  /** False where an earlier conflict has kept the very same work. */
  readonly isNew: boolean
}

/**
 * Makes `branch` (or the next free name after it) at the worktree's HEAD with the given paths as they are on disk.
 * Neither index, working tree nor current branch change, so it is safe in the middle of a merge or a rebase.
 */
export function preserveOnBranch(
  worktree: string,
  env: Env,
  request: { readonly branch: string; readonly paths: readonly string[]; readonly message: string },
): Preserved {
  const folder = mkdtempSync(join(tmpdir(), 'heimdall-index-'))
  try {
    const git = gitIn(worktree, { ...env, GIT_INDEX_FILE: join(folder, 'index'), GIT_LITERAL_PATHSPECS: '1' })
    if (git(['rev-parse', '--is-inside-work-tree'], { otherwise: 'false' }) !== 'true')
      throw new HeimdallError('GIT_FAILED', `${worktree} is not a working tree`, { hint: HINT })
    const head = git(['rev-parse', '--quiet', '--verify', 'HEAD^{commit}'], { otherwise: '' })
    git(head === '' ? ['read-tree', '--empty'] : ['read-tree', head])
    if (request.paths.length > 0)
      git(['add', '--all', '--force', '--pathspec-from-file=-', '--pathspec-file-nul'], {
        input: `${request.paths.join('\0')}\0`,
      })
    const tree = git(['write-tree'])
    const isUnchanged = head !== '' && git(['rev-parse', `${head}^{tree}`]) === tree
    const commit = isUnchanged
      ? head
      : git(['commit-tree', tree, ...(head === '' ? [] : ['-p', head]), '-m', request.message])
    return { ...createBranch(git, request.branch, commit), commit }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Undoes `preserveOnBranch`, unless the branch was there before or has moved since. */
export function dropBranch(worktree: string, env: Env, { branch, commit, isNew }: Preserved): void {
  if (isNew) gitIn(worktree, env)(['update-ref', '-d', `refs/heads/${branch}`, commit])
}

const HINT = 'displaced work can only be kept in a git repository with a working tree'

type Git = (args: readonly string[], options?: { input?: string; otherwise?: string }) => string

/** A branch is only ever created: work that was preserved before stays where it is. */
function createBranch(git: Git, wanted: string, commit: string): Pick<Preserved, 'branch' | 'isNew'> {
  for (let number = 1; ; number += 1) {
    const branch = number === 1 ? wanted : `${wanted}-${number}`
    const known = git(['rev-parse', '--quiet', '--verify', `refs/heads/${branch}`], { otherwise: '' })
    if (known === commit) return { branch, isNew: false }
    if (known === '') {
      git(['update-ref', `refs/heads/${branch}`, commit, ''])
      return { branch, isNew: true }
    }
  }
}

/** Commits carry a name even where none is configured: preserving must not fail for want of one. */
const FALLBACK = {
  GIT_AUTHOR_NAME: 'heimdall',
  GIT_AUTHOR_EMAIL: 'heimdall@localhost',
  GIT_COMMITTER_NAME: 'heimdall',
  GIT_COMMITTER_EMAIL: 'heimdall@localhost',
}

function gitIn(cwd: string, env: Env): Git {
  return (args, { input = '', otherwise } = {}) => {
    try {
      return execFileSync('git', [...args], {
        cwd,
        env: { ...FALLBACK, ...env },
        encoding: 'utf8',
        maxBuffer: 64 << 20,
        input,
        stdio: ['pipe', 'pipe', 'pipe'],
      }).trim()
    } catch (error) {
      const status = error instanceof Error && 'status' in error ? error.status : undefined
      // `--quiet --verify` says "no such thing" with exit 1 and nothing else.
      if (otherwise !== undefined && status === 1) return otherwise
      const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : ''
      throw new HeimdallError(
        'GIT_FAILED',
        isErrno(error, 'ENOENT')
          ? 'git is not installed, or its folder is gone'
          : `git ${args[0] ?? ''}: ${stderr ?? ''}`,
        { hint: HINT, cause: error },
      )
    }
  }
}
