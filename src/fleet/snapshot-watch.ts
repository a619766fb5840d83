// Whoever follows the log for its machine keeps a snapshot of it when one is due: behind everything else, and on a connection of its own.
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_SNAPSHOT_EVERY, FLEET_SNAPSHOT_PAUSE_MS } from '../limits.ts'
import { Connection, type EngineAddress } from './engine-connection.ts'

export interface KeptCopy extends EngineAddress {
  readonly project: string
  /** Path of this machine's copy. */
  readonly copy: string
  readonly every?: number | undefined
  readonly pauseMs?: number | undefined
  readonly clock: Clock
}

/** So often between two snapshots it is looked whether one is due: others may have made one, and none is to be much too late. */
const LOOKS = 4

export class SnapshotWatch {
  readonly #kept: KeptCopy
  readonly #onFailure: (error: HeimdallError) => void
  readonly #signal: AbortSignal
  #lookedAt: number | undefined
  /** From the pause on: one at a time. */
  #isUnderWay = false

  constructor(kept: KeptCopy, onFailure: (error: HeimdallError) => void, signal: AbortSignal) {
    this.#kept = kept
    this.#onFailure = onFailure
    this.#signal = signal
  }

  /** The copy has everything up to this entry. Nobody waits for what comes of it. */
  standsAt(seq: number): void {
    const { clock, every = FLEET_SNAPSHOT_EVERY, pauseMs = FLEET_SNAPSHOT_PAUSE_MS } = this.#kept
    if (this.#signal.aborted || this.#isUnderWay) return
    if (this.#lookedAt !== undefined && seq - this.#lookedAt < every / LOOKS) return
    this.#lookedAt = seq
    this.#isUnderWay = true
    // All machines hear of an entry at the same moment: whoever looks first begins, and the others see that.
    const timer = clock.after(Math.random() * pauseMs, () => void this.#keep(every), {
      background: true,
    })
    this.#signal.addEventListener('abort', () => timer.cancel(), { once: true })
  }

  /** Never fails: nobody waits for it. */
  async #keep(every: number): Promise<void> {
    const { project, copy, clock } = this.#kept
    const engine = new Connection(this.#kept, clock)
    const stop = (): void => void engine.drop()
    this.#signal.addEventListener('abort', stop, { once: true })
    try {
      const { keepIfDue } = await import('./snapshots.ts')
      await keepIfDue(
        (question) => {
          this.#signal.throwIfAborted()
          return engine.ask(question)
        },
        project,
        copy,
        every,
      )
    } catch (error) {
      if (!this.#signal.aborted) this.#onFailure(inWords(error))
    } finally {
      this.#signal.removeEventListener('abort', stop)
      await engine.drop()
      this.#isUnderWay = false
    }
  }
}

function inWords(error: unknown): HeimdallError {
  if (error instanceof HeimdallError) return error
  return new HeimdallError('INTERNAL', `no snapshot was kept: ${String(error)}`, { cause: error })
}
