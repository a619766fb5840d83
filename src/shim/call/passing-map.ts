// A map for what comes and goes with every call.

interface Cell<Value> {
  value: Value | undefined
}

/**
 * When a `Map` grows or shrinks, V8 leaves the table behind that it had, which still holds what was in it and points to
 * the next one. Once one such table has grown old, each minor collection takes every later one for alive, with all that
 * was ever in them, copies it and lets it grow old as well. So what is taken out here is let go of by its cell.
 */
export class PassingMap<Key, Value> {
  readonly #cells = new Map<Key, Cell<Value>>()

  get size(): number {
    return this.#cells.size
  }

  has(key: Key): boolean {
    return this.#cells.has(key)
  }

  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value
  }

  set(key: Key, value: Value): void {
    const cell = this.#cells.get(key)
    if (cell === undefined) this.#cells.set(key, { value })
    else cell.value = value
  }

  /** Takes it out; undefined when there is none. */
  take(key: Key): Value | undefined {
    const cell = this.#cells.get(key)
    if (cell === undefined) return undefined
    const { value } = cell
    cell.value = undefined
    this.#cells.delete(key)
    return value
  }

  /** Takes all out, in the order in which their keys came. */
  takeAll(): Value[] {
    return [...this.#cells.keys()].map((key) => this.take(key) as Value)
  }
}
