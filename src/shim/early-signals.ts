// Signals from the first moment on: what comes before anybody listens is told to whoever does first.
import { EventEmitter } from 'node:events'

/** Those that mean something to a shim. Without a listener the system ends the process with any of them. */
const HEARD = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const

export class EarlySignals extends EventEmitter {
  readonly #untold = new Set<string>()

  /** `source` is the process; its warnings are told as well. */
  constructor(source: EventEmitter) {
    super()
    for (const name of HEARD)
      source.on(name, () => {
        if (!this.emit(name)) this.#untold.add(name)
      })
    source.on('warning', (warning) => this.emit('warning', warning))
  }

  override on(name: string, listener: () => void): this
  override on(name: 'warning', listener: (warning: Error) => void): this
  override on(name: string, listener: (warning: Error) => void): this {
    super.on(name, listener)
    // Not before whoever listens has put up what it listens for.
    if (this.#untold.delete(name)) queueMicrotask(() => this.emit(name))
    return this
  }
}
