// When the next frame is drawn: the echo of a single key at once, a flood no faster than anybody sees it.
import type { Clock, Timer } from '../../../../clock.ts'

/** Frames follow each other at least this far apart. */
const FRAME_MS = 10
/** How long a state lasts is shown in seconds. */
const TICK_MS = 1_000

export class FramePacer {
  readonly #clock: Clock
  readonly #paint: () => void
  #lastFrameMs = Number.NEGATIVE_INFINITY
  #frame: Timer | undefined
  #tick: Timer | undefined

  constructor(clock: Clock, paint: () => void) {
    this.#clock = clock
    this.#paint = paint
  }

  /** Something has changed. */
  ask(): void {
    if (this.#frame !== undefined) return
    const delayMs = Math.max(0, this.#lastFrameMs + FRAME_MS - this.#clock.monoMs())
    if (delayMs === 0) this.#now()
    else
      this.#frame = this.#clock.after(delayMs, () => {
        this.#frame = undefined
        this.#now()
      })
  }

  /** From now on also when nothing changes but the time. */
  begin(): void {
    this.ask()
    this.#tick = this.#clock.after(TICK_MS, () => this.begin(), { background: true })
  }

  close(): void {
    this.#frame?.cancel()
    this.#tick?.cancel()
  }

  #now(): void {
    this.#lastFrameMs = this.#clock.monoMs()
    this.#paint()
  }
}
