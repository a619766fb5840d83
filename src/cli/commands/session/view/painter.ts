// Draws frames into a terminal and sends only the lines that changed.

export interface Frame {
  /** Each draws one whole row from a reset style, and clears what it leaves blank. */
  readonly lines: readonly string[]
  /** Undefined hides the cursor. */
  readonly cursor: { readonly x: number; readonly y: number } | undefined
}

// Without wrapping: a character that the terminal takes for wider than we do must not push a line into the next one.
const BEGIN = '\u001b[?2026h\u001b[?25l\u001b[?7l'
const SHOW = '\u001b[?25h'
const END = '\u001b[?7h\u001b[?2026l'

export class Painter {
  #lines: readonly string[] = []
  #cursor = ''

  /** Everything is drawn again by the next frame. */
  forget(): void {
    this.#lines = []
    this.#cursor = ''
  }

  /** What to write so that the terminal shows the frame; empty when it does already. */
  paint(frame: Frame): string {
    const isFresh = this.#lines.length !== frame.lines.length
    let out = isFresh ? '\u001b[0m\u001b[2J' : ''
    frame.lines.forEach((line, y) => {
      if (isFresh || line !== this.#lines[y]) out += `\u001b[${y + 1};1H${line}`
    })
    const cursor = frame.cursor === undefined ? '' : `\u001b[${frame.cursor.y + 1};${frame.cursor.x + 1}H${SHOW}`
    const isSame = out === '' && cursor === this.#cursor
    this.#lines = frame.lines
    this.#cursor = cursor
    return isSame ? '' : BEGIN + out + cursor + END
  }
}
