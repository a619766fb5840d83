// Who of the agents is guarded, as the trails of hooks tell it: by the name that a host's session has given itself.
import { allTrails } from '../../coordination/trail.ts'
import { fateOf } from '../../coordination/who/process-ref.ts'
import type { Project } from '../../paths.ts'
import { coverageOf } from '../hooks/coverage.ts'
import type { Guard } from './fleet.ts'

/** By agent, of hosts that live; of two sessions of one agent the weaker counts. */
export function guardsIn(project: Project): ReadonlyMap<string, Guard> {
  const guards = new Map<string, Guard>()
  for (const trail of allTrails(project)) {
    const agent = trail.lines.findLast((line) => line.agent !== undefined)?.agent
    const last = trail.lines.at(-1)
    if (agent === undefined || last === undefined) continue
    if (last.event === 'session-end' || fateOf(trail.tree) === 'gone') continue
    const { state, why } = coverageOf(project, trail)
    if (guards.get(agent)?.kind === 'advisory') continue
    guards.set(agent, { kind: state, by: state === 'guarded' ? [`hooks of ${last.host}`] : [], evidence: why })
  }
  return guards
}
