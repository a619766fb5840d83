// The books of a run: what its events add up to, kept beside the record so that nobody has to read it all to go on.
import type { QueuedEvent } from '../events/event-lines.ts'
import type { RunStatus, RunSummary } from '../events/types.ts'
import { isObject } from '../plain-object.ts'

/** Whoever is the parent of the shims of a host session, or the supervisor of an owned run's: the run goes on while it lives. */
export interface ParentProcess {
  readonly pid: number
  /** Start time as the system tells it; a pid alone is used again by somebody else. */
  readonly start: string
}

/** Calls by what became of them; a call is in `total` once, in one of the next three once, and in `errors` if it failed. */
export interface CallCounts {
  total: number
  allowed: number
  blocked: number
  throttled: number
  errors: number
}

export interface RunBooks {
  /** Bytes of the record that these books cover. */
  bytes: number
  /** The last call number given out. */
  seq: number
  counts: CallCounts
  eventsLost: number
  /** Starts of the run so far, of which the last may have ended; counts and status are those of this segment. */
  segment: number
  startedMs: number | null
  hasEnded: boolean
  /** The worst that a member of the run has reported. */
  status: RunStatus
  /** `heimdall run` opens and closes this run; shims only take part. */
  isOwned: boolean
  parent: ParentProcess | null
  /** How long a run without owner stays open when nobody takes part in it. */
  quietMs: number
  /** Since when nobody does. Like the next one it is monotonic time, and means nothing after another boot. */
  quietSinceMs: number | null
  startedMonoMs: number | null
  bootId: string
}

export function emptyBooks(): RunBooks {
  return {
    bytes: 0,
    seq: 0,
    counts: { total: 0, allowed: 0, blocked: 0, throttled: 0, errors: 0 },
    eventsLost: 0,
    segment: 0,
    startedMs: null,
    hasEnded: false,
    status: 'SUCCEEDED',
    isOwned: false,
    parent: null,
    quietMs: 0,
    quietSinceMs: null,
    startedMonoMs: null,
    bootId: '',
  }
}

/** A reading of both clocks, and the boot that the monotonic one counts from. */
export interface RunMoment {
  readonly wallMs: number
  readonly monoMs: number
  readonly bootId: string
}

/** The next segment begins: numbers of calls go on, everything else is counted anew. */
export function beginSegment(books: RunBooks, { wallMs, monoMs, bootId }: RunMoment): void {
  const { bytes, seq, segment, parent, quietMs } = books
  Object.assign(books, emptyBooks(), { bytes, seq, segment: segment + 1, parent, quietMs })
  Object.assign(books, { startedMs: Math.floor(wallMs), startedMonoMs: monoMs, bootId })
}

/** True when nobody has taken part for as long as the run waits for somebody. */
export function isQuiet({ quietMs, quietSinceMs, bootId }: RunBooks, now: RunMoment): boolean {
  if (bootId !== now.bootId) return true
  return quietSinceMs !== null && now.monoMs - quietSinceMs >= quietMs
}

/** From best to worst; a run ends with the worst status that any of its shims saw. */
const STATUSES: readonly RunStatus[] = ['SUCCEEDED', 'CANCELLED', 'FAILED', 'TERMINATED']

export function worse(a: RunStatus, b: RunStatus): RunStatus {
  return STATUSES.indexOf(a) >= STATUSES.indexOf(b) ? a : b
}

/** A record can hold anything. */
export function isStatus(value: unknown): value is RunStatus {
  return STATUSES.some((one) => one === value)
}

/** A line that parses: what it holds is whatever stands there. */
export interface RecordedEvent {
  readonly [field: string]: unknown
  readonly type?: unknown
  readonly ts?: unknown
  readonly call?: { readonly seq?: unknown; readonly call_id?: unknown }
  readonly decision?: { readonly action?: unknown; readonly enforced?: unknown }
  readonly status?: unknown
  readonly run?: { readonly status?: unknown }
}

/** One that says what it is: all that readers are given. */
export type TypedEvent = RecordedEvent & { readonly type: string }

/** Enters a line that was found in the record. What is not an event is passed over. */
export function enterStored(books: RunBooks, text: string): void {
  const event = parseEvent(text)
  if (event === undefined) return
  if (event.type === 'run_start') {
    beginSegment(books, { wallMs: Date.parse(String(event.ts)), monoMs: 0, bootId: '' })
    books.startedMonoMs = null
  } else if (event.type === 'run_end') books.hasEnded = true
  else countEvent(books, event.type, event)
}

/** Assigns numbers to calls that are about to be written, and counts their events. */
export function enterQueued(books: RunBooks, events: readonly QueuedEvent[]): void {
  for (const { type, fields } of events) {
    if (type === 'tool_call_start' && fields.call !== undefined) fields.call.seq = books.seq + 1
    countEvent(books, type, fields)
  }
}

function countEvent(
  books: RunBooks,
  type: unknown,
  { call, decision, status }: Pick<RecordedEvent, 'call' | 'decision' | 'status'>,
): void {
  const { counts } = books
  if (type === 'tool_call_start') {
    counts.total += 1
    if (typeof call?.seq === 'number') books.seq = Math.max(books.seq, call.seq)
  } else if (type === 'tool_call_decision') {
    const { action, enforced } = decision ?? {}
    const isAllowed = action === 'ALLOW' || enforced === false
    counts[isAllowed ? 'allowed' : action === 'THROTTLE' ? 'throttled' : 'blocked'] += 1
  } else if (type === 'tool_call_end' && (status === 'ERROR' || status === 'TIMEOUT')) counts.errors += 1
}

/** One line of a record as an event; undefined when it is torn, foreign, or lacks what its type must have. */
export function parseEvent(text: string): RecordedEvent | undefined {
  const event = parseObject(text) as RecordedEvent | undefined
  return event === undefined || isWhole(event) ? event : undefined
}

const OF_CALLS: ReadonlySet<unknown> = new Set(['tool_call_start', 'tool_call_decision', 'tool_call_end'])

/** Any process of the user can append to a record: an event of a call without a call id is not one, nor a start of a run without a time. */
function isWhole({ type, ts, call }: RecordedEvent): boolean {
  if (type === 'run_start') return typeof ts === 'string' && !Number.isNaN(Date.parse(ts))
  return !OF_CALLS.has(type) || (isObject(call) && typeof call.call_id === 'string')
}

export function parseObject(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text) as object
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

export function summaryOf(books: RunBooks, now: RunMoment): RunSummary {
  const { counts, eventsLost } = books
  return {
    calls_total: counts.total,
    calls_allowed: counts.allowed,
    calls_blocked: counts.blocked,
    calls_throttled: counts.throttled,
    errors_total: counts.errors,
    duration_ms: durationMs(books, now),
    ...(eventsLost > 0 ? { events_lost: eventsLost } : {}),
  }
}

/** By the wall only where the run has seen another boot, or the books were made anew from the record. */
function durationMs({ startedMs, startedMonoMs, bootId }: RunBooks, now: RunMoment): number {
  if (startedMonoMs !== null && bootId === now.bootId) return Math.max(0, Math.floor(now.monoMs - startedMonoMs))
  return startedMs === null ? 0 : Math.max(0, Math.floor(now.wallMs) - startedMs)
}
