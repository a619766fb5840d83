// Calls on a timeline: as many marks as can be told apart in the range, however many calls there are. What falls together is one mark that says how many it is.
import { iso } from '../../coordination/moment.ts'
import type { IndexEntry } from '../../runs/index/search.ts'
import type { DecisionWord, TimelineSpan } from '../contract.ts'
import { decisionWordOf } from './calls.ts'

/** More than the pixels of a wide screen, so that no gap is made by us. */
const STEPS = 2_000

interface Mark {
  fromMs: number
  toMs: number
  count: number
  /** The first of them. */
  readonly entry: IndexEntry
  readonly word: DecisionWord | undefined
}

/** Takes entries one by one, oldest first, and keeps no more than the marks. */
export class CallSpans {
  readonly #fromMs: number
  readonly #stepMs: number
  readonly #marks = new Map<string, Mark>()
  #taken = 0

  constructor(fromMs: number, toMs: number) {
    this.#fromMs = fromMs
    this.#stepMs = Math.max(1, (toMs - fromMs) / STEPS)
  }

  add(entry: IndexEntry): void {
    const { atMs, latencyMs, server, decision, id } = entry
    const tookMs = latencyMs ?? 0
    this.#taken += 1
    // The first ones stand for themselves, as does one that is long enough to be seen.
    const isAlone = this.#taken <= STEPS || tookMs > this.#stepMs
    const place = isAlone ? `alone ${id}` : String(Math.floor((atMs - this.#fromMs) / this.#stepMs))
    this.#put(`call ${server ?? ''} ${place}`, entry, tookMs, undefined)
    const word = decisionWordOf(decision)
    if (word !== 'allowed' && word !== 'undecided') this.#put(`${word} ${place}`, entry, 0, word)
  }

  #put(key: string, entry: IndexEntry, tookMs: number, word: DecisionWord | undefined): void {
    const known = this.#marks.get(key)
    const { atMs } = entry
    if (known === undefined) {
      this.#marks.set(key, { fromMs: atMs, toMs: atMs + tookMs, count: 1, entry, word })
      return
    }
    known.toMs = Math.max(known.toMs, atMs + tookMs)
    known.count += 1
  }

  spans(): TimelineSpan[] {
    return [...this.#marks.values()].map(({ fromMs, toMs, count, entry, word }): TimelineSpan => {
      const { server, tool, status, runId, callId } = entry
      const name = tool ?? ''
      return {
        lane: word === undefined ? 'call' : 'decision',
        track: word === undefined ? (server ?? '') : 'decisions',
        from: iso(fromMs),
        to: word === undefined ? iso(toMs) : null,
        kind: word ?? status ?? 'open',
        label: count === 1 ? name : `${count} calls, ${name} first`,
        ref: `${runId}/${callId ?? ''}`,
        count,
      }
    })
  }
}
