// What the emulator is fed: the output up to a byte, in turn with sizes and with who answers, and after a flood its end alone.
import { SCREEN_LAG_BYTES_MAX, SCREEN_TAIL_BYTES } from '../../limits.ts'
import { condense } from './condense.ts'
import type { OutputLog } from '../streams/output-log.ts'
import type { ToScreen } from './screen-messages.ts'
import type { SessionLog } from '../session-log.ts'

export interface ScreenFeedParts {
  readonly output: OutputLog
  readonly log: SessionLog
  readonly post: (message: ToScreen) => void
}

interface Turn {
  readonly at: number
  readonly to: Extract<ToScreen, { is: 'size' | 'answering' }>
}

export class ScreenFeed {
  readonly #parts: ScreenFeedParts
  /** The emulator has been given everything before this byte, or what matters of it. */
  #fedTo = 0
  /** Sizes, and who answers, from these bytes on. */
  #turns: Turn[] = []
  /** Of the output that the emulator was given last. */
  #isAnswering = true

  constructor(parts: ScreenFeedParts) {
    this.#parts = parts
  }

  get fedTo(): number {
    return this.#fedTo
  }

  get lagBytes(): number {
    return this.#parts.output.end - this.#fedTo
  }

  /** No size is to change in the midst of what is still to be fed. */
  get isOfOneSize(): boolean {
    return this.#turns.every(({ at, to }) => at === 0 || to.is !== 'size')
  }

  /** From the output's end of now on, which is returned. */
  turn(to: Turn['to']): number {
    const at = this.#parts.output.end
    // Where nothing came in between, the last of each kind is all that counts: a program may write nothing for days.
    const before = this.#turns.findLastIndex((turn) => turn.at === at && turn.to.is === to.is)
    if (before >= 0) this.#turns.splice(before, 1)
    this.#turns.push({ at, to })
    return at
  }

  /** Everything up to now, or after a flood its end. */
  feed(): void {
    if (this.lagBytes > SCREEN_LAG_BYTES_MAX) this.skip()
    this.#feedUpTo(this.#parts.output.end, (slices) => {
      for (const bytes of slices) this.#parts.post({ is: 'output', bytes })
    })
  }

  /** Passes over what there is no time for, but for the modes it sets and what it asks. */
  skip(): void {
    const { output, log, post } = this.#parts
    const from = Math.max(this.#fedTo, output.start)
    const to = output.cutAtOrAfter(Math.max(from, output.end - SCREEN_TAIL_BYTES)) ?? output.end
    log.write('debug', 'screen', `too fast: passed over ${to - this.#fedTo} bytes`)
    this.#feedUpTo(to, (slices) => {
      const bytes = condense(slices)
      if (bytes.length > 0) post({ is: 'output', bytes })
    })
    // Behind what was kept: a switch of screens in there is no fresh screen, for what was drawn on it is missing.
    post({ is: 'skipped' })
  }

  /** For an emulator that knows nothing: all that is kept, and answers from where the one before it was. */
  rewind(): void {
    this.#turns.unshift({ at: this.#fedTo, to: { is: 'answering', isOn: this.#isAnswering } })
    this.#fedTo = this.#parts.output.start
  }

  /** Gives the emulator what there is, in turn with what changes on the way. */
  #feedUpTo(end: number, give: (slices: readonly Buffer[]) => void): void {
    const feed = (to: number): void => {
      if (to <= this.#fedTo) return
      give(this.#parts.output.slices(this.#fedTo, to))
      this.#fedTo = to
    }
    while (this.#turns[0] !== undefined && this.#turns[0].at <= end) {
      const [{ at, to }] = this.#turns.splice(0, 1) as [Turn]
      feed(at)
      this.#parts.post(to)
      if (to.is === 'answering') this.#isAnswering = to.isOn
    }
    feed(end)
  }
}
