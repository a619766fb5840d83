// Host sessions of a repository, from the hooks that they called.
import { iso } from '../../coordination/moment.ts'
import { allTrails } from '../../coordination/trail.ts'
import { fateOf, pidOf } from '../../coordination/who/process-ref.ts'
import type { Project } from '../../paths.ts'
import { coverageOf, type Rung } from './coverage.ts'

interface HostSession {
  readonly host: string
  readonly agent_id: string | null
  readonly session: string | null
  readonly pid: number | null
  readonly alive: boolean
  readonly state: 'guarded' | 'advisory'
  /** What is checked: 0 nothing, 1 edits, 2 edits and shell commands, 3 other writes are detected too. */
  readonly level: Rung
  readonly why: string
  readonly last_event: string
  readonly last_event_at: string
}

export function hostSessions(project: Project): HostSession[] {
  return allTrails(project).flatMap((trail) => {
    const last = trail.lines.at(-1)
    if (last === undefined) return []
    const pid = pidOf(trail.tree)
    const { state, rung: level, why } = coverageOf(project, trail)
    return [
      {
        host: last.host,
        agent_id: trail.lines.findLast(({ agent }) => agent !== undefined)?.agent ?? null,
        session: last.session ?? null,
        pid: Number.isNaN(pid) ? null : pid,
        alive: fateOf(trail.tree) !== 'gone' && last.event !== 'session-end',
        state,
        level,
        why,
        last_event: last.event,
        last_event_at: iso(last.at),
      },
    ]
  })
}
