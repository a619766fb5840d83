// Which workers have agents at work close to what a task is about: their claims touch its scopes.
import { checkScopes } from '../coordination/claims/check-scopes.ts'
import type { Coordination } from '../coordination/coordination.ts'

/** Agents that hold something there, by id. Scopes that nobody could claim are refused. */
export function holdersNear(room: Coordination, scopes: readonly string[]): readonly string[] {
  if (scopes.length === 0) return []
  return checkScopes(room, { scopes, cwd: room.project.root, asker: null }).conflicts.map(({ agentId }) => agentId)
}

/** Agents of a worker are named after it. */
export const nearOf = (holders: readonly string[], workerId: string): number =>
  holders.filter((agentId) => agentId === workerId || agentId.startsWith(`${workerId}-`)).length
