// What is a sign of trouble, each defined here and nowhere else: an agent that is stuck, and one that goes round in circles. Pure.
import {
  LOOP_CALLS_KEPT,
  LOOP_COUNT_MIN,
  LOOP_WINDOW_MS,
  STUCK_SILENCES,
  STUCK_SILENT_MS_MIN,
  STUCK_TIMES,
} from '../limits.ts'

/** Something that was done: a call with its arguments, or an error that came of one. */
interface Act {
  readonly what: 'call' | 'error'
  /** Tells the same act from another. */
  readonly key: string
  /** For people. */
  readonly name: string
  readonly atMs: number
}

export interface Loop {
  readonly what: 'call' | 'error'
  readonly name: string
  readonly count: number
  readonly first_at: string
  readonly last_at: string
}

/**
 * Looping: within the window the same call, or the same error, at least `LOOP_COUNT_MIN` times, and since its first
 * time at least half of all calls (or errors) were this one. Who does other things in between is at work.
 */
export class Circles {
  readonly #acts: Act[] = []

  did(act: Act): void {
    this.#acts.push(act)
    if (this.#acts.length > LOOP_CALLS_KEPT) this.#acts.shift()
  }

  now(nowMs: number): Loop | null {
    const recent = this.#acts.filter(({ atMs }) => nowMs - atMs < LOOP_WINDOW_MS)
    const last = recent.at(-1)
    if (last === undefined) return null
    for (const what of ['error', 'call'] as const) {
      const acts = recent.filter((act) => act.what === what)
      const newest = acts.at(-1)
      const same = acts.filter(({ key }) => key === newest?.key)
      const [first] = same
      if (newest === undefined || first === undefined || same.length < LOOP_COUNT_MIN) continue
      if (same.length * 2 < acts.length - acts.indexOf(first)) continue
      return { what, name: newest.name, count: same.length, first_at: isoOf(first.atMs), last_at: isoOf(newest.atMs) }
    }
    return null
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

/** How long an agent is usually silent while it says that it works: the longest of its last silences. */
export class Silences {
  #last: number[] = []

  constructor(usualMs: number | null) {
    if (usualMs !== null) this.#last.push(usualMs)
  }

  ended(ms: number): void {
    this.#last = [...this.#last, ms].slice(-STUCK_SILENCES)
  }

  get usualMs(): number | null {
    return this.#last.length === 0 ? null : Math.max(...this.#last)
  }
}

/**
 * Stuck: it says itself that it works, and was silent for longer than `STUCK_TIMES` its usual silence, and for
 * `STUCK_SILENT_MS_MIN` at least. Who never said that it works is idle when it is silent.
 */
export function isStuck(saysItWorks: boolean, silentMs: number, usualMs: number | null): boolean {
  return saysItWorks && silentMs >= Math.max(STUCK_SILENT_MS_MIN, STUCK_TIMES * (usualMs ?? 0))
}
