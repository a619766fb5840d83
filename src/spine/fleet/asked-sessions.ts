// Sessions that are asked themselves: those of no run, of whom nobody else could tell, and those whose last line is wanted.
import { STATUS_ANSWER_MS } from '../../limits.ts'
import { findProjectIfThere, type Project } from '../../paths.ts'
import { findListed, filesIn } from '../../sessions/session-files.ts'
import type { AskedSession, PlainSession } from './facts.ts'

interface PlainOptions {
  readonly dir: string
  /** As they were named before the runs were read. */
  readonly ids: readonly string[]
  readonly project: Project
  readonly isOfRun: (id: string) => boolean
}

export const sessionIds = (dir: string): string[] =>
  filesIn(dir).flatMap((name) => /^(.+)\.sock$/.exec(name)?.[1] ?? [])

/**
 * Sessions that were started in a folder of this project, and belong to no run that goes on. A run has its sheet before
 * it has its session: of a session that was there before sheets were read it is known whose it is.
 */
export async function plainSessions({ dir, ids, project, isOfRun }: PlainOptions): Promise<PlainSession[]> {
  const found = await Promise.all(
    ids
      .filter((id) => !isOfRun(id))
      .map(async (id) => {
        const entry = findListed(dir, id)
        const cwd = entry?.holder?.cwd
        if (entry?.state !== 'running' || cwd === undefined || !isIn(cwd, project)) return undefined
        const info = await ask(dir, id)
        return info?.alive === true ? { ...info, id, dir, cwd } : undefined
      }),
  )
  return found.filter((session) => session !== undefined)
}

export async function askSession({
  dir,
  id,
}: {
  readonly dir: string
  readonly id: string
}): Promise<AskedSession | undefined> {
  return await ask(dir, id)
}

function isIn(cwd: string, project: Project): boolean {
  return findProjectIfThere(cwd, {})?.coordinationDir === project.coordinationDir
}

/** Loaded here: where every session belongs to a run, the watcher has told already. */
async function ask(dir: string, id: string) {
  const { askInfo } = await import('../../sessions/ask-info.ts')
  return await askInfo(dir, id, STATUS_ANSWER_MS)
}
