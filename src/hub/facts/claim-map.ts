// Claims as the map has them: who holds what, who ran into whom, who waits in line; and the story of one path.
import { checkScopes } from '../../coordination/claims/check-scopes.ts'
import { listClaims } from '../../coordination/claims/claims.ts'
import type { Conflict, Standing } from '../../coordination/claims/conflicts.ts'
import { aheadOf, waitingTickets } from '../../coordination/claims/tickets.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { iso } from '../../coordination/moment.ts'
import { conflictHint } from '../../coordination/records.ts'
import type { StoredEvent } from '../../coordination/store.ts'
import { HUB_ROWS_MAX } from '../../limits.ts'
import type { Collision } from '../../spine/fleet/fleet.ts'
import type { ClaimsReply, ClaimCard, IncursionCard, Queued, WhyReply } from '../contract.ts'
import { rowsOf } from './conversation.ts'

export function claimsNow(room: Coordination, collisions: readonly Collision[]): Omit<ClaimsReply, 'at'> {
  return {
    claims: listClaims(room).map(heldClaim),
    incursions: incursionsIn(room, collisions),
    queue: queueIn(room),
  }
}

export function heldClaim({ claim, agentId, liveness, lease, expiresAt }: Standing): ClaimCard {
  return {
    claim_id: claim.claimId,
    agent_id: agentId,
    haid: claim.holder,
    scopes: claim.scopes.map(({ raw }) => raw),
    epoch: claim.epoch,
    task: claim.task,
    intent: claim.intent,
    since: iso(claim.createdMs),
    expires_at: expiresAt,
    liveness,
    lease,
    origin: claim.origin,
  }
}

/** Newest first. Which of them are open is what the fleet says. */
function incursionsIn(room: Coordination, collisions: readonly Collision[]): IncursionCard[] {
  return room.store.read((rows) => {
    const events = rows.events({ types: ['INCURSION'], last: HUB_ROWS_MAX })
    const counts = rows.incursionCounts(events.map(({ id }) => id))
    return events.toReversed().map((event) => incursionOf(event, counts.get(event.id) ?? 1, collisions))
  })
}

function incursionOf(event: StoredEvent, attempts: number, collisions: readonly Collision[]): IncursionCard {
  const text = (name: string): string => {
    const value = event.payload[name]
    return typeof value === 'string' ? value : ''
  }
  const incoming = text('incoming_agent')
  return {
    event_id: event.id,
    at: iso(event.wallMs),
    scope: event.scope ?? '',
    kind: text('incursion_kind') === 'exact' ? 'exact' : 'partial',
    owner: text('owner_agent'),
    incoming,
    owner_liveness: event.payload['owner_liveness'] as IncursionCard['owner_liveness'],
    attempts,
    hint: text('resolution_hint'),
    is_open: collisions.some(({ id }) => id === `${event.claimId ?? ''}.${incoming}`),
  }
}

function queueIn(room: Coordination): Queued[] {
  const now = room.now()
  return room.store.read((rows) => {
    const waiting = waitingTickets(room, rows, now)
    const nameOf = (haid: string): string => rows.agent(haid)?.agentId ?? haid
    return waiting.map((ticket) => ({
      agent_id: nameOf(ticket.holder),
      scopes: ticket.scopes.map(({ raw }) => raw),
      place: aheadOf(waiting, ticket) + 1,
      behind: waiting
        .filter((other) => other.ticket < ticket.ticket && other.holder !== ticket.holder)
        .map(({ holder }) => nameOf(holder)),
    }))
  })
}

/** As `heimdall why` tells it, with what happened to claims on the way. */
export function whyHeld(room: Coordination, path: string): Omit<WhyReply, 'command'> {
  const { conflicts } = checkScopes(room, { scopes: [path], cwd: room.project.root, asker: null })
  const standings = listClaims(room)
  return {
    path,
    holders: conflicts.flatMap((conflict) => {
      const standing = standings.find(({ claim }) => claim.claimId === conflict.claimId)
      return standing === undefined ? [] : [{ claim: heldClaim(standing), ...contactOf(conflict) }]
    }),
    history: historyOf(room, path, conflicts),
  }
}

const contactOf = (conflict: Conflict): Omit<WhyReply['holders'][number], 'claim'> => ({
  kind: conflict.kind,
  held: conflict.held,
  witness: conflict.witness,
  hint: conflictHint(conflict),
})

/** Events of the claims that hold it now, and those that name the path itself; newest first. */
function historyOf(room: Coordination, path: string, conflicts: readonly Conflict[]): WhyReply['history'] {
  const claims = new Set(conflicts.map(({ claimId }) => claimId))
  return room.store.read((rows) => {
    const events = rows
      .events({ last: HUB_ROWS_MAX * 4 })
      .filter(
        ({ claimId, scope }) => (claimId !== null && claims.has(claimId)) || scope?.split(' ').includes(path) === true,
      )
    return rowsOf(rows, events.slice(-HUB_ROWS_MAX).toReversed())
  })
}
