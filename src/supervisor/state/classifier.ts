// What a child seems to be doing, from the sizes and times of its output alone. Pure: time comes in, nothing is polled.
import type { ClassifierChoice } from '../../config-values.ts'
import type { StateName } from '../../wire/frames.ts'

export interface ClassifierState {
  readonly name: StateName
  /** When the state was entered, which may be before anybody looked. */
  readonly sinceMs: number
}

export interface Classifier {
  /** Output of so many bytes came at this time. */
  record(bytes: number, nowMs: number): void
  state(nowMs: number): ClassifierState
  /** When the state changes by itself if no output comes; nothing when it stays. */
  nextChangeMs(nowMs: number): number | undefined
  end(nowMs: number): void
}

export function createClassifier(choice: ClassifierChoice, startMs: number): Classifier {
  if (choice.name === 'none') return endable(startMs, () => ({ name: 'idle', sinceMs: startMs }), noop, never)
  if (choice.name === 'simple') return simple(choice.idleThresholdMs, startMs)
  return claude(choice, startMs)
}

const noop = (): void => undefined
const never = (): undefined => undefined

/** Dead is the last state of every classifier. */
function endable(
  startMs: number,
  state: (nowMs: number) => ClassifierState,
  record: (bytes: number, nowMs: number) => void,
  nextChangeMs: (nowMs: number) => number | undefined,
): Classifier {
  let endedMs: number | undefined
  return {
    record: (bytes, nowMs) => (endedMs === undefined ? record(bytes, nowMs) : undefined),
    state: (nowMs) => (endedMs === undefined ? state(Math.max(startMs, nowMs)) : { name: 'dead', sinceMs: endedMs }),
    nextChangeMs: (nowMs) => (endedMs === undefined ? nextChangeMs(nowMs) : undefined),
    end: (nowMs) => {
      endedMs ??= nowMs
    },
  }
}

/** Active from output on until the threshold has passed without any. A child that never wrote is idle from its start. */
function simple(idleThresholdMs: number, startMs: number): Classifier {
  let active: { readonly sinceMs: number; readonly lastMs: number } | undefined
  let idleSinceMs = startMs
  const settle = (nowMs: number): void => {
    if (active === undefined || nowMs - active.lastMs < idleThresholdMs) return
    idleSinceMs = active.lastMs + idleThresholdMs
    active = undefined
  }
  return endable(
    startMs,
    (nowMs) => {
      settle(nowMs)
      return active === undefined ? { name: 'idle', sinceMs: idleSinceMs } : { name: 'active', sinceMs: active.sinceMs }
    },
    (_bytes, nowMs) => {
      settle(nowMs)
      active = { sinceMs: active?.sinceMs ?? nowMs, lastMs: nowMs }
    },
    (nowMs) => {
      settle(nowMs)
      return active === undefined ? undefined : active.lastMs + idleThresholdMs
    },
  )
}

interface Event {
  readonly atMs: number
  readonly bytes: number
}

const WINDOW = 20

/**
 * Thinking, streaming or tool use from the rhythm of output. A reading must hold for the debounce time before it
 * counts, and then counts from when it was first made; silence counts at once.
 */
function claude({ idleThresholdMs, debounceMs }: ClassifierChoice, startMs: number): Classifier {
  const events: Event[] = []
  let current: ClassifierState = { name: 'idle', sinceMs: startMs }
  let pending: ClassifierState | undefined

  const commitPending = (nowMs: number): void => {
    if (pending === undefined || nowMs - pending.sinceMs < debounceMs) return
    current = pending
    pending = undefined
  }
  const settle = (nowMs: number): void => {
    const lastMs = events.at(-1)?.atMs
    const idleAtMs = lastMs === undefined ? startMs : lastMs + idleThresholdMs
    commitPending(Math.min(nowMs, lastMs === undefined ? nowMs : idleAtMs))
    if (nowMs < idleAtMs || current.name === 'idle') return
    current = { name: 'idle', sinceMs: idleAtMs }
    pending = undefined
  }

  return endable(
    startMs,
    (nowMs) => {
      settle(nowMs)
      return current
    },
    (bytes, nowMs) => {
      settle(nowMs)
      if (events.push({ atMs: nowMs, bytes }) > WINDOW) events.shift()
      const reading = readRhythm(events)
      if (reading === current.name) pending = undefined
      else if (reading !== pending?.name) pending = { name: reading, sinceMs: nowMs }
      commitPending(nowMs)
    },
    (nowMs) => {
      settle(nowMs)
      const lastMs = events.at(-1)?.atMs
      if (lastMs === undefined || (current.name === 'idle' && pending === undefined)) return undefined
      const idleAtMs = lastMs + idleThresholdMs
      return pending === undefined ? idleAtMs : Math.min(idleAtMs, pending.sinceMs + debounceMs)
    },
  )
}

const TOOL_BURST_BYTES = 4_096
const TOOL_RESULT_BYTES = 1_024
const PAUSE_MS = 200

/** The decision of the field's classifier for Claude Code, on the latest events. */
function readRhythm(events: readonly Event[]): 'thinking' | 'streaming' | 'tool_use' {
  const latest = events.slice(-5)
  if (latest.some(({ bytes }) => bytes >= TOOL_BURST_BYTES)) return 'tool_use'
  if (events.length < 3) return 'thinking'
  if (latest.some((event, i) => isResultAfterPause(latest[i - 1], event))) return 'tool_use'
  const recent = events.slice(-10)
  return recent.length < 5 ? 'thinking' : readSizes(recent)
}

const isResultAfterPause = (before: Event | undefined, event: Event): boolean =>
  before !== undefined && event.atMs - before.atMs > PAUSE_MS && event.bytes > TOOL_RESULT_BYTES

function readSizes(events: readonly Event[]): 'thinking' | 'streaming' {
  const sizes = events.map(({ bytes }) => bytes)
  const mean = average(sizes)
  const deviation = Math.sqrt(average(sizes.map((size) => (size - mean) ** 2)))
  const gapMs = ((events.at(-1)?.atMs ?? 0) - (events[0]?.atMs ?? 0)) / (events.length - 1)
  // A spinner redraws the same few cells at a steady beat.
  if (mean >= 40 && mean <= 120 && deviation < 30 && gapMs >= 30 && gapMs <= 200) return 'thinking'
  return (mean > 100 || deviation > 50) && gapMs < 200 ? 'streaming' : 'thinking'
}

const average = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length
