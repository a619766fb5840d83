// The last gate before shared history: which paths of a commit collide with whose claims, and what follows from it.
import { scopeOfPath } from '../scopes/scope.ts'
import { caseSensitive } from './check.ts'
import { type Conflict, type Contest, findConflicts, isBinding } from './conflicts.ts'
import type { Coordination } from './coordination.ts'
import { changeAsOther, findAgent, isProven } from './gate.ts'
import { recordContest, recordIncursion } from './incursions.ts'

/** Who makes the commit. A person has no claims and is warned, never stopped. */
export type Committer =
  | { readonly kind: 'human'; readonly name: string }
  | {
      readonly kind: 'agent'
      readonly haid: string
      readonly agentId: string
      /** Unproven: somebody who says this name without its secret. None of its claims count as the committer's own. */
      readonly isProven: boolean
      readonly isRevoked: boolean
    }

export interface Verdict {
  /** `warn`: told and recorded, but let through. */
  readonly outcome: 'clear' | 'warn' | 'refuse'
  /** Those that stop an agent come first. */
  readonly collisions: readonly Conflict[]
  /** Other claims on the same paths that are not the holder's; for the record. */
  readonly contests: readonly Contest[]
}

/** The agent that `name` (an agent id or HAID) stands for, as far as the secret proves it. */
export function committerOf(room: Coordination, name: string, secret: string | undefined): Committer {
  const agent = room.store.read((rows) => findAgent(rows, name))
  if (agent === undefined) return { kind: 'agent', haid: name, agentId: name, isProven: false, isRevoked: false }
  return {
    kind: 'agent',
    haid: agent.haid,
    agentId: agent.agentId,
    isProven: secret !== undefined && isProven(agent, secret),
    isRevoked: agent.revokedMs !== null,
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
): Verdict {
  const isSensitive = caseSensitive(room)
  const scopes = paths.map((path) => scopeOfPath(path, { caseSensitive: isSensitive }))
  const own = ownHaid(committer)
  const now = room.now()
  const { holders, contests: all } = room.store.read((rows) => findConflicts(room, rows, scopes, now))
  const found = holders.filter(({ haid, since }) => haid !== own && !authors.includes(haid) && Date.parse(since) < atMs)
  const contests = all.filter(({ later }) => later.haid !== own)
  const collisions = [...found.filter(isBinding), ...found.filter((conflict) => !isBinding(conflict))]
  if (committer.kind === 'agent' && (committer.isRevoked || found.some(isBinding)))
    return { outcome: 'refuse', collisions, contests }
  return { outcome: collisions.length > 0 ? 'warn' : 'clear', collisions, contests }
}

function ownHaid(committer: Committer): string | null {
  return committer.kind === 'agent' && committer.isProven ? committer.haid : null
}

/** Puts collisions on record, for the owners to see. */
export function recordCollisions(room: Coordination, committer: Committer, { collisions, contests }: Verdict): void {
  const incoming =
    committer.kind === 'agent' ? committer : { haid: `human:${committer.name}`, agentId: `human:${committer.name}` }
  const actor = committer.kind === 'agent' ? ({ kind: 'system' } as const) : committer
  changeAsOther(room, actor, (change) => {
    for (const collision of collisions) recordIncursion(change, incoming, collision)
    for (const contest of contests) recordContest(change, contest)
  })
}
