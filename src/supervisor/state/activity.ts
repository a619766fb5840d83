// Tells keepers that something is going on: at most once a second, and never waiting for one that does not listen.
import type { Clock } from '../../clock.ts'
import { ACTIVITY_MS } from '../../limits.ts'
import { encodeFrame } from '../../wire/encode.ts'
import type { ClientConnection } from '../streams/client-connection.ts'

export class Activity {
  readonly #clock: Clock
  readonly #clients: () => ReadonlySet<ClientConnection>
  #toldMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, clients: () => ReadonlySet<ClientConnection>) {
    this.#clock = clock
    this.#clients = clients
  }

  /** Output or input happened: the agent is alive. */
  happened(): void {
    const nowMs = this.#clock.monoMs()
    if (nowMs - this.#toldMs < ACTIVITY_MS) return
    this.#toldMs = nowMs
    for (const client of this.#clients()) if (client.isKeeper) client.sendIfTaken(encodeFrame('activity'))
  }
}
