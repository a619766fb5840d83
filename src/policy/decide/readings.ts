// What accumulators had counted before a call, and after it: noted as bare numbers, and put into words when somebody asks.
import type { CallFate } from './meters.ts'
import type { Counted } from '../types.ts'

const NOTED = 3

/** Nearly every decision meets accumulators, so that a note costs two numbers and no object, and all of them one list. */
export class Readings {
  /** What is counted, and the numbers before and after, one behind the other. */
  readonly #noted: (Counted | number)[] = []
  #outcome: CallFate = 'allowed'

  put(counted: Counted, before: number, after: number): void {
    this.#noted.push(counted, before, after)
  }

  /** What became of the call: where it does not count, all is as it was before. */
  settle(outcome: CallFate): this {
    this.#outcome = outcome
    return this
  }

  /** In the order of the rules; none for a call that meets none. */
  get count(): number {
    return this.#noted.length / NOTED
  }

  counted(at: number): Counted {
    return this.#noted[at * NOTED] as Counted
  }

  /** What it had counted before the call, and what it has now; the same where the call does not count in it. */
  before(at: number): number {
    return this.#noted[at * NOTED + 1] as number
  }

  after(at: number): number {
    return this.#noted[at * NOTED + (this.#counts(this.counted(at)) ? 2 : 1)] as number
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
