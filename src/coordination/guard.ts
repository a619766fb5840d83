// The last gate before shared history: which paths of a commit collide with whose claims, and what follows from it.
import { scopeOfPath } from '../scopes/scope.ts'
import { type CallOrigin, caller } from './who/caller.ts'
import { caseSensitive } from './claims/check-scopes.ts'
import { type Conflict, type Contest, findConflicts, isBinding, isOwn } from './claims/conflicts.ts'
import type { Coordination } from './coordination.ts'
import { changeAsOther } from './change.ts'
import { recordContest, recordIncursion } from './claims/incursions.ts'
import type { ProcessRef } from './who/process-ref.ts'

/** Who makes the commit. A person has no claims and is warned, never stopped. */
export type Committer =
  | { readonly kind: 'human'; readonly name: string }
  | {
      readonly kind: 'agent'
      readonly haid: string
      readonly agentId: string
      readonly tree?: ProcessRef | undefined
      /** Unproven: somebody who says this name without its secret. None of its claims count as the committer's own. */
      readonly isProven: boolean
      readonly isRevoked: boolean
    }

export interface GuardVerdict {
  /** `warn`: told and recorded, but let through. */
  readonly outcome: 'clear' | 'warn' | 'refuse'
  /** Those that stop an agent come first. */
  readonly collisions: readonly Conflict[]
  /** Other claims on the same paths that are not the holder's; for the record. */
  readonly contests: readonly Contest[]
}

/** Whoever has no name of its own and is a person, by processes. What is neither is nobody in particular, with no claims of its own but everybody's. */
export function committerOf(room: Coordination, asking: CallOrigin, person: () => string | undefined): Committer {
  const found = caller(room, asking)
  const { agent, haid } = found
  const name = found.as === 'everybody' ? person() : undefined
  if (name !== undefined) return { kind: 'human', name }
  return {
    kind: 'agent',
    haid,
    agentId: agent?.agentId ?? haid,
    tree: asking.place?.tree,
    isProven: found.proof !== 'none' && agent?.runtime.endedMs === null && found.refused === undefined,
    isRevoked: found.refused?.error.code === 'AGENT_REVOKED',
  }
}

export interface Made {
  /** Agents whose own claims do not stand in the way, besides the committer's. */
  readonly authors: readonly string[]
  /** Claims from this time on do not count: the change was made before them. */
  readonly atMs: number
}

export function judgePaths(
  room: Coordination,
  committer: Committer,
  paths: readonly string[],
  { authors, atMs }: Made = { authors: [], atMs: Number.POSITIVE_INFINITY },
): GuardVerdict {
  const isSensitive = caseSensitive(room)
  const scopes = paths.map((path) => scopeOfPath(path, { caseSensitive: isSensitive }))
  const isTheirs = (claim: Conflict): boolean =>
    !(committer.kind === 'agent' && committer.isProven && isOwn(room, committer, claim))
  const now = room.now()
  const { holders, contests: all } = room.store.read((rows) => findConflicts(room, rows, scopes, now))
  const found = holders.filter(
    (held) => isTheirs(held) && !authors.includes(held.haid) && Date.parse(held.since) < atMs,
  )
  const contests = all.filter(({ later }) => isTheirs(later))
  const collisions = [...found.filter(isBinding), ...found.filter((conflict) => !isBinding(conflict))]
  if (committer.kind === 'agent' && (committer.isRevoked || found.some(isBinding)))
    return { outcome: 'refuse', collisions, contests }
  return { outcome: collisions.length > 0 ? 'warn' : 'clear', collisions, contests }
}

/** Puts collisions on record, for the owners to see. */
export async function recordCollisions(
  room: Coordination,
  committer: Committer,
  { collisions, contests }: GuardVerdict,
): Promise<void> {
  const incoming =
    committer.kind === 'agent' ? committer : { haid: `human:${committer.name}`, agentId: `human:${committer.name}` }
  const actor = committer.kind === 'agent' ? ({ kind: 'system' } as const) : committer
  await changeAsOther(room, actor, (change) => {
    for (const collision of collisions) recordIncursion(change, incoming, collision)
    for (const contest of contests) recordContest(change, contest)
  })
}
