// What the status line is about: the session's id and state as they were told last, and a notice for a while.
import type { Clock } from '../../../../clock.ts'
import type { Info, StateEvent } from '../../../../wire/payloads.ts'
import { noticeLine, type StatusLine, statusLine } from './status-line.ts'

/** How long the status line says that something was done. */
const NOTICE_MS = 3_000

export class ShownState {
  readonly #clock: Clock
  #id: string
  #state: Pick<StateEvent, 'state' | 'needs_input'>
  #sinceMs: number
  #notice: { readonly texts: readonly string[]; readonly untilMs: number } | undefined

  constructor(clock: Clock, info: Info) {
    this.#clock = clock
    this.#id = info.id
    this.#state = info
    this.#sinceMs = clock.monoMs() - info.state_ms
  }

  /** A session may be renamed while it is watched. */
  get id(): string {
    return this.#id
  }

  take(state: StateEvent): void {
    this.#state = state
    this.#id = state.id ?? this.#id
    this.#sinceMs = this.#clock.monoMs() - state.state_ms
  }

  /** In words, and in fewer words. */
  notice(texts: readonly string[]): void {
    this.#notice = { texts, untilMs: this.#clock.monoMs() + NOTICE_MS }
  }

  /** Something else than the state: the first that there is room for. */
  words(texts: readonly string[], cols: number): string {
    return noticeLine({ id: this.#id, isWaiting: this.#state.needs_input.value, texts }, cols)
  }

  line(more: Omit<StatusLine, 'id' | 'state' | 'stateMs'>, cols: number): string {
    const nowMs = this.#clock.monoMs()
    if (this.#notice !== undefined && this.#notice.untilMs > nowMs) return this.words(this.#notice.texts, cols)
    return statusLine({ id: this.#id, state: this.#state, stateMs: nowMs - this.#sinceMs, ...more }, cols)
  }
}
