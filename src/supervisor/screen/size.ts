// Whose size the terminal has: the last client that asked or typed, and when it leaves, the one before. Pure.
import type { Size } from '../../wire/payloads.ts'

export class SizePolicy<Client> {
  readonly #isPinned: boolean
  /** In order of asking, the latest last. */
  readonly #asked = new Map<Client, Size>()
  #latest: Client | undefined
  #current: Size

  constructor(initial: Size, isPinned: boolean) {
    this.#current = initial
    this.#isPinned = isPinned
  }

  get current(): Size {
    return this.#current
  }

  /** The size to apply, or nothing when it stays. A pinned size never changes, but asking for it is no fault. */
  ask(client: Client, size: Size): Size | undefined {
    this.#asked.delete(client)
    this.#asked.set(client, size)
    this.#latest = client
    return this.#apply(size)
  }

  /** Nothing would change if somebody typed there. */
  isOf(client: Client): boolean {
    return client === this.#latest || !this.#asked.has(client)
  }

  /** Somebody types there: whoever has gone back to another terminal sees all of it again, without having to resize it. */
  use(client: Client): Size | undefined {
    const size = this.#asked.get(client)
    return size === undefined || client === this.#latest ? undefined : this.ask(client, size)
  }

  /** The client is gone: the size of whoever asked last among the others comes back. */
  leave(client: Client): Size | undefined {
    this.#asked.delete(client)
    const remaining = [...this.#asked].at(-1)
    this.#latest = remaining?.[0]
    return remaining === undefined ? undefined : this.#apply(remaining[1])
  }

  #apply(size: Size): Size | undefined {
    if (this.#isPinned || (size.cols === this.#current.cols && size.rows === this.#current.rows)) return undefined
    this.#current = size
    return size
  }
}
