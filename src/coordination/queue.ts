// Waiting for a held scope: first come, first served among those who wait, with a deadline.
import { pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { TICKET_SILENT_MS, WAIT_MS_MAX, WAIT_PROBE_MS } from '../limits.ts'
import { overlap } from '../scopes/overlap.ts'
import { type ClaimRequest, decide, type Grant, prepare, type PreparedRequest } from './claims.ts'
import type { Conflict } from './conflicts.ts'
import type { Coordination } from './coordination.ts'
import { type AgentActor, type Change, changeAs } from './gate.ts'
import { sinceMs } from './moment.ts'
import type { Ticket } from './store.ts'

export interface WaitOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Told once, when the wait begins, who is in the way and how many wait in front. */
  readonly onQueued?: (state: { conflicts: readonly Conflict[]; ahead: number }) => void
}

export type WaitResult =
  | Grant
  | { readonly granted: false; readonly conflicts: readonly Conflict[]; readonly ahead: number }

/**
 * Claims as soon as nobody holds the scopes and nobody who came earlier waits for them. A waiter that stops looking
 * loses its place after `TICKET_SILENT_MS`. Waiting is activity: it keeps the waiter's own claims alive.
 */
export async function waitForClaim(
  room: Coordination,
  actor: AgentActor,
  request: ClaimRequest,
  options: WaitOptions,
): Promise<WaitResult> {
  if (options.timeoutMs > WAIT_MS_MAX)
    throw new HeimdallError('INVALID_ARGS', `a wait of ${options.timeoutMs} ms, limit ${WAIT_MS_MAX}`)
  const wanted = prepare(room, request)
  const deadlineMs = room.clock.monoMs() + options.timeoutMs
  let ticket: number | undefined
  let seenVersion: number | undefined
  let triedMs = 0
  let last: WaitResult | undefined
  try {
    for (;;) {
      const version = room.store.version()
      const now = room.clock.monoMs()
      // Others' commits change the version. Silence changes it not: an owner that goes stale must be noticed as well.
      if (version !== seenVersion || now - triedMs >= TICKET_SILENT_MS / 2) {
        const turn = tryTurn(room, actor, wanted, ticket)
        ticket = turn.ticket
        if (turn.result.granted) return turn.result
        if (last === undefined) options.onQueued?.(turn.result)
        last = turn.result
        seenVersion = room.store.version()
        triedMs = now
      }
      if (last !== undefined && (now >= deadlineMs || options.signal?.aborted === true)) return last
      await pause(room.clock, Math.max(1, Math.min(WAIT_PROBE_MS, deadlineMs - now)), options.signal)
    }
  } finally {
    if (ticket !== undefined) leave(room, ticket)
  }
}

function tryTurn(
  room: Coordination,
  actor: AgentActor,
  wanted: PreparedRequest,
  known: number | undefined,
): { ticket: number | undefined; result: WaitResult } {
  return changeAs(room, actor, (change, agent) => {
    const ticket = known ?? change.rows.addTicket({ holder: agent.haid, scopes: wanted.parsed, refreshed: change.now })
    change.rows.refreshTicket(ticket, change.now)
    const ahead = inFront(change, ticket, agent.haid, wanted).length
    if (ahead > 0) return { ticket, result: { granted: false, conflicts: [], ahead } }
    const result = decide(room, change, agent, wanted, actor.tree)
    if (!result.granted) return { ticket, result: { ...result, ahead } }
    change.rows.removeTicket(ticket)
    return { ticket: undefined, result }
  })
}

/** Those who came earlier, want an overlapping scope and still look. */
function inFront({ rows, now }: Change, ticket: number, holder: string, wanted: PreparedRequest): Ticket[] {
  const waiting: Ticket[] = []
  for (const other of rows.tickets()) {
    if (other.ticket === ticket) continue
    if (sinceMs(other.refreshed, now) >= TICKET_SILENT_MS) rows.removeTicket(other.ticket)
    else if (
      other.ticket < ticket &&
      other.holder !== holder &&
      other.scopes.some((theirs) => wanted.parsed.some((ours) => overlap(theirs, ours).kind !== 'disjoint'))
    )
      waiting.push(other)
  }
  return waiting
}

function leave(room: Coordination, ticket: number): void {
  room.store.write((rows) => rows.removeTicket(ticket))
}
