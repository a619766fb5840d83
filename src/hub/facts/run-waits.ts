// How long a run waited, and for whom: for a person, as the watcher has booked it, and for another agent, as the store alone says.
import { HUB_ROWS_MAX } from '../../limits.ts'
import { numberIn, objectIn, textIn } from '../../runs/index/call-facts.ts'
import { type IndexEntry, search } from '../../runs/index/search.ts'
import { askedIn } from '../../spine/fleet/open-waits.ts'
import type { UnbookedWait } from '../../spine/fleet/unbooked-waits.ts'
import type { OpenBook } from './call-book.ts'

export interface WaitSpan {
  readonly id: string
  readonly fromMs: number
  readonly toMs: number | null
  readonly text: string
  /** What another agent holds or is asked for; otherwise a person. */
  readonly isForAgent: boolean
}

export interface Waited {
  readonly count: number
  readonly ms: number
  /** Of it, for a person. */
  readonly for_you_ms: number
  readonly is_open: boolean
}

export interface RunSpan {
  readonly agent: string | null
  readonly startMs: number
  readonly endMs: number
  readonly isOver: boolean
}

/** In order of their beginning. With a run everything that it waited for ends. */
export function waitsOf(
  book: OpenBook,
  run: string,
  { agent, startMs, endMs, isOver }: RunSpan,
  unbooked: readonly UnbookedWait[],
): WaitSpan[] {
  const stored = unbooked
    .filter((wait) => wait.agent === agent && wait.fromMs >= startMs && wait.fromMs <= endMs)
    .map(({ id, fromMs, toMs, text }): WaitSpan => ({
      id,
      fromMs,
      toMs: toMs === Infinity ? null : toMs,
      text,
      isForAgent: true,
    }))
  return [...booked(book, run), ...stored]
    .map((wait) => ({ ...wait, toMs: isOver ? Math.min(wait.toMs ?? endMs, endMs) : wait.toMs }))
    .toSorted((one, other) => one.fromMs - other.fromMs)
}

/** Each start with its end. */
function booked(book: OpenBook, run: string): WaitSpan[] {
  const of = (type: string): IndexEntry[] => search(book.index, { run, type, order: 'oldest', limit: HUB_ROWS_MAX })
  const bodyOf = (entry: IndexEntry): ReturnType<typeof objectIn> => objectIn(book.lines.eventsOf(entry).first, 'wait')
  const ends = new Map(
    of('wait_end').map((entry) => [textIn(bodyOf(entry), 'wait_id'), { entry, body: bodyOf(entry) }]),
  )
  return of('wait_start').map((entry) => {
    const body = bodyOf(entry)
    const id = textIn(body, 'wait_id') ?? ''
    const end = ends.get(id)
    const waitedMs = numberIn(end?.body, 'waited_ms')
    return {
      id,
      fromMs: entry.atMs,
      toMs: end === undefined ? null : waitedMs === null ? end.entry.atMs : entry.atMs + waitedMs,
      text: askedIn(textIn(body, 'evidence')),
      isForAgent: false,
    }
  })
}

/** Pure. No moment is waited through twice: of two waits at a time, the later begins where the first has ended. */
export function apart(waits: readonly WaitSpan[]): WaitSpan[] {
  const spans: WaitSpan[] = []
  let freeMs = -Infinity
  for (const wait of waits) {
    const fromMs = Math.max(wait.fromMs, freeMs)
    const endMs = wait.toMs ?? Infinity
    if (endMs <= fromMs) continue
    spans.push({ ...wait, fromMs })
    freeMs = endMs
  }
  return spans
}

export const waitedIn = (waits: readonly WaitSpan[], nowMs: number): Waited => ({
  count: waits.length,
  is_open: waits.some(({ toMs }) => toMs === null),
  ms: msOf(waits, nowMs),
  for_you_ms: msOf(
    waits.filter(({ isForAgent }) => !isForAgent),
    nowMs,
  ),
})

const msOf = (waits: readonly WaitSpan[], nowMs: number): number =>
  apart(waits).reduce((sum, { fromMs, toMs }) => sum + Math.max(0, (toMs ?? nowMs) - fromMs), 0)
