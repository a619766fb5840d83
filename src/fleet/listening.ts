// Hears the engine's bell on a connection of its own, and looks now and then: a bell may be lost, and a pooler has none.
import type { Clock } from '../clock.ts'
import type { LogListener } from '../coordination/shared-log.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_LOOK_MS } from '../limits.ts'
import { connect, type EngineAddress, type Sql } from './engine-connection.ts'

/** Until the signal. Nobody waits for it, so nothing is thrown: without a bell there is still the look. */
export function listen(
  address: EngineAddress,
  clock: Clock,
  { onNews, onFailure }: LogListener,
  signal: AbortSignal,
): void {
  if (signal.aborted) return
  const bell = new Bell(address, onNews)
  let told = ''
  const subscribe = async (): Promise<void> => {
    try {
      await bell.subscribe()
      told = ''
    } catch (error) {
      // The driver listens again by itself, and what it says of the engine is said of the look too, in our words.
      if (!(error instanceof HeimdallError) || error.message === told) return
      told = error.message
      onFailure(error)
    }
  }
  const look = (): void => {
    void subscribe()
    onNews()
    timer = clock.after(FLEET_LOOK_MS, look)
  }
  let timer = clock.after(FLEET_LOOK_MS, look)
  signal.addEventListener('abort', () => {
    timer.cancel()
    bell.end()
  })
  void subscribe()
}

/** At one address at a time: the role that a line was given with is gone once there is another line. */
class Bell {
  readonly #address: EngineAddress
  readonly #onNews: () => void
  #at: EngineAddress | undefined
  #sql: Sql | undefined
  #isOver = false

  constructor(address: EngineAddress, onNews: () => void) {
    this.#address = address
    this.#onNews = onNews
  }

  /** Where it listens there already, nothing. */
  async subscribe(): Promise<void> {
    // Read here: the line may be another by now, or none.
    const { url, isPooled } = this.#address
    if (url === this.#at?.url && isPooled === this.#at.isPooled) return
    const at = { url, isPooled }
    this.#at = at
    this.#hangUp()
    if (isPooled) return
    try {
      const sql = await connect(at)
      if (this.#isOver || this.#at !== at) return
      this.#sql = sql
      // The driver listens again after each lost connection, and calls back then: something may have been missed.
      await sql.listen('heimdall', this.#onNews, this.#onNews)
    } catch (error) {
      // A file that the address names cannot be read: the next look tries again.
      if (error instanceof HeimdallError && this.#at === at) this.#at = undefined
      throw error
    }
  }

  end(): void {
    this.#isOver = true
    this.#hangUp()
  }

  #hangUp(): void {
    void this.#sql?.end({ timeout: 0 })
    this.#sql = undefined
  }
}
