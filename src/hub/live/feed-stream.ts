// The live feed on one WebSocket: named messages with ids, a ping now and then, and an end for a browser that does not read.
import type { WebSocket } from 'ws'
import type { Clock, Timer } from '../../clock.ts'
import { HUB_FEED_BEAT_MS, HUB_FEED_QUEUE_BYTES } from '../../limits.ts'
import type { LiveEvents } from '../contract.ts'

export class FeedStream {
  readonly #socket: WebSocket
  readonly #clock: Clock
  readonly #over = new AbortController()
  #beat: Timer | undefined

  constructor(socket: WebSocket, clock: Clock) {
    this.#socket = socket
    this.#clock = clock
    socket.on('error', () => socket.terminate())
    socket.once('close', () => this.end())
    this.#scheduleBeat()
  }

  /** Aborted when the browser has gone. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  say<Name extends keyof LiveEvents>(event: Name, data: LiveEvents[Name], id?: string): void {
    if (this.signal.aborted) return
    this.#socket.send(JSON.stringify({ event, id, data }))
    // Asleep, or on a connection that is too slow: it comes back with its last id and misses nothing.
    if (this.#socket.bufferedAmount > HUB_FEED_QUEUE_BYTES) this.#socket.terminate()
  }

  end(): void {
    this.#beat?.cancel()
    this.#over.abort()
    this.#socket.close(1001)
  }

  #scheduleBeat(): void {
    this.#beat = this.#clock.after(HUB_FEED_BEAT_MS, () => {
      this.#socket.ping()
      this.#scheduleBeat()
    })
  }
}
