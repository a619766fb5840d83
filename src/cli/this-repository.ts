// The scope of commands over runs: those of the repository in the working folder, or all of them.
import { HeimdallError } from '../errors.ts'
import { findProject } from '../paths.ts'
import { Repositories, type RunOrigin } from '../runs/run-project.ts'
import type { Context } from './command.ts'

export interface RunScope {
  /** Undefined for runs of all repositories. */
  readonly has: ((origin: RunOrigin) => boolean) | undefined
  /** The main checkout of a run's repository, or null. */
  readonly pathOf: (origin: RunOrigin) => string | null
}

/** All runs with --all-projects, outside of a git repository, and where the working folder is gone. */
export async function runScope(context: Context, isAll: boolean): Promise<RunScope> {
  const { env } = context
  const repositories = new Repositories(env)
  const pathOf = (origin: RunOrigin): string | null => repositories.pathOf(origin)
  const project = isAll ? undefined : unlessRefused(() => findProject(context.cwd, env))
  if (project?.gitCommonDir === undefined) return { has: undefined, pathOf }
  const [{ projectHaid }, { readMachine }] = await Promise.all([
    import('../coordination/coordination.ts'),
    import('../coordination/moment.ts'),
  ])
  // A machine whose name gives no HAID has runs without one.
  const rootHaid = unlessRefused(() => projectHaid(project, env, readMachine()))
  return { has: (origin) => repositories.isOf(origin, project, rootHaid), pathOf }
}

function unlessRefused<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code === 'INTERNAL') throw error
    return undefined
  }
}
