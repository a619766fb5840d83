// Waits of a run for a person: each booked in the record with its start, its end, who said so and how it was answered, and the open one on the sheet, for whoever asks who waits.
import type { Clock } from '../clock.ts'
import { createIdSource } from '../id-source.ts'
import type { KeptRecord } from '../runs/kept-record.ts'
import type { WaitStart } from '../runs/owned-run.ts'
import type { KeptRun } from './kept-run.ts'

export interface WaitSign {
  /** Who says so: `hook`, `osc`, `screen` of the session, or whoever else can tell. */
  readonly source: string
  readonly evidence: string | null
  /** Since when, where that was noticed later. */
  readonly since?: string
}

/** How a wait came to its end, and who is known to have answered. */
export interface WaitAnswered {
  readonly answer: string
  readonly by: string | null
  /** Who had the session ended, where that is what ended it. */
  readonly endedBy?: string
}

type Booked = Pick<KeptRun, 'wait' | 'waits'>

export class Waits {
  readonly #record: KeptRecord
  readonly #clock: Clock
  readonly #newId: () => string
  readonly #onChange: (booked: Booked) => void
  #open: WaitStart | null
  #startedMonoMs: number
  /** Of the last one. */
  #endedMonoMs: number | undefined
  #total: KeptRun['waits']

  /** `booked` by an earlier watcher: a wait that is open goes on. */
  constructor(record: KeptRecord, booked: Booked, clock: Clock, onChange: (booked: Booked) => void) {
    this.#record = record
    this.#clock = clock
    this.#newId = createIdSource(clock)
    this.#onChange = onChange
    this.#open = booked.wait
    this.#total = booked.waits
    const sinceMs = booked.wait === null ? 0 : Math.max(0, clock.wallMs() - Date.parse(booked.wait.started_at))
    this.#startedMonoMs = clock.monoMs() - sinceMs
  }

  get isOpen(): boolean {
    return this.#open !== null
  }

  get open(): WaitStart | null {
    return this.#open
  }

  get total(): KeptRun['waits'] {
    return this.#total
  }

  /**
   * A person is waited for. Whoever answers must see what is asked now: another question of whoever asked is another
   * wait, and other words for what is asked are taken over.
   */
  begin({ source, evidence, since }: WaitSign): void {
    if (this.#open !== null) {
      if (this.#open.source === source && this.#open.evidence === evidence) return
      if (!isAnotherQuestion(this.#open, { source, evidence })) {
        this.#open = { ...this.#open, source, evidence }
        this.#changed()
        return
      }
      this.end({ answer: 'it asked something else', by: null })
    }
    const nowMs = this.#clock.wallMs()
    // No moment is waited through twice: what a budget says goes on while a question stands before it.
    const freeMs = this.#endedMonoMs === undefined ? Infinity : this.#clock.monoMs() - this.#endedMonoMs
    const lateMs = since === undefined ? 0 : Math.min(freeMs, Math.max(0, nowMs - Date.parse(since)))
    this.#open = {
      wait_id: this.#newId(),
      started_at: new Date(nowMs - lateMs).toISOString(),
      source,
      evidence,
    }
    this.#startedMonoMs = this.#clock.monoMs() - lateMs
    this.#record.waitStart(this.#open)
    this.#changed()
  }

  /** Nobody is waited for any more. */
  end({ answer, by, endedBy }: WaitAnswered): void {
    if (this.#open === null) return
    const waitedMs = Math.max(0, Math.floor(this.#clock.monoMs() - this.#startedMonoMs))
    this.#record.waitEnd({
      ...this.#open,
      ended_at: new Date(this.#clock.wallMs()).toISOString(),
      waited_ms: waitedMs,
      answer,
      answered_by: by,
      ...(endedBy === undefined ? {} : { ended_by: endedBy }),
    })
    this.#total = { count: this.#total.count + 1, ms: this.#total.ms + waitedMs }
    this.#open = null
    this.#endedMonoMs = this.#clock.monoMs()
    this.#changed()
  }

  #changed(): void {
    this.#onChange({ wait: this.#open, waits: this.#total })
  }
}

/**
 * Hooks and signals of the program are sent once for each question. A screen is read: its words change while it is drawn,
 * and what it shows is often what a hook has said already.
 */
function isAnotherQuestion(open: WaitSign, next: WaitSign): boolean {
  const isSaid = open.source === next.source && open.source !== 'screen'
  return isSaid && !isTitle(open.evidence) && !isTitle(next.evidence)
}

/** A title is drawn like a screen: with a spinner in it, it is another one every moment. */
const isTitle = (evidence: string | null): boolean => evidence?.startsWith('title: ') === true
