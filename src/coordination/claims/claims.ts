// Claims: who holds which scopes. One engine for every door; a grant is exclusive, fenced by its epoch, and all or nothing.
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { LABEL_CHARS_MAX } from '../../limits.ts'
import { isBroad, parseScopes, type Scope } from '../../scopes/scope.ts'
import { CASE_SETTING, contextFor } from './check-scopes.ts'
import {
  type Asker,
  type Conflict,
  type ClaimOverlaps,
  findConflicts,
  isOwn,
  type Standing,
  standingOf,
} from './conflicts.ts'
import type { Coordination } from '../coordination.ts'
import { dirtyPaths, pathsWithin } from './dirty.ts'
import { type AgentActor, type Change, changeAs, changeAsOther } from '../change.ts'
import { checkTtl, endClaim } from './held.ts'
import { recordContest, recordIncursion } from './incursions.ts'
import type { Moment } from '../moment.ts'
import type { ProcessRef } from '../who/process-ref.ts'
import type { Agent, Claim, Reader } from '../store.ts'
import { surfaceOf } from './surface.ts'
import { type SetApart, setApart } from '../who/tree-identity.ts'

export interface ClaimRequest {
  readonly scopes: readonly string[]
  /** Folder that relative scopes start in. */
  readonly cwd: string
  readonly task: string | null
  readonly intent?: string | undefined
  readonly ttlMinutes: number
  /** `stale`: take from silent owners. `force`: a person takes from whomever; recorded with name and reason. */
  readonly takeover?: 'stale' | { readonly force: string; readonly reason: string } | undefined
  /** Seed 000's doors archive the lapsed claim of a silent owner by themselves; seed 002's want the flag. */
  readonly archivesLapsed?: boolean | undefined
  /** Seed 000's doors: a new claim for the same task stands in for the earlier one. */
  readonly replacesTask?: boolean | undefined
}

export interface Grant {
  readonly granted: true
  readonly claim: Claim
  /** The same scopes were held already: the lease was renewed, and the epoch is the old one. */
  readonly renewed: boolean
  readonly displaced: readonly Conflict[]
  /** The holder's own earlier claims for the same task, or for none, that this one stands in for. */
  readonly replaced: readonly Claim[]
  /** Uncommitted changes inside the displaced scopes: somebody else's unfinished work. */
  readonly dirty: readonly string[]
  readonly warnings: readonly string[]
  readonly setApart?: SetApart
}

interface Refusal {
  readonly granted: false
  readonly conflicts: readonly Conflict[]
  readonly setApart?: SetApart
}

/** `setApart`: another process tree of the same HAID is at work here, and this one has a name of its own from now on. */
export type ClaimResult = Grant | Refusal

export async function claimScopes(room: Coordination, actor: AgentActor, request: ClaimRequest): Promise<ClaimResult> {
  const wanted = prepare(room, request)
  return changeAs(room, actor, (change, agent) => decide(room, change, agent, wanted, actor.tree))
}

export interface PreparedRequest extends ClaimRequest {
  readonly parsed: readonly Scope[]
  readonly dirtyPaths: readonly string[]
  readonly caseSensitive: boolean
}

/** Everything that needs the disk happens before the transaction. */
export function prepare(room: Coordination, request: ClaimRequest): PreparedRequest {
  checkTtl(request.ttlMinutes)
  checkLabel('task', request.task)
  checkLabel('intent', request.intent ?? null)
  const context = contextFor(room, request.cwd)
  const parsed = parseScopes(request.scopes, context).map((scope) =>
    // What was typed below the root means something else to whoever reads it elsewhere.
    request.cwd === room.project.root ? scope : { ...scope, raw: surfaceOf(scope) },
  )
  return {
    ...request,
    parsed,
    caseSensitive: context.caseSensitive,
    dirtyPaths: request.takeover === undefined ? [] : dirtyPaths(room.project),
  }
}

/** The decision table of docs/coordination.md, in one place. */
export function decide(
  room: Coordination,
  change: Change,
  agent: Agent,
  request: PreparedRequest,
  tree: ProcessRef | undefined,
): ClaimResult {
  const found = find(room, change.rows, { haid: agent.haid, tree }, request, change.now)
  const { conflicts, seconds, contests } = found
  if (tree !== undefined && conflicts.some(({ haid }) => haid === agent.haid)) {
    const apart = setApart(room, change, agent, tree)
    const asItself: Change = {
      ...change,
      record: (event) => change.record({ actor: apart.agent.agentId, ...event }),
    }
    return { ...decide(room, asItself, apart.agent, request, tree), setApart: apart }
  }
  for (const conflict of conflicts) recordIncursion(change, agent, conflict)
  for (const contest of contests) if (contest.later.haid !== agent.haid) recordContest(change, contest)
  const blocking = blockingOf({ conflicts, seconds }, request)
  if (blocking.length > 0) return { granted: false, conflicts: blocking }
  return grant(room, change, agent, request, found, tree)
}

/** Claims that a request would be refused for, without asking for it. */
export function whoIsInTheWay(
  room: Coordination,
  rows: Reader,
  asker: Pick<Asker, 'haid' | 'tree'>,
  request: PreparedRequest,
  now: Moment,
): readonly Conflict[] {
  return blockingOf(find(room, rows, asker, request, now), request)
}

interface InTheWay {
  readonly conflicts: readonly Conflict[]
  /** Whoever was second to a path holds it once the first is displaced. */
  readonly seconds: readonly Conflict[]
  /** Nobody, the asker neither, has a claim on any of it. */
  readonly isFree: boolean
}

function find(
  room: Coordination,
  rows: Reader,
  asker: Pick<Asker, 'haid' | 'tree'>,
  request: PreparedRequest,
  now: Moment,
): InTheWay & Pick<ClaimOverlaps, 'contests'> {
  const { holders, contests } = findConflicts(room, rows, request.parsed, now)
  const conflicts = holders.filter((conflict) => !isOwn(room, { ...asker, task: request.task }, conflict))
  const seconds = contests
    .map(({ later }) => later)
    .filter(({ haid, claimId }) => haid !== asker.haid && conflicts.every((first) => first.claimId !== claimId))
  return { conflicts, seconds, contests, isFree: holders.length === 0 && contests.length === 0 }
}

function blockingOf(
  { conflicts, seconds }: Pick<InTheWay, 'conflicts' | 'seconds'>,
  request: PreparedRequest,
): readonly Conflict[] {
  for (const claims of [conflicts, seconds])
    if (!claims.every((conflict) => mayDisplace(conflict, request))) return claims
  return []
}

function mayDisplace(conflict: Conflict, { takeover, archivesLapsed }: ClaimRequest): boolean {
  if (typeof takeover === 'object') return true
  // Whatever the lease says: an owner that beats is at work.
  if (conflict.liveness === 'active') return false
  return takeover === 'stale' || (archivesLapsed === true && conflict.lease === 'lapsed')
}

function grant(
  room: Coordination,
  change: Change,
  agent: Agent,
  request: PreparedRequest,
  { conflicts, seconds, isFree }: InTheWay,
  tree: ProcessRef | undefined,
): Grant {
  const { rows, now } = change
  const displaced = [...conflicts, ...seconds]
  if (rows.localSetting(CASE_SETTING) === undefined)
    rows.putLocalSetting(CASE_SETTING, request.caseSensitive ? 'yes' : 'no')
  const warnings = request.parsed
    .filter(isBroad)
    .map((scope) => `${printable(scope.raw)} holds more or less the whole project`)
  // By where the scopes lie, not all that the agent holds: that may be hundreds.
  const same = isFree
    ? undefined
    : rows
        .candidates(request.parsed.map(({ base }) => base))
        .find((claim) => claim.holder === agent.haid && sameScopes(claim.scopes, request.parsed))
  if (same !== undefined && displaced.length === 0) {
    const claim: Claim = {
      ...same,
      task: request.task ?? same.task,
      intent: request.intent ?? same.intent,
      ttlMinutes: request.ttlMinutes,
      granted: now,
    }
    rows.putClaim(claim)
    change.record({
      type: 'RENEW',
      claimId: claim.claimId,
      task: claim.task,
      payload: { epoch: claim.epoch, ttl_minutes: claim.ttlMinutes },
    })
    return { granted: true, claim, renewed: true, displaced: [], replaced: [], dirty: [], warnings }
  }
  const replaced =
    request.replacesTask === true
      ? rows.claims({ holder: agent.haid, state: 'active' }).filter(({ task }) => task === request.task)
      : []
  for (const claim of replaced) endClaim(change, claim, 'released', 'replaced')
  const claim = rows.addClaim({
    claimId: `res_${room.newId()}`,
    holder: agent.haid,
    task: request.task,
    intent: request.intent ?? null,
    worktree: room.project.root,
    ttlMinutes: request.ttlMinutes,
    state: 'active',
    createdMs: now.wallMs,
    granted: now,
    endedMs: null,
    endedReason: null,
    displacedBy: null,
    tree: tree ?? null,
    toldMs: null,
    origin: 'local',
    scopes: request.parsed,
  })
  // The earlier claim ends before the new one begins, so that a reader of events never sees two holders.
  const dirty = displaced.length === 0 ? [] : dirtyIn(request, displaced, rows)
  for (const conflict of displaced) displace(change, conflict, claim, request, dirty)
  const scope = claim.scopes.map(({ raw }) => raw).join(' ')
  change.record({
    type: 'CLAIM',
    claimId: claim.claimId,
    task: claim.task,
    scope,
    payload: {
      epoch: claim.epoch,
      ttl_minutes: claim.ttlMinutes,
      scopes: claim.scopes.map(({ canonical }) => canonical),
    },
  })
  return { granted: true, claim, renewed: false, displaced, replaced, dirty, warnings }
}

function displace(
  change: Change,
  conflict: Conflict,
  successor: Claim,
  request: PreparedRequest,
  dirty: readonly string[],
): void {
  const prior = change.rows.claim(conflict.claimId)
  if (prior === undefined) return
  const isForced = typeof request.takeover === 'object'
  change.rows.putClaim({
    ...prior,
    state: 'expired',
    endedMs: change.now.wallMs,
    endedReason: isForced ? 'forced' : 'takeover',
    displacedBy: successor.claimId,
  })
  change.record({
    type: 'TAKEOVER',
    to: conflict.agentId,
    task: prior.task,
    scope: conflict.held,
    claimId: prior.claimId,
    ...(typeof request.takeover === 'object' ? { actorKind: 'human' as const, actor: null } : {}),
    payload: {
      takeover_mode: isForced ? 'forced' : conflict.liveness,
      prior_claim: prior.claimId,
      prior_epoch: prior.epoch,
      prior_owner: conflict.agentId,
      claim: successor.claimId,
      epoch: successor.epoch,
      dirty_paths: dirty,
      ...(typeof request.takeover === 'object' ? { by: request.takeover.force, reason: request.takeover.reason } : {}),
    },
  })
}

function dirtyIn(request: PreparedRequest, displaced: readonly Conflict[], rows: Reader): string[] {
  const scopes = displaced.flatMap(({ claimId }) => rows.claim(claimId)?.scopes ?? [])
  return pathsWithin(request.dirtyPaths, scopes, request.caseSensitive)
}

function sameScopes(a: readonly Scope[], b: readonly Scope[]): boolean {
  const known = new Set(a.map(({ canonical }) => canonical))
  return known.size === b.length && b.every(({ canonical }) => known.has(canonical))
}

/** Archives claims whose lease has lapsed and whose holder is not active. Listing and checking never do this by the way. */
export async function reap(room: Coordination): Promise<{ reaped: Claim[]; active: number }> {
  return changeAsOther(room, { kind: 'system' }, (change) => {
    const standings = change.rows
      .claims({ state: 'active' })
      .map((claim) => standingOf(room, change.rows, claim, change.now))
    const reaped = standings
      .filter(({ lease, liveness }) => lease === 'lapsed' && liveness !== 'active')
      .map(({ claim }) => endClaim(change, claim, 'expired', 'lease lapsed'))
    return { reaped, active: standings.length - reaped.length }
  })
}

export function listClaims(room: Coordination, query: { holder?: string; task?: string } = {}): Standing[] {
  const now = room.now()
  return room.store.read((rows) =>
    rows.claims({ ...query, state: 'active' }).map((claim) => standingOf(room, rows, claim, now)),
  )
}

export function checkLabel(what: string, text: string | null): void {
  if (text === null) return
  if (text !== '' && text.length <= LABEL_CHARS_MAX && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)) return
  throw new HeimdallError('INVALID_ARGS', `${what} ${printable(text)} is empty, too long or has control characters`, {
    hint: `use 1 to ${LABEL_CHARS_MAX} printable characters`,
  })
}
