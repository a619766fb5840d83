// Uncommitted changes of a project, as git sees them: evidence for adoption, and a warning at a takeover.
import { execFileSync } from 'node:child_process'
import { HeimdallError, isErrno } from '../../errors.ts'
import type { Project } from '../../paths.ts'
import { overlap } from '../../scopes/overlap.ts'
import { type Scope, scopeOfPath } from '../../scopes/scope.ts'

/** Changed, staged and untracked paths relative to the root; both names of a rename. Nothing where there is no git. */
export function dirtyPaths(project: Project): string[] {
  if (project.gitCommonDir === undefined) return []
  const output = gitStatus(project)
  const fields = output.split('\0')
  const paths: string[] = []
  for (let i = 0; i < fields.length; i += 1) {
    const field = fields[i] ?? ''
    if (field.length < 4) continue
    paths.push(field.slice(3))
    // With -z the old name of a rename or copy is the next field.
    if (/[RC]/.test(field.slice(0, 2))) {
      i += 1
      paths.push(fields[i] ?? '')
    }
  }
  return paths
}

/** Those of the dirty paths that lie in one of the scopes. */
export function pathsWithin(paths: readonly string[], scopes: readonly Scope[], caseSensitive: boolean): string[] {
  return paths.filter((path) => {
    const literal = scopeOfPath(path, { caseSensitive })
    return scopes.some((scope) => overlap(scope, literal).kind !== 'disjoint')
  })
}

function gitStatus(project: Project): string {
  try {
    return execFileSync(
      'git',
      ['--no-optional-locks', '-C', project.root, 'status', '--porcelain=v1', '-z', '--untracked-files=all'],
      { encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'pipe'] },
    )
  } catch (error) {
    // No git program: then nobody can show uncommitted changes.
    if (isErrno(error, 'ENOENT')) return ''
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : ''
    throw new HeimdallError('GIT_FAILED', `git status: ${stderr ?? ''}`, {
      hint: 'the worktree may be gone, or its repository broken: git worktree list',
      cause: error,
    })
  }
}
