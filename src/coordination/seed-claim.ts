// A claim as seed 000 T-2 writes it: the object of claim files, `heimdall-claim list --json` and `read_claims`.
import { isoSeconds } from '../clock.ts'
import { readHaid } from './haid.ts'
import type { Standing } from './conflicts.ts'
import type { Agent } from './store.ts'

export interface SeedClaim {
  readonly haid: string
  readonly human: string
  readonly claimed_surfaces: readonly string[]
  readonly task_ref: string
  readonly claimed_at: string
  readonly ttl_minutes: number
  readonly heartbeat: string
  /** Ours, additive. */
  readonly claim_id: string
  readonly epoch: number
  readonly agent_id: string
  readonly liveness: string
  readonly expires_at: string
}

export function seedClaim(
  { claim, agentId, liveness, expiresAt, lastSeenAt }: Standing,
  holder: Agent | undefined,
): SeedClaim {
  return {
    haid: claim.holder,
    human: readHaid(claim.holder)?.human ?? 'unknown',
    claimed_surfaces: claim.scopes.map(({ raw }) => raw),
    task_ref: taskRef(claim.task, holder),
    claimed_at: isoSeconds(claim.createdMs),
    ttl_minutes: claim.ttlMinutes,
    heartbeat: `${lastSeenAt.slice(0, 19)}Z`,
    claim_id: claim.claimId,
    epoch: claim.epoch,
    agent_id: agentId,
    liveness,
    expires_at: `${expiresAt.slice(0, 19)}Z`,
  }
}

/** T-4: the HAID of a client that claims over MCP is woven into the reference, so that older readers see it too. */
export function taskRef(task: string | null, holder: Agent | undefined): string {
  const name = task ?? 'none'
  return holder === undefined || holder.session.client === null
    ? name
    : `${name} (via heimdall-ledger-mcp:${holder.haid})`
}
