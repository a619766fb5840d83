// What a holder does with its claims: renew, release, and hear of those that it holds no more.
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { LEASE_MINUTES_MAX } from '../../limits.ts'
import { parseScopes, type Scope } from '../../scopes/scope.ts'
import { contextFor } from './check-scopes.ts'
import type { Coordination } from '../coordination.ts'
import { type AgentActor, type Change, changeAs } from '../change.ts'
import type { Agent, Claim, Reader } from '../store.ts'

export interface ClaimChoice {
  readonly claimId?: string | undefined
  readonly scopes?: readonly string[] | undefined
  readonly cwd: string
  /** Refused unless it is the claim's own: a holder that was displaced and does not know it yet. */
  readonly epoch?: number | undefined
}

/** Extends the lease and restarts its cap; with `ttlMinutes` it also changes its length. */
export async function renewClaims(
  room: Coordination,
  actor: AgentActor,
  choice: ClaimChoice & { readonly ttlMinutes?: number | undefined },
): Promise<Claim[]> {
  if (choice.ttlMinutes !== undefined) checkTtl(choice.ttlMinutes)
  return chosen(room, actor, choice, 'renew', (change, claim) => {
    const renewed: Claim = { ...claim, ttlMinutes: choice.ttlMinutes ?? claim.ttlMinutes, granted: change.now }
    change.rows.putClaim(renewed)
    change.record({
      type: 'RENEW',
      claimId: claim.claimId,
      task: claim.task,
      payload: { epoch: claim.epoch, ttl_minutes: renewed.ttlMinutes },
    })
    return renewed
  })
}

export async function releaseClaims(room: Coordination, actor: AgentActor, choice: ClaimChoice): Promise<Claim[]> {
  return chosen(room, actor, choice, 'release', (change, claim) => endClaim(change, claim, 'released', 'released'))
}

/**
 * Applies `act` to the caller's active claims that the choice names (all of them when it names none), all or none.
 * A refusal is an answer that is committed, so that it stays on record, and only then thrown.
 */
async function chosen<T>(
  room: Coordination,
  actor: AgentActor,
  choice: ClaimChoice,
  verb: 'renew' | 'release',
  act: (change: Change, claim: Claim) => T,
): Promise<T[]> {
  const scopes = choice.scopes === undefined ? undefined : parseScopes(choice.scopes, contextFor(room, choice.cwd))
  const outcome = await changeAs(room, actor, (change, agent): { refused: HeimdallError } | { done: T[] } => {
    const found = choose(change, agent, choice, scopes, verb)
    if (found instanceof HeimdallError) {
      change.record({
        type: 'REFUSED',
        claimId: choice.claimId ?? null,
        scope: choice.scopes?.join(' ') ?? null,
        payload: { code: found.code, verb },
      })
      return { refused: found }
    }
    return { done: found.map((claim) => act(change, claim)) }
  })
  if ('refused' in outcome) throw outcome.refused
  return outcome.done
}

function choose(
  change: Change,
  agent: Agent,
  choice: ClaimChoice,
  scopes: readonly Scope[] | undefined,
  verb: 'renew' | 'release',
): Claim[] | HeimdallError {
  const { rows } = change
  const own = rows.claims({ holder: agent.haid, state: 'active' })
  if (choice.claimId !== undefined) {
    const claim = rows.claim(choice.claimId)
    if (claim === undefined) return notFound(`no claim ${printable(choice.claimId)}`)
    if (claim.holder !== agent.haid) return forbidden(rows, claim)
    if (claim.state !== 'active' || (choice.epoch !== undefined && choice.epoch !== claim.epoch))
      return fenced(rows, [claim])
    return [claim]
  }
  if (scopes === undefined) return verb === 'release' ? own : (lossOf(change, agent, own) ?? own)
  const matches = own.filter((claim) =>
    scopes.some((scope) => claim.scopes.some((held) => held.canonical === scope.canonical)),
  )
  const stale = matches.find((claim) => choice.epoch !== undefined && claim.epoch !== choice.epoch)
  if (stale !== undefined) return fenced(rows, [stale])
  if (matches.length > 0) return matches
  const others = rows
    .candidates(scopes.map((scope) => scope.base))
    .find((claim) => claim.scopes.some((held) => scopes.some((scope) => held.canonical === scope.canonical)))
  return others === undefined
    ? notFound(`${agent.agentId} holds no claim on ${scopes.map((scope) => printable(scope.raw)).join(', ')}`)
    : forbidden(rows, others)
}

function notFound(message: string): HeimdallError {
  return new HeimdallError('RESERVATION_NOT_FOUND', message, { hint: 'heimdall claim list shows what is held' })
}

function forbidden(rows: Reader, claim: Claim): HeimdallError {
  const owner = rows.agent(claim.holder)?.agentId ?? claim.holder
  return new HeimdallError('RELEASE_FORBIDDEN', `claim ${claim.claimId} is held by ${owner}`, {
    hint: `ask ${owner} to release it; once it is silent: heimdall claim takeover PATH`,
  })
}

/**
 * Renewing everything means everything that the holder believes to hold. What was taken from it is not passed over
 * in silence: it is told of each loss once, and every time as long as nothing is left.
 */
function lossOf({ rows, now }: Change, agent: Agent, own: readonly Claim[]): HeimdallError | undefined {
  const lost = untold(rows, agent.haid)
  for (const claim of lost) rows.putClaim({ ...claim, toldMs: now.wallMs })
  if (lost.length > 0) return fenced(rows, lost)
  if (own.length > 0) return undefined
  const expired = rows.claims({ holder: agent.haid, state: 'expired' })
  const released = rows.claims({ holder: agent.haid, state: 'released' }).at(-1)?.endedMs ?? 0
  const last = expired.filter(({ endedMs }) => (endedMs ?? 0) >= released)
  return last.length > 0 ? fenced(rows, last.slice(-1)) : notFound(`${agent.agentId} holds no claim`)
}

/** Claims that were taken from the agent, that it was not told of, and that it does not hold again. */
function untold(rows: Reader, haid: string): Claim[] {
  const own = rows.claims({ holder: haid, state: 'active' })
  return rows
    .claims({ holder: haid, state: 'expired' })
    .filter((claim) => claim.toldMs === null && !own.some((held) => covers(held, claim)))
}

/** What an agent has lost, in one line; nothing when it was told already. An agent that reads only is told again. */
export function lossText(rows: Reader, haid: string): string | undefined {
  const lost = untold(rows, haid)
  if (lost.length === 0) return undefined
  const { message, hint } = fenced(rows, lost)
  return `${message}: ${hint}`
}

/** The same for an agent that acts: it is told of each loss once. */
export async function tellLoss(room: Coordination, actor: AgentActor): Promise<string | undefined> {
  if (room.store.read((rows) => untold(rows, actor.haid)).length === 0) return undefined
  return changeAs(room, actor, ({ rows, now }, agent) => {
    const text = lossText(rows, agent.haid)
    for (const claim of untold(rows, agent.haid)) rows.putClaim({ ...claim, toldMs: now.wallMs })
    return text
  })
}

function covers(held: Claim, lost: Claim): boolean {
  return lost.scopes.every(({ canonical }) => held.scopes.some((scope) => scope.canonical === canonical))
}

function fenced(rows: Reader, claims: readonly Claim[]): HeimdallError {
  const losses = claims.map((claim) => {
    const successor = claim.displacedBy === null ? undefined : rows.claim(claim.displacedBy)
    return { claim, successor, holder: successor === undefined ? undefined : rows.agent(successor.holder) }
  })
  const message = losses.map(({ claim, successor, holder }) => {
    const now = successor === undefined ? '' : `, now held by ${holder?.agentId ?? successor.holder}`
    const scopes = claim.scopes.map(({ raw }) => raw).join(' ')
    return `claim ${claim.claimId} on ${scopes} is ${claim.state} with epoch ${claim.epoch}${now}`
  })
  const taker = losses.find(({ successor }) => successor?.state === 'active')?.holder?.agentId
  return new HeimdallError('CLAIM_FENCED', message.join('; '), {
    hint:
      taker === undefined
        ? 'claim the scopes again before writing to them'
        : `write nothing there; ask ${taker} for a handoff, or wait with heimdall claim wait`,
    details: {
      lost: losses.map(({ claim, successor, holder }) => ({
        claim_id: claim.claimId,
        epoch: claim.epoch,
        state: claim.state,
        scopes: claim.scopes.map(({ raw }) => raw),
        reason: claim.endedReason,
        successor:
          successor === undefined
            ? null
            : {
                claim_id: successor.claimId,
                epoch: successor.epoch,
                state: successor.state,
                haid: successor.holder,
                agent_id: holder?.agentId ?? null,
                scopes: successor.scopes.map(({ raw }) => raw),
              },
      })),
    },
  })
}

export function endClaim(change: Change, claim: Claim, state: 'released' | 'expired', reason: string): Claim {
  const ended: Claim = { ...claim, state, endedMs: change.now.wallMs, endedReason: reason }
  change.rows.putClaim(ended)
  change.record({
    type: state === 'released' ? 'RELEASE' : 'EXPIRE',
    claimId: claim.claimId,
    task: claim.task,
    payload: { epoch: claim.epoch, reason },
  })
  return ended
}

export function checkTtl(minutes: number): void {
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= LEASE_MINUTES_MAX) return
  throw new HeimdallError('INVALID_ARGS', `a lease of ${minutes} minutes, 1 to ${LEASE_MINUTES_MAX} allowed`)
}
