// What stands in the way of a claim: every other holder's overlapping claim, with what is needed to decide and to tell.
import { CONFLICT_PAIRS_MAX } from '../../limits.ts'
import { baseQuery } from '../../scopes/base.ts'
import { overlap } from '../../scopes/overlap.ts'
import { type Scope, scopeOfPath } from '../../scopes/scope.ts'
import { livenessIn, type Observer } from '../who/alive.ts'
import type { Coordination } from '../coordination.ts'
import { diskLookup } from './lookup.ts'
import { expiresMs, isLapsed, type Liveness, silenceMs } from '../who/liveness.ts'
import { iso, type Moment, sinceMs } from '../moment.ts'
import type { ProcessRef } from '../who/process-ref.ts'
import type { Agent, Claim, Reader } from '../store.ts'

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
  /** The process tree that it was claimed from. */
  readonly tree: ProcessRef | null
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

export function standingNow(room: Pick<Coordination, 'store' | 'now'> & Observer, claim: Claim): Standing {
  const now = room.now()
  return room.store.read((rows) => standingOf(room, rows, claim, now))
}

export function standingOf(observer: Observer, rows: Reader, claim: Claim, now: Moment): Standing {
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
  return standingWith(observer, rows, holder, claim, now)
}

function standingWith(observer: Observer, rows: Reader, holder: Agent, claim: Claim, now: Moment): Standing {
  const silentMs = silenceMs(holder.beat, holder.seen, now)
  const lastSeenMs = Math.min(holder.beat.at.wallMs, now.wallMs)
  return {
    claim,
    agentId: holder.agentId,
    liveness: livenessIn(observer, rows, holder, now),
    lease: isLapsed(silentMs, claim.ttlMinutes, sinceMs(claim.granted, now)) ? 'lapsed' : 'live',
    expiresAt: iso(expiresMs(lastSeenMs, claim.ttlMinutes, claim.granted.wallMs)),
    lastSeenAt: iso(lastSeenMs),
    via: holder.runtime.client === null ? null : holder.haid,
  }
}

/** An owner that is long gone, or silent with its lease run out, is reported and stands in nobody's way. */
export function isBinding({ liveness, lease }: Pick<Conflict, 'liveness' | 'lease'>): boolean {
  return liveness === 'active' || (liveness === 'stale' && lease === 'live')
}

/** Who asks, and where from. */
export interface Asker {
  readonly haid: string
  readonly tree?: ProcessRef | undefined
  readonly task?: string | null
}

/**
 * A HAID without a suffix is what everybody of one human on one machine starts as. Two process trees of it that work
 * on different things are two holders, as soon as they meet; a tree that is gone meets nobody.
 */
export function isOwn(
  { fateOf }: Pick<Observer, 'fateOf'>,
  { haid, tree, task = null }: Asker,
  claim: Pick<Conflict, 'haid' | 'tree' | 'task'>,
): boolean {
  if (claim.haid !== haid) return false
  if (haid.includes('/') || tree === undefined || claim.tree === null || claim.tree === tree) return true
  return (task !== null && claim.task === task) || fateOf(claim.tree) === 'gone'
}

export interface ClaimOverlaps {
  /** Claims that hold a path of what was asked about, in order of epoch. No path has two holders. */
  readonly holders: readonly Conflict[]
  /** Claims on paths that are another's all the same. */
  readonly contests: readonly Contest[]
}

/**
 * Two claims on one path: a folder appeared under a file's name, or a claim arrived by git. Whoever claimed first holds
 * the path; `later` is the other one.
 */
export interface Contest {
  readonly holder: Conflict
  readonly later: Conflict
}

interface Held {
  readonly conflict: Conflict
  readonly scopes: readonly Scope[]
}

/** Every claim that shares a path with one of `scopes`, whoever has it. */
export function findConflicts(
  room: Observer & Pick<Coordination, 'project'>,
  rows: Reader,
  scopes: readonly Scope[],
  now: Moment,
): ClaimOverlaps {
  const disk = diskLookup(room.project.root)
  const isFolder = (path: string): boolean => disk.look(path).kind === 'dir'
  const found: Held[] = []
  for (const claim of rows.candidates([...new Set(scopes.map((scope) => scope.base))])) {
    const pairs = pairsOf(claim.scopes, scopes, isFolder)
    const [strongest] = pairs
    if (strongest !== undefined)
      found.push({
        conflict: conflictOf(standingOf(room, rows, claim, now), strongest, pairs),
        scopes: claim.scopes,
      })
  }
  return found.length < 2 ? { holders: found.map(({ conflict }) => conflict), contests: [] } : settle(found)
}

/** A claim that binds goes before one that does not; then the earlier epoch holds. */
function settle(found: readonly Held[]): ClaimOverlaps {
  const byBase = new Map<string, { conflict: Conflict; scope: Scope }[]>()
  for (const { conflict, scopes } of found)
    for (const scope of scopes) {
      const known = byBase.get(scope.base)
      if (known === undefined) byBase.set(scope.base, [{ conflict, scope }])
      else known.push({ conflict, scope })
    }
  const holders: Conflict[] = []
  const contests: Contest[] = []
  for (const { conflict } of found) {
    const own: ScopePair[] = []
    let holder: Conflict | undefined
    for (const pair of conflict.pairs) {
      const first = holderBefore(byBase, conflict, pair.witness)
      if (first === undefined) own.push(pair)
      holder ??= first
    }
    if (holder !== undefined) contests.push({ holder, later: conflict })
    const [strongest] = own
    if (strongest !== undefined) holders.push({ ...conflict, ...strongest, pairs: own })
  }
  return { holders, contests }
}

/** Somebody else's claim on the path that goes before this one. */
function holderBefore(
  byBase: ReadonlyMap<string, readonly { conflict: Conflict; scope: Scope }[]>,
  later: Conflict,
  witness: string,
): Conflict | undefined {
  // The witness was folded with the scopes that it lies in, if at all.
  const path = scopeOfPath(witness, { caseSensitive: true })
  return (
    [...baseQuery(path.base).atOrAbove, witness]
      .flatMap((base) => byBase.get(base) ?? [])
      .filter(({ conflict }) => conflict.haid !== later.haid && precedes(conflict, later))
      // Symbols of one file are held side by side.
      .filter(({ scope }) => scope.symbol === null)
      .filter(({ scope }) => scope.canonical === witness || overlap(scope, path).kind !== 'disjoint')
      .map(({ conflict }) => conflict)
      .sort((a, b) => (precedes(a, b) ? -1 : 1))[0]
  )
}

function precedes(a: Conflict, b: Conflict): boolean {
  return isBinding(a) === isBinding(b) ? a.epoch < b.epoch : isBinding(a)
}

function conflictOf(standing: Standing, strongest: ScopePair, pairs: readonly ScopePair[]): Conflict {
  const { claim } = standing
  return {
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
    tree: claim.tree,
    pairs,
  }
}

function pairsOf(held: readonly Scope[], wanted: readonly Scope[], isFolder: (path: string) => boolean): ScopePair[] {
  const pairs: ScopePair[] = []
  for (const theirs of held)
    for (const ours of wanted) {
      const found = overlap(theirs, ours, isFolder)
      if (found.kind === 'disjoint') continue
      pairs.push({ kind: found.kind, held: theirs.raw, wanted: ours.raw, witness: found.witness })
      if (pairs.length >= CONFLICT_PAIRS_MAX) break
    }
  return pairs.sort((a, b) => Number(b.kind === 'exact') - Number(a.kind === 'exact')).slice(0, CONFLICT_PAIRS_MAX)
}
