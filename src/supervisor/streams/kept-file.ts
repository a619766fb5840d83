// Keeps what a running session says on disk, a second behind at most: so that it is there after any end.
import type { Clock, Timer } from '../../clock.ts'
import { HeimdallError, isSystemError } from '../../errors.ts'
import { KEPT_EVERY_MS, KEPT_OUTPUT_BYTES_MAX } from '../../limits.ts'
import type { TerminalCover } from '../../known-secrets/terminal-cover.ts'
import { replaceUnsynced } from '../../storage/unsynced-file.ts'
import type { Size } from '../../wire/payloads.ts'
import { encodeKept, type KeptScreen } from '../../wire/kept-output.ts'
import type { OutputLog } from './output-log.ts'
import type { SessionLog } from '../session-log.ts'

export interface ShownScreen extends Size {
  readonly title: string
}

export interface KeptFileParts {
  readonly output: OutputLog
  /** How much of the output is kept for replay; without any, nothing is kept here either. */
  readonly scrollbackBytes: number
  /** A session may be renamed. */
  readonly path: () => string
  readonly shown: () => ShownScreen
  /** What is kept is as long as what was said: places in it are places in the stream. */
  readonly cover: TerminalCover
  readonly clock: Clock
  readonly log: SessionLog
}

export class KeptFile {
  readonly #parts: KeptFileParts
  readonly #bytesMax: number
  #timer: Timer | undefined
  #hasFailed = false

  constructor(parts: KeptFileParts) {
    this.#parts = parts
    this.#bytesMax = Math.min(parts.scrollbackBytes, KEPT_OUTPUT_BYTES_MAX)
  }

  /** Everything that was ever said is kept. */
  get isFromStart(): boolean {
    return this.#parts.output.end <= this.#bytesMax
  }

  /** There is new output in the log. */
  advance(): void {
    this.#timer ??= this.#parts.clock.after(KEPT_EVERY_MS, () => this.save(), { background: true })
  }

  save(screen?: KeptScreen): void {
    this.close()
    const { output, path, shown, cover, log } = this.#parts
    if (this.#bytesMax === 0) return
    const offset = output.cutAtOrAfter(Math.max(output.start, output.end - this.#bytesMax)) ?? output.end
    const { cols, rows, title } = shown()
    const bytes = cover.whole(Buffer.concat(output.slices(offset, output.end)))
    const drawn = screen === undefined ? undefined : { ...screen, drawing: cover.whole(screen.drawing) }
    try {
      replaceUnsynced(path(), encodeKept({ size: { cols, rows }, title, offset, bytes, screen: drawn }))
      this.#hasFailed = false
    } catch (error) {
      // No room, or a folder that was removed: the session is worth more than what is kept of it.
      if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      if (!this.#hasFailed) log.write('error', 'session', `output is not kept: ${error.message}`)
      this.#hasFailed = true
    }
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
