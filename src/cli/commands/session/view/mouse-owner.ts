// Which mouse events the viewer's terminal is asked for: those that the program wants, else those that scroll and select.

/** Buttons, dragging and the wheel. Moving alone is not asked for. */
const OURS = 1_002
/** Presses alone have no form that the mouse events of today's terminals are written in. */
const PRESSES = 9
const PRESSES_AND_RELEASES = 1_000

export class MouseOwner {
  #asked: number | undefined

  /** What to send so that the terminal reports what is wanted, always in the one form that has no limits. */
  settle(tracking: number | undefined): string {
    const wanted = tracking === PRESSES ? PRESSES_AND_RELEASES : (tracking ?? OURS)
    if (wanted === this.#asked) return ''
    // They switch each other off, and not every terminal in the same way.
    const off = this.#asked === undefined ? '' : `\u001b[?${this.#asked}l`
    this.#asked = wanted
    return `${off}\u001b[?${wanted}h\u001b[?1006h`
  }

  /** The terminal has been given to somebody else meanwhile. */
  forget(): void {
    this.#asked = undefined
  }
}
