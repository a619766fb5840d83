// Progress of indexing, on one line of a terminal that is erased at the end; nothing in a pipe.
import type { Clock } from '../../clock.ts'
import { PROGRESS_AFTER_MS, PROGRESS_EVERY_MS } from '../../limits.ts'
import type { Progress } from '../../runs/index/catch-up.ts'
import { duration } from '../../duration.ts'
import { size } from './size.ts'

export class ProgressLine {
  readonly #stream: NodeJS.WriteStream
  readonly #clock: Clock
  readonly #startedMs: number
  #shownMs: number | null = null

  constructor(stream: NodeJS.WriteStream, clock: Clock) {
    this.#stream = stream
    this.#clock = clock
    this.#startedMs = clock.monoMs()
  }

  readonly show = ({ runs, runsInAll, bytes, bytesInAll }: Progress): void => {
    const nowMs = this.#clock.monoMs()
    const tookMs = nowMs - this.#startedMs
    if (!this.#stream.isTTY || tookMs < PROGRESS_AFTER_MS) return
    if (this.#shownMs !== null && nowMs - this.#shownMs < PROGRESS_EVERY_MS) return
    this.#shownMs = nowMs
    const left = bytes === 0 ? '' : `, ${duration((tookMs / bytes) * Math.max(0, bytesInAll - bytes))} left`
    this.#stream.write(
      `\r\u001b[Kindexing: ${size(bytes)} of ${size(bytesInAll)}, run ${runs + 1} of ${runsInAll}${left}`,
    )
  }

  clear(): void {
    if (this.#shownMs !== null) this.#stream.write('\r\u001b[K')
    this.#shownMs = null
  }
}
