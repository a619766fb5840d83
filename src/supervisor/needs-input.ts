// Whether a person is waited for, who says so, and on what evidence. Pure.
import type { NeedsInput } from '../wire/messages.ts'

const UNKNOWN: NeedsInput = { value: false, source: 'none', evidence: null }

/**
 * Host hooks and terminal signals know; the latest of them counts. The screen is a guess and counts only where
 * neither has spoken. Input answers whatever was asked.
 */
export class NeedsInputState {
  #told: NeedsInput | undefined
  #seen: NeedsInput | undefined

  get current(): NeedsInput {
    return this.#told ?? this.#seen ?? UNKNOWN
  }

  tell(source: 'hook' | 'osc', value: boolean, evidence: string | null): void {
    this.#told = { value, source, evidence }
  }

  /** Nothing is known from signals any more, as when a progress display is taken away. */
  forget(): void {
    this.#told = undefined
  }

  /** What the screen shows: the line that looks like a question, or nothing. */
  see(question: string | undefined): void {
    this.#seen = question === undefined ? undefined : { value: true, source: 'screen', evidence: question }
  }

  /** Somebody typed. A signal that says "no" stays: it was not a question. */
  answered(): void {
    if (this.#told?.value === true) this.#told = undefined
    this.#seen = undefined
  }
}
