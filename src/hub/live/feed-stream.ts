// Server-sent events to one browser: named messages with ids, a sign of life now and then, and an end for one that does not read.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock, Timer } from '../../clock.ts'
import { HUB_FEED_BEAT_MS, HUB_FEED_QUEUE_BYTES } from '../../limits.ts'
import type { LiveEvents } from '../contract.ts'

export class FeedStream {
  readonly #response: ServerResponse
  readonly #clock: Clock
  readonly #over = new AbortController()
  #beat: Timer | undefined

  constructor(request: IncomingMessage, response: ServerResponse, clock: Clock) {
    this.#response = response
    this.#clock = clock
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // For tunnels that would collect it first.
      'X-Accel-Buffering': 'no',
    })
    // Comes back at once after a hub that was restarted.
    response.write('retry: 1000\n\n')
    request.socket.setNoDelay(true)
    response.once('close', () => this.end())
    this.#scheduleBeat()
  }

  /** Aborted when the browser has gone. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  say<Name extends keyof LiveEvents>(name: Name, data: LiveEvents[Name], id?: string): void {
    if (this.signal.aborted) return
    const idLine = id === undefined ? '' : `id: ${id}\n`
    this.#response.write(`event: ${name}\n${idLine}data: ${JSON.stringify(data)}\n\n`)
    // Asleep, or on a line that is too slow: it comes back with its last id and misses nothing.
    if (this.#response.writableLength > HUB_FEED_QUEUE_BYTES) this.#response.destroy()
  }

  end(): void {
    this.#beat?.cancel()
    this.#over.abort()
    this.#response.end()
  }

  #scheduleBeat(): void {
    this.#beat = this.#clock.after(HUB_FEED_BEAT_MS, () => {
      this.#response.write(': here\n\n')
      this.#scheduleBeat()
    })
  }
}
