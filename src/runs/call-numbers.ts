// Numbers of calls that were seen, so that a line that stands in the record twice counts once, in whatever order lines come.
import { CALL_NUMBERS_AHEAD_MAX, CALL_NUMBER_GAP_MAX } from '../limits.ts'

export class CallNumbers {
  /** All up to here were seen. */
  #through: number
  /** Seen beyond a gap. */
  readonly #ahead: Set<number>
  /** The greatest that was seen. */
  last: number

  constructor([through, ...ahead]: readonly number[] = [0]) {
    this.#through = through ?? 0
    this.#ahead = new Set(ahead)
    this.last = Math.max(this.#through, ...ahead)
  }

  /** False for a number that was seen before, and for one that no process of this run has given: the next one must stay exact. */
  add(number: number): boolean {
    if (!Number.isSafeInteger(number) || number > this.last + CALL_NUMBER_GAP_MAX) return false
    if (number <= this.#through || this.#ahead.has(number)) return false
    this.last = Math.max(this.last, number)
    this.#ahead.add(number)
    // A number that is lost leaves a gap, and what comes behind it is not remembered forever.
    if (this.#ahead.size > CALL_NUMBERS_AHEAD_MAX) this.#through = Math.min(...this.#ahead) - 1
    while (this.#ahead.delete(this.#through + 1)) this.#through += 1
    return true
  }

  saved(): readonly number[] {
    return [this.#through, ...this.#ahead]
  }
}
