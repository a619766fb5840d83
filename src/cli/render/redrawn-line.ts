// The line that a program is writing, to tell a redraw that changes nothing: shells draw a pasted line a second time.

/** A line longer than this is not compared: what is written over it is shown again. */
const LINE_CHARS_MAX = 4_096

export class RedrawnLine {
  /** Nothing where places cannot be told: after a movement to another line, or a line that is too long. */
  #chars: string[] | undefined = []
  /** Characters that take no cell or several: an index is no column any more. */
  #isEven = true
  #at = 0
  #same = ''

  /** A character behind all others. */
  add(char: string): void {
    if (this.#chars?.length === LINE_CHARS_MAX) this.#chars = undefined
    this.#chars?.push(char)
    this.#isEven &&= char !== '\t' && (char.codePointAt(0) ?? 0) < 0x300
  }

  /** The cursor is put back, and what follows is written over what stands there. */
  back(column: number): void {
    this.#at = column
    this.#same = ''
    if (column > 0 && !this.#isEven) this.#chars = undefined
  }

  /** Further on in the line that is written over, without writing. */
  step(count: number): void {
    if (!this.#isEven) this.#chars = undefined
    if (this.#same !== '')
      this.#same += (this.#chars ?? [])
        .slice(this.#at, this.#at + count)
        .join('')
        .padEnd(count)
    this.#at += count
  }

  /** The rest of the line is blank, or another line is written now. */
  forget(): void {
    this.#chars = undefined
  }

  /** Whether the character stands there already; `end` when it was the last of the line. */
  rewrite(char: string): 'same' | 'end' | 'new' {
    if (this.#chars?.[this.#at] !== char) return 'new'
    this.#same += char
    this.#at += 1
    return this.#at === this.#chars.length ? 'end' : 'same'
  }

  /** Begins the next line, with what was the same in both; returns that. */
  next(): string {
    const same = this.#same
    this.#chars = []
    this.#isEven = true
    this.#same = ''
    for (const char of same) this.add(char)
    return same
  }
}
