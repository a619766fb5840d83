// What accumulators had counted before a call, and after it: noted as bare numbers, and put into words when somebody asks.
import type { Outcome } from './meters.ts'
import type { Counted, CounterReading } from '../types.ts'

/** Nearly every decision meets accumulators, so that a note costs two numbers and no object. */
export class Readings {
  readonly #counted: Counted[] = []
  readonly #numbers: number[] = []
  #outcome: Outcome = 'allowed'

  put(counted: Counted, before: number, after: number): void {
    this.#counted.push(counted)
    this.#numbers.push(before, after)
  }

  /** What became of the call: where it does not count, all is as it was before. */
  settle(outcome: Outcome): this {
    this.#outcome = outcome
    return this
  }

  /** In the order of the rules; empty for a call that meets none. */
  list(): readonly CounterReading[] {
    return this.#counted.map((counted, i): CounterReading => {
      const before = this.#numbers[2 * i] ?? 0
      const after = this.#counts(counted) ? (this.#numbers[2 * i + 1] ?? 0) : before
      // Field by field: to spread one object into another takes longer than the decision.
      return { rule_id: counted.rule_id, counter: counted.counter, limit: counted.limit, before, after }
    })
  }

  #counts({ counter }: Counted): boolean {
    switch (this.#outcome) {
      case 'allowed':
        return true
      case 'denied':
        return counter !== 'duplicates'
      case 'refused':
        return counter === 'repeats'
      case 'asked':
        return false
    }
  }
}

/** Of calls that meet no accumulator. */
export const NO_READINGS = new Readings()
