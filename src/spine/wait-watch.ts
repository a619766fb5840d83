// When a run begins to wait for a person, and when no longer: by what its session says, and by a budget that refuses.
import type { Clock } from '../clock.ts'
import type { Env } from '../paths.ts'
import type { KeptRecord } from '../runs/kept-record.ts'
import type { ExitRecord, StateEvent } from '../sessions/keeper.ts'
import { BUDGET, BUDGET_SOURCE } from './fleet/wait-kind.ts'
import type { KeptSheet } from './kept-sheet.ts'
import { Notifier } from './notify.ts'
import type { Pulse } from './pulse.ts'
import { saidByEnd, saidByPerson, saidBySession } from './wait-answers.ts'
import { type WaitAnswered, Waits } from './waits.ts'

export interface WaitWatchParts {
  readonly sheet: KeptSheet
  readonly record: KeptRecord
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
}

export class WaitWatch {
  readonly #runDir: string
  readonly #waits: Waits
  readonly #notifier: Notifier

  constructor({ sheet, record, env, clock, note }: WaitWatchParts) {
    this.#runDir = sheet.runDir
    this.#notifier = new Notifier({ run: sheet.run, env, clock, note })
    this.#waits = new Waits(record, sheet.run, clock, (booked) => {
      sheet.put(booked)
      this.#notifier.look(booked.wait)
    })
  }

  get isWaiting(): boolean {
    return this.#waits.isOpen
  }

  session({ state, needs_input: needs }: StateEvent): void {
    // One that is over asks nothing any more; that is no answer, and `settle` has the words for it.
    if (state === 'dead') return
    if (needs.value) this.#waits.begin({ source: needs.source, evidence: needs.evidence })
    else if (!this.#isForBudget) this.#end(saidBySession(needs))
  }

  /** A budget that refuses is a wait for a person, although nobody asks: what the session says goes before it. */
  budget(refusal: Pulse['budget']): void {
    if (refusal === null) {
      if (this.#isForBudget) this.#waits.end({ answer: 'a call was allowed again', by: null })
    } else if (!this.#waits.isOpen)
      this.#waits.begin({ source: BUDGET_SOURCE, evidence: `${BUDGET}${refusal.summary}`, since: refusal.since })
  }

  /** What is open stays booked, and nobody is told of it any more. */
  stop(): void {
    this.#notifier.stop()
  }

  /** There is nobody left who could wait. */
  settle(exit: ExitRecord | undefined): void {
    this.#end(saidByEnd(exit))
  }

  get #isForBudget(): boolean {
    return this.#waits.open?.source === BUDGET_SOURCE
  }

  /** A person's word of a question counts before what the session says of it, and is read from where it was given. */
  #end(otherwise: WaitAnswered): void {
    const { open } = this.#waits
    if (open !== null) this.#waits.end(saidByPerson(this.#runDir, open) ?? otherwise)
  }
}
