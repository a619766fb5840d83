// What a segment of a run adds up to: its calls, its status, who owns it, and since when no process takes part in it.
import type { RunStatus, RunSummary } from '../events/types.ts'
import { isObject } from '../plain-object.ts'
import type { RecordedEvent } from './recorded-event.ts'

/** The parent of the shims of a host session, or the supervisor of an owned run: the run goes on while it lives. */
export interface ParentProcess {
  readonly pid: number
  /** Start time as the system tells it, because pids are used again. */
  readonly start: string
}

/** Calls by outcome; a call is in `total` once, in one of the next three once, and in `errors` if it failed. */
export interface CallCounts {
  total: number
  allowed: number
  blocked: number
  throttled: number
  errors: number
}

/** A moment of the monotonic clock. */
export interface BootMoment {
  readonly bootId: string
  readonly monoMs: number
}

/** A reading of both clocks. */
export interface RunMoment extends BootMoment {
  readonly wallMs: number
}

export interface RunTotals {
  counts: CallCounts
  eventsLost: number
  /** Number of the segment, 0 before the first; the totals are of this one. */
  segment: number
  startedMs: number | null
  startedAt: BootMoment | null
  hasEnded: boolean
  /** The worst that a member of the run has reported; of a run that has ended, how it ended. */
  status: RunStatus
  /** `heimdall run` opens and closes this run; shims only take part. */
  isOwned: boolean
  parent: ParentProcess | null
  /** How long a run without owner stays open when no process takes part in it. */
  quietMs: number
  /** Since when none does. */
  quietSince: BootMoment | null
}

export function emptyTotals(): RunTotals {
  return {
    counts: { total: 0, allowed: 0, blocked: 0, throttled: 0, errors: 0 },
    eventsLost: 0,
    segment: 0,
    startedMs: null,
    startedAt: null,
    hasEnded: false,
    status: 'SUCCEEDED',
    isOwned: false,
    parent: null,
    quietMs: 0,
    quietSince: null,
  }
}

/** What `run_start` and `run_joined` say of the process that joins. */
export interface MemberFields {
  readonly is_owner: boolean
  readonly parent: ParentProcess | null
  readonly quiet_ms: number
}

/** Enters an event that is not of a call: starts, ends, and members that come and go. */
export function enterRunEvent(totals: RunTotals, event: RecordedEvent): void {
  switch (event.type) {
    case 'run_start':
      beginSegment(totals, event)
      break
    case 'run_joined':
      enterMember(totals, event['member'])
      break
    case 'run_left': {
      const { status, events_lost: lost, is_last: isLast, is_owner: isOwner } = fieldsOf(event['member'])
      if (isStatus(status)) totals.status = worse(totals.status, status)
      if (typeof lost === 'number' && lost > 0) totals.eventsLost += lost
      if (isLast === true) totals.quietSince = momentIn(event)
      // What the run is about is over; that its process may yet be there keeps nothing open.
      if (isOwner === true) totals.parent = null
      break
    }
    case 'run_end':
      totals.hasEnded = true
      if (isStatus(event.run?.['status'])) totals.status = event.run['status']
  }
}

/** Everything but the numbers of calls is counted anew. */
function beginSegment(totals: RunTotals, event: RecordedEvent): void {
  const { segment, parent, quietMs } = totals
  Object.assign(totals, emptyTotals(), { segment: segment + 1, parent, quietMs })
  totals.startedMs = Date.parse(String(event.ts))
  totals.startedAt = momentIn(event)
  enterMember(totals, event['member'])
}

function enterMember(totals: RunTotals, value: unknown): void {
  const { is_owner: isOwner, parent, quiet_ms: quietMs } = fieldsOf(value)
  if (typeof quietMs !== 'number') return
  totals.quietMs = quietMs
  totals.quietSince = null
  const { pid, start } = fieldsOf(parent)
  const process = typeof pid === 'number' && typeof start === 'string' ? { pid, start } : null
  if (isOwner === true) {
    totals.isOwned = true
    totals.parent = process
  } else if (process !== null && !totals.isOwned) totals.parent = process
}

export function momentIn({ mono_ms: monoMs, boot_id: bootId }: RecordedEvent): BootMoment | null {
  return typeof monoMs === 'number' && Number.isFinite(monoMs) && typeof bootId === 'string' ? { monoMs, bootId } : null
}

export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})

/** True when no process has taken part for as long as the run waits for one, or since the machine was started again. */
export function isQuiet({ quietMs, quietSince, startedAt }: RunTotals, now: RunMoment): boolean {
  if ((quietSince ?? startedAt)?.bootId !== now.bootId) return true
  return quietSince !== null && now.monoMs - quietSince.monoMs >= quietMs
}

/** From best to worst; a run ends with the worst status that any of its members reported. */
const STATUSES: readonly RunStatus[] = ['SUCCEEDED', 'CANCELLED', 'FAILED', 'TERMINATED']

export function worse(a: RunStatus, b: RunStatus): RunStatus {
  return STATUSES.indexOf(a) >= STATUSES.indexOf(b) ? a : b
}

/** A record can hold anything. */
export function isStatus(value: unknown): value is RunStatus {
  return STATUSES.some((one) => one === value)
}

export function summaryOf(totals: RunTotals, now: RunMoment): RunSummary {
  const { counts, eventsLost } = totals
  return {
    calls_total: counts.total,
    calls_allowed: counts.allowed,
    calls_blocked: counts.blocked,
    calls_throttled: counts.throttled,
    errors_total: counts.errors,
    duration_ms: durationMs(totals, now),
    ...(eventsLost > 0 ? { events_lost: eventsLost } : {}),
  }
}

/** By the wall clock only where the run has seen another boot. */
function durationMs({ startedMs, startedAt }: RunTotals, now: RunMoment): number {
  if (startedAt !== null && startedAt.bootId === now.bootId)
    return Math.max(0, Math.floor(now.monoMs - startedAt.monoMs))
  return startedMs === null ? 0 : Math.max(0, Math.floor(now.wallMs) - startedMs)
}
