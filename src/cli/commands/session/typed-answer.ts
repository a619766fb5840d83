// Whether a person who attached to a session that waits has answered it: by a key alone, or by a line with its Enter.
import { NEXT_SETTLE_MS } from '../../../limits.ts'
import { type InputPiece, type Key, keysOf, ViewKeys } from './view/view-keys.ts'

/** Keys that end an answer. Others with a name of their own lead to one, as arrows in a menu do. */
const ENDS = ['enter', 'escape']

/**
 * Fed with what the view types into the program. Whatever comes with it is told apart by keys and not by reads: on a busy
 * machine an answer stands in one read with what the terminal says by itself.
 */
export class TypedAnswer {
  readonly #keys = new ViewKeys()
  #typed = 0
  #isLineOpen = false
  #lastMs = Number.POSITIVE_INFINITY

  take(bytes: Buffer, nowMs: number): void {
    const keys = this.#keys.read(bytes).flatMap(typedKeys)
    const last = keys.at(-1)
    if (last === undefined) return
    this.#typed += keys.length
    this.#isLineOpen = !ENDS.includes(last.name)
    this.#lastMs = nowMs
  }

  /** Half a line is no answer, and neither is one that is still being typed. */
  isWhole(nowMs: number): boolean {
    return this.#typed > 0 && nowMs - this.#lastMs >= NEXT_SETTLE_MS && (!this.#isLineOpen || this.#typed === 1)
  }
}

function typedKeys({ act, bytes, isText }: InputPiece): readonly Key[] {
  if (isText) return keysOf(bytes)
  // A paste has no keys, and its text is typed all the same; its marks, and what is no key, are not.
  if (act === undefined) return bytes[0] === 0x1b ? [] : keysOf(bytes)
  return act.is === 'key' && (ENDS.includes(act.name) || act.name.length === 1) ? [act] : []
}
