// Who holds a path, from what the hub says of claims and incursions. Overlap itself is decided by the hub.
import type { ClaimsReply, ClaimCard } from '../../../src/hub/contract.ts'
import type { TreeNode } from './tree.ts'

export interface ClaimFacts {
  readonly byId: ReadonlyMap<string, ClaimCard>
  /** Open incursions by the path they are about. */
  readonly collisions: ReadonlyMap<string, ClaimsReply['incursions'][number]>
}

export interface Holding {
  readonly holders: readonly string[]
  readonly isStale: boolean
  readonly isCollision: boolean
  /** Of a collision: who holds and who wants. */
  readonly names: readonly string[]
}

export function factsOf({ claims, incursions }: ClaimsReply): ClaimFacts {
  return {
    byId: new Map(claims.map((claim) => [claim.claim_id, claim])),
    collisions: new Map(
      incursions
        .filter(({ is_open }) => is_open)
        .map((incursion) => [incursion.scope.replace(/\/\*{1,2}$/, ''), incursion]),
    ),
  }
}

export function holdingOf(
  { path, claims }: Pick<TreeNode, 'path' | 'claims'>,
  { byId, collisions }: ClaimFacts,
): Holding {
  const held = claims.flatMap((id) => byId.get(id) ?? [])
  const incursion = collisions.get(path)
  return {
    holders: [...new Set(held.map(({ agent_id }) => agent_id))],
    isStale: held.some(({ liveness, lease }) => liveness !== 'active' || lease !== 'live'),
    isCollision: incursion !== undefined,
    names: incursion === undefined ? [] : [incursion.owner, incursion.incoming],
  }
}
