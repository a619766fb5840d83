// Who looks at a session through this hub: each page hears when another comes, goes or takes the keyboard.

export interface Watcher {
  /** Connections of this page that the session counts as somebody's terminal. */
  readonly viewers: () => number
  /** How many look now. */
  readonly onCount: (watching: number) => void
}

export class Watchers {
  readonly #pages = new Map<string, Set<Watcher>>()
  /** Terminals that are no page of ours, as the session last said. */
  readonly #others = new Map<string, number>()

  /** Returns how to go. */
  join(sessionId: string, page: Watcher): () => void {
    const pages = this.#pages.get(sessionId) ?? new Set()
    this.#pages.set(sessionId, pages.add(page))
    return () => {
      pages.delete(page)
      if (pages.size > 0) return this.tell(sessionId)
      this.#pages.delete(sessionId)
      this.#others.delete(sessionId)
    }
  }

  /** A session counts terminals, and a page that types has two of them. */
  counted(sessionId: string, viewers: number): void {
    const ours = [...(this.#pages.get(sessionId) ?? [])].reduce((sum, page) => sum + page.viewers(), 0)
    this.#others.set(sessionId, Math.max(0, viewers - ours))
    this.tell(sessionId)
  }

  tell(sessionId: string): void {
    const pages = this.#pages.get(sessionId) ?? new Set()
    for (const { onCount } of pages) onCount(pages.size + (this.#others.get(sessionId) ?? 0))
  }
}
