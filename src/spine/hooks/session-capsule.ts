// What a session leaves for itself before its memory is compacted: a capsule with what it holds, by which its next part finds its way.
import { writeCapsule } from '../../briefing/capsules.ts'
import { openPlanning } from '../../briefing/planning.ts'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { isId } from '../../ids.ts'
import { HOOK_BRIEF_LINES_MAX } from '../../limits.ts'
import type { Project } from '../../paths.ts'

export function writeSessionCapsule(
  project: Project,
  clock: Clock,
  note: (line: string) => void,
  agentId: string,
  held: readonly string[],
): void {
  const id = `session-${agentId}`
  if (!isId(id)) return
  const rest = held.length - HOOK_BRIEF_LINES_MAX
  const where = held.slice(0, HOOK_BRIEF_LINES_MAX).join(' ') + (rest > 0 ? ` and ${rest} more` : '')
  try {
    writeCapsule(openPlanning(project, clock, note), id, {
      what: `${agentId} was at work when its talk was compacted`,
      where: where === '' ? undefined : where.replace(/[^ -~]/gu, '?'),
      depends: [],
    })
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    note(`no capsule was written: ${error.message}`)
  }
}
