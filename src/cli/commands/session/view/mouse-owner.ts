// Whose the mouse of the viewer's terminal is: the program's when it has asked for it, else the viewer's, to scroll and select.

/** Buttons, dragging and the wheel, in the form without a limit. Moving alone is not asked for. */
const ON = '\u001b[?1002;1006h'
const OFF = '\u001b[?1002;1006l'
const MOUSE_MODE = /\u001b\[\?(?:9|100[0-6]|1015|1016)[hl]/

export class MouseOwner {
  #isOurs = false

  get isOurs(): boolean {
    return this.#isOurs
  }

  /**
   * What to send for a mode that the program has switched. Modes of the mouse switch each other off, so that ours go
   * before the program's come; `modes` are those that it has switched on so far.
   */
  pass(sequence: string, modes: string): string {
    if (!this.#isOurs || !MOUSE_MODE.test(sequence)) return sequence
    this.#isOurs = false
    return OFF + modes + sequence
  }

  /** What to send so that somebody has it. */
  settle(isProgramMouse: boolean): string {
    if (this.#isOurs || isProgramMouse) return ''
    this.#isOurs = true
    return ON
  }

  /** The terminal has been given to somebody else meanwhile. */
  forget(): void {
    this.#isOurs = false
  }
}
