// Events on their way to an async iterator: bounded, because the source is paused while too much waits.
import { CLIENT_QUEUE_BYTES_MAX } from '../limits.ts'

export interface PausableSource {
  pause(): void
  resume(): void
}

/** One producer, one consumer. `finish` and `fail` take effect after everything that was added before them. */
export class EventQueue<T> {
  readonly #source: PausableSource
  #items: { readonly item: T; readonly bytes: number }[] = []
  #bytes = 0
  #isPaused = false
  #end: { readonly error: Error | undefined } | undefined
  #wake: (() => void) | undefined

  constructor(source: PausableSource) {
    this.#source = source
  }

  add(item: T, bytes: number): void {
    if (this.#end !== undefined) return
    this.#items.push({ item, bytes })
    this.#bytes += bytes
    if (this.#bytes > CLIENT_QUEUE_BYTES_MAX && !this.#isPaused) {
      this.#isPaused = true
      this.#source.pause()
    }
    this.#wake?.()
  }

  finish(): void {
    this.#end ??= { error: undefined }
    this.#wake?.()
  }

  fail(error: Error): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  async *take(): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const batch = this.#items
        this.#items = []
        for (const { item, bytes } of batch) {
          this.#bytes -= bytes
          this.#resumeIfLow()
          yield item
        }
        if (this.#items.length > 0) continue
        if (this.#end !== undefined) {
          if (this.#end.error !== undefined) throw this.#end.error
          return
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        this.#wake = undefined
      }
    } finally {
      // A consumer that leaves early must not leave the connection stopped: answers to requests come on it too.
      this.#end ??= { error: undefined }
      this.#items = []
      this.#bytes = 0
      this.#resumeIfLow()
    }
  }

  #resumeIfLow(): void {
    if (!this.#isPaused || this.#bytes > CLIENT_QUEUE_BYTES_MAX / 2) return
    this.#isPaused = false
    this.#source.resume()
  }
}
