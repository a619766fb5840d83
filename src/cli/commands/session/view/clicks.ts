// What the program is told of the mouse: at its own cells, in the form that it asked for, and only of its own screen.
import { isTracked, MOUSE_MOTION, type MouseModes, type MouseReport, writeReport } from '../../../../cells/mouse.ts'
import { cellNear, isInside, type Window } from './window.ts'

/** Left, middle, right, wheel and the others, without modifiers. */
const WHICH = 3 | 64 | 128
const WHEEL = 64

export class Clicks {
  /** Buttons that were pressed on the program's screen and are still held down. */
  readonly #held = new Set<number>()

  /** Bytes for the program; none for what is not its business. */
  bytes(seen: MouseReport, modes: MouseModes, window: Window): Buffer {
    const isWanted = this.#follow(seen, isInside(window, seen))
    const report = { ...seen, ...cellNear(window, seen) }
    const { tracking } = modes
    const text =
      isWanted && tracking !== undefined && isTracked(report, tracking) ? writeReport(report, modes) : undefined
    return Buffer.from(text ?? '', 'latin1')
  }

  /** What began on the screen ends there, wherever the mouse has gone; what began elsewhere does not. */
  #follow({ button, isRelease }: MouseReport, inside: boolean): boolean {
    const which = button & WHICH
    if ((button & MOUSE_MOTION) !== 0) return this.#held.has(which) || (inside && this.#held.size === 0)
    if ((button & WHEEL) !== 0) return inside
    if (isRelease) return this.#held.delete(which)
    if (inside) this.#held.add(which)
    return inside
  }
}
