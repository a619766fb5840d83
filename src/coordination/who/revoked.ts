// Revocation: a revoked agent changes nothing, whatever name it uses next and however often it connects again.
import { HeimdallError } from '../../errors.ts'
import type { Agent, Reader } from '../store.ts'
import type { ProcessRef } from './process-ref.ts'
import type { Place } from './place.ts'

export function revokedError({ haid }: Pick<Agent, 'haid'>): HeimdallError {
  return new HeimdallError('AGENT_REVOKED', `${haid} is revoked and may change nothing`, {
    hint: `heimdall agent reinstate ${haid} lifts it`,
    details: { haid },
  })
}

/**
 * The revoked agent whose process the caller descends from. Agents of one process tree are one agent under several
 * names, so the revocation of one name holds for all of them, and for what the agent starts.
 */
export function revokedAbove(rows: Reader, place: Place | undefined): Agent | undefined {
  if (place === undefined) return undefined
  const above = new Set<ProcessRef | null>([place.tree, ...place.above])
  return rows
    .revokedAgents()
    .find(({ runtime }) => runtime.client === null && (above.has(runtime.process) || above.has(runtime.tree)))
}

/** The revoked identity of an MCP client: the client's own name, or an earlier connection that the same process has opened under it. */
export function revokedClient(
  rows: Reader,
  { haid, client, startedBy }: { haid: string; client: string; startedBy: ProcessRef | undefined },
): Agent | undefined {
  return rows
    .revokedAgents()
    .find(
      (agent) =>
        agent.haid === haid ||
        (startedBy !== undefined && agent.runtime.tree === startedBy && agent.runtime.client === client),
    )
}
