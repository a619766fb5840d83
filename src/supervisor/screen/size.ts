// Whose size the terminal has: the last client that asked, and when it leaves, the one before. Pure.
import type { Size } from '../../wire/messages.ts'

export class SizePolicy<Client> {
  readonly #isPinned: boolean
  /** In order of asking, the latest last. */
  readonly #asked = new Map<Client, Size>()
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
    return this.#apply(size)
  }

  /** The client is gone: the size of whoever asked last among the others comes back. */
  leave(client: Client): Size | undefined {
    this.#asked.delete(client)
    const remaining = [...this.#asked.values()].at(-1)
    return remaining === undefined ? undefined : this.#apply(remaining)
  }

  #apply(size: Size): Size | undefined {
    if (this.#isPinned || (size.cols === this.#current.cols && size.rows === this.#current.rows)) return undefined
    this.#current = size
    return size
  }
}
