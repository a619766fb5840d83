// What stands in the way of a claim: every other holder's overlapping claim, with what is needed to decide and to tell.
import { CONFLICT_PAIRS_MAX } from '../limits.ts'
import { overlap } from '../scopes/overlap.ts'
import type { Scope } from '../scopes/scope.ts'
import type { Coordination } from './coordination.ts'
import { expiresMs, isLapsed, type Liveness, livenessOf, silenceMs } from './liveness.ts'
import { iso, type Moment, sinceMs } from './moment.ts'
import type { Agent, Claim, Reader } from './store.ts'

export interface ScopePair {
  readonly kind: 'exact' | 'partial'
  /** The holder's scope, as the holder typed it. */
  readonly held: string
  /** The scope that was asked for, as typed. */
  readonly wanted: string
  /** A path inside both. */
  readonly witness: string
}

export interface Conflict extends ScopePair {
  readonly claimId: string
  readonly epoch: number
  readonly haid: string
  readonly agentId: string
  readonly liveness: Liveness
  readonly lease: 'live' | 'lapsed'
  readonly since: string
  readonly expiresAt: string
  readonly task: string | null
  readonly intent: string | null
  readonly origin: 'local' | 'remote'
  /** All colliding pairs, the strongest first, at most `CONFLICT_PAIRS_MAX`. */
  readonly pairs: readonly ScopePair[]
}

/** A claim with everything that depends on the time of asking. */
export interface Standing {
  readonly claim: Claim
  readonly agentId: string
  readonly liveness: Liveness
  readonly lease: 'live' | 'lapsed'
  readonly expiresAt: string
  readonly lastSeenAt: string
  /** HAID of a holder that claims over MCP. */
  readonly via: string | null
}

export function standingOf(room: Pick<Coordination, 'staleMs'>, rows: Reader, claim: Claim, now: Moment): Standing {
  const holder = rows.agent(claim.holder)
  // A holder that nobody knows is evicted, which still needs the flag: unknown never means free.
  if (holder === undefined)
    return {
      claim,
      agentId: claim.holder,
      liveness: 'evicted',
      lease: 'live',
      expiresAt: iso(expiresMs(claim.granted.wallMs, claim.ttlMinutes, claim.granted.wallMs)),
      lastSeenAt: iso(claim.granted.wallMs),
      via: null,
    }
  return standingWith(room, holder, claim, now)
}

function standingWith(room: Pick<Coordination, 'staleMs'>, holder: Agent, claim: Claim, now: Moment): Standing {
  const silentMs = silenceMs(holder.beat, holder.seen, now)
  const lastSeenMs = Math.min(holder.beat.at.wallMs, now.wallMs)
  return {
    claim,
    agentId: holder.agentId,
    liveness: livenessOf(silentMs, room.staleMs),
    lease: isLapsed(silentMs, claim.ttlMinutes, sinceMs(claim.granted, now)) ? 'lapsed' : 'live',
    expiresAt: iso(expiresMs(lastSeenMs, claim.ttlMinutes, claim.granted.wallMs)),
    lastSeenAt: iso(lastSeenMs),
    via: holder.session.client === null ? null : holder.haid,
  }
}

/** Every claim of somebody else than `holder` that shares a path with one of `scopes`, in order of epoch. */
export function findConflicts(
  room: Pick<Coordination, 'staleMs'>,
  rows: Reader,
  holder: string | null,
  scopes: readonly Scope[],
  now: Moment,
): Conflict[] {
  const conflicts: Conflict[] = []
  for (const claim of rows.candidates([...new Set(scopes.map((scope) => scope.base))])) {
    if (claim.holder === holder) continue
    const pairs = pairsOf(claim.scopes, scopes)
    const [strongest] = pairs
    if (strongest === undefined) continue
    const standing = standingOf(room, rows, claim, now)
    conflicts.push({
      ...strongest,
      claimId: claim.claimId,
      epoch: claim.epoch,
      haid: claim.holder,
      agentId: standing.agentId,
      liveness: standing.liveness,
      lease: standing.lease,
      since: iso(claim.createdMs),
      expiresAt: standing.expiresAt,
      task: claim.task,
      intent: claim.intent,
      origin: claim.origin,
      pairs,
    })
  }
  return conflicts
}

function pairsOf(held: readonly Scope[], wanted: readonly Scope[]): ScopePair[] {
  const pairs: ScopePair[] = []
  for (const theirs of held)
    for (const ours of wanted) {
      const found = overlap(theirs, ours)
      if (found.kind === 'disjoint') continue
      pairs.push({ kind: found.kind, held: theirs.raw, wanted: ours.raw, witness: found.witness })
      if (pairs.length >= CONFLICT_PAIRS_MAX) break
    }
  return pairs.sort((a, b) => Number(b.kind === 'exact') - Number(a.kind === 'exact')).slice(0, CONFLICT_PAIRS_MAX)
}
