// What an agent has changed since its work forked off, committed or not, as `git diff` tells it.
import { withIndexCopy, withScratchObjects } from './condition.ts'
import { git, type Git } from './git.ts'
import type { WorktreeStanding } from './standing.ts'

/**
 * Hands `act` a checkout in which `git diff` followed by the given words shows everything. Untracked files are entered
 * in a copy of the index, by name alone: nothing is added to the repository.
 */
export async function withWholeDiff<T>(
  at: Git,
  { worktree, presence, fork, tip, untracked }: WorktreeStanding,
  act: (where: Git, range: readonly string[]) => Promise<T>,
): Promise<T | undefined> {
  if (fork === undefined || tip === undefined) return undefined
  if (presence !== 'ready') return act(at, [fork, tip])
  const here = { ...at, cwd: worktree.path }
  return withScratchObjects(here, (scratch) =>
    withIndexCopy(scratch, async (copy) => {
      if (untracked.length > 0)
        await git(
          { ...copy, env: { ...copy.env, GIT_LITERAL_PATHSPECS: '1' } },
          ['add', '--intent-to-add', '--pathspec-from-file=-', '--pathspec-file-nul'],
          { input: `${untracked.join('\0')}\0` },
        )
      return act(copy, [fork])
    }),
  )
}
