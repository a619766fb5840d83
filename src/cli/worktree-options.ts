// The worktree of a run or of a worker's tasks, from flags and settings.
import type { RunWish } from '../spine/run-wish.ts'
import type { Context } from './command.ts'

/** `copy`: paths of `--copy`, which have to exist; those of the settings are copied where they do. */
export async function worktreeOptions(
  context: Context,
  base: string | undefined,
  copy: readonly string[],
): Promise<NonNullable<RunWish['worktree']>> {
  const settings = await context.settings()
  const { worktreesDir } = await import('../spine/worktrees/new-place.ts')
  const named = copy.map((path) => ({ path: context.resolve(path), isRequired: true }))
  const always = (settings['worktree.copy'].value as readonly string[]).map((path) => ({ path, isRequired: false }))
  return {
    base,
    dir: worktreesDir(context.env, settings['worktree.dir'].value as string | null, context.cwd),
    copy: [...named, ...always],
    setup: settings['worktree.setup'].value as string | null,
  }
}
