// The last gate before shared history: which paths of a commit collide with whose claims, and what follows from it.
import { scopeOfPath } from '../scopes/scope.ts'
import { caseSensitive, checkParsed } from './claims.ts'
import type { Conflict } from './conflicts.ts'
import type { Coordination } from './coordination.ts'
import { changeAsOther, findAgent, isProven } from './gate.ts'
import { recordIncursion } from './incursions.ts'

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
  const found = checkParsed(room, scopes, ownHaid(committer)).filter(
    ({ haid, since }) => !authors.includes(haid) && Date.parse(since) < atMs,
  )
  const collisions = [...found.filter(isBinding), ...found.filter((conflict) => !isBinding(conflict))]
  if (committer.kind === 'agent' && (committer.isRevoked || found.some(isBinding)))
    return { outcome: 'refuse', collisions }
  return { outcome: collisions.length > 0 ? 'warn' : 'clear', collisions }
}

function ownHaid(committer: Committer): string | null {
  return committer.kind === 'agent' && committer.isProven ? committer.haid : null
}

/** An owner that is long gone, or silent with its lease run out, is reported and does not stop anybody's commit. */
function isBinding({ liveness, lease }: Conflict): boolean {
  return liveness === 'active' || (liveness === 'stale' && lease === 'live')
}

/** Puts collisions on record, for the owner to see. Returns how many there were. */
export function recordCollisions(room: Coordination, committer: Committer, collisions: readonly Conflict[]): number {
  const incoming =
    committer.kind === 'agent' ? committer : { haid: `human:${committer.name}`, agentId: `human:${committer.name}` }
  const actor = committer.kind === 'agent' ? ({ kind: 'system' } as const) : committer
  changeAsOther(room, actor, (change) => {
    for (const collision of collisions) recordIncursion(change, incoming, collision)
  })
  return collisions.length
}
