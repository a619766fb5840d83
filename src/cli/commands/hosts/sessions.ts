// heimdall hosts: which host sessions are at work here, and how well each of them is guarded.
import { iso } from '../../../coordination/moment.ts'
import { allTrails, type Trail } from '../../../coordination/trail.ts'
import { fateOf, pidOf } from '../../../coordination/who/process-ref.ts'
import { findProject, type Project } from '../../../paths.ts'
import { coverageOf } from '../../../spine/hooks/coverage.ts'
import type { Run } from '../../command.ts'
import type { hostSessions } from '../../table/hooks.ts'

export const run: Run<typeof hostSessions> = async ({ cwd, env }) => {
  const project = findProject(cwd, env)
  const sessions = allTrails(project).flatMap((trail) => sessionOf(project, trail))
  const alive = sessions.filter((session) => session.alive)
  const state = alive.length === 0 ? null : alive.some((one) => one.state === 'advisory') ? 'advisory' : 'guarded'
  return {
    data: { state, sessions },
    text: sessions.length === 0 ? 'no hook of a host was ever called here' : sessions.map(lineOf).join('\n'),
  }
}

interface Session extends ReturnType<typeof coverageOf> {
  readonly host: string
  readonly agent_id: string | null
  readonly session: string | null
  readonly pid: number | null
  readonly alive: boolean
  readonly last_event: string
  readonly last_event_at: string
}

function sessionOf(project: Project, trail: Trail): Session[] {
  const last = trail.lines.at(-1)
  if (last === undefined) return []
  const pid = pidOf(trail.tree)
  return [
    {
      host: last.host,
      agent_id: trail.lines.findLast(({ agent }) => agent !== undefined)?.agent ?? null,
      session: last.session ?? null,
      pid: Number.isNaN(pid) ? null : pid,
      alive: fateOf(trail.tree) !== 'gone' && last.event !== 'session-end',
      ...coverageOf(project, trail),
      last_event: last.event,
      last_event_at: iso(last.at),
    },
  ]
}

const lineOf = ({ host, agent_id: agent, state, rung, why, alive, last_event_at: at }: Session): string =>
  `${agent ?? '?'}\t${host}\t${alive ? state : 'ended'}\tL${rung}\t${why}\t${at}`
