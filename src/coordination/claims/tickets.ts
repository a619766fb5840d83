// Places in the line for a held scope, as a reader sees them. Apart from the queue: a look at the fleet needs no engine of claims.
import { TICKET_SILENT_MS } from '../../limits.ts'
import { overlap } from '../../scopes/overlap.ts'
import { type Moment, sinceMs } from '../moment.ts'
import type { Reader, Ticket } from '../store.ts'
import type { Observer } from '../who/alive.ts'

/** Those whose turn may still come, in order. */
export function waitingTickets(observer: Pick<Observer, 'fateOf'>, rows: Reader, now: Moment): Ticket[] {
  return rows.tickets().filter((ticket) => isWaiting(observer, ticket, now))
}

/** How many came earlier and want an overlapping scope. */
export function aheadOf(
  waiting: readonly Ticket[],
  { ticket, holder, scopes }: Pick<Ticket, 'ticket' | 'holder' | 'scopes'>,
): number {
  return waiting
    .filter((other) => other.ticket < ticket && other.holder !== holder)
    .filter((other) => other.scopes.some((theirs) => scopes.some((ours) => overlap(theirs, ours).kind !== 'disjoint')))
    .length
}

/** A process that is gone waits for nothing; of one that cannot be looked at, the last sign decides. */
export function isWaiting({ fateOf }: Pick<Observer, 'fateOf'>, { process, refreshed }: Ticket, now: Moment): boolean {
  return (process === null || fateOf(process) !== 'gone') && sinceMs(refreshed, now) < TICKET_SILENT_MS
}
