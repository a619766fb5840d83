// The line that a program is writing, to tell a redraw that changes nothing: shells draw a pasted line a second time.
import { widthVersion } from './widths.ts'

/** A line longer than this is not compared: what is written over it is shown again. */
const LINE_CELLS_MAX = 4_096
const TAB = 8

export class RedrawnLine {
  /** By column; what follows the first cell of a character is empty. Nothing where places cannot be told: after a movement to another line, or a line that is too long. */
  #cells: string[] | undefined = []
  #width = 0
  /** What the character at the end was, for the one that may join it. */
  #last = 0
  #at = 0
  /** So much of the character there has been written again. */
  #within = 0
  #same = ''

  /** Cells in the line so far. */
  get width(): number {
    return this.#width
  }

  get isAtEnd(): boolean {
    return this.#cells !== undefined && this.#at === this.#width
  }

  /** A character behind all others. */
  add(char: string): void {
    const before = this.#last
    this.#last = char === '\t' ? 0 : widthVersion.charProperties(char.codePointAt(0) ?? 0, before)
    const isJoined = (this.#last & 1) === 1
    const cells = char === '\t' ? TAB - (this.#width % TAB) : (this.#last >> 1) & 3
    const added = isJoined ? cells - ((before >> 1) & 3) : cells
    this.#width += added
    if (this.#width > LINE_CELLS_MAX) this.#cells = undefined
    if (this.#cells === undefined) return
    if (isJoined) this.#join(char)
    else this.#cells.push(char)
    while (this.#cells.length < this.#width) this.#cells.push('')
  }

  #join(char: string): void {
    const first = this.#cells?.findLastIndex((cell) => cell !== '') ?? -1
    if (this.#cells !== undefined && first >= 0) this.#cells[first] += char
  }

  /** The cursor is put back, and what follows is written over what stands there. */
  back(column: number): void {
    this.#at = column
    this.#within = 0
    this.#same = ''
  }

  /** One cell back from the end, or from where the line is written over. */
  left(isFromEnd: boolean): void {
    const same = isFromEnd ? '' : Array.from(this.#same).slice(0, -1).join('')
    this.back(Math.max(0, (isFromEnd ? this.#width : this.#at) - 1))
    this.#same = same
  }

  /** Further on in the line that is written over, without writing. */
  step(count: number): void {
    if (this.#same !== '') for (let i = 0; i < count; i += 1) this.#same += this.#cells?.[this.#at + i] ?? ' '
    this.#at += count
    this.#within = 0
  }

  /** The rest of the line is blank, or another line is written now. */
  forget(): void {
    this.#cells = undefined
  }

  /** Whether the character stands there already; `end` when it was the last of the line. */
  rewrite(char: string): 'same' | 'end' | 'new' {
    const cell = this.#cells?.[this.#at] ?? ''
    if (this.#cells === undefined || !cell.startsWith(char, this.#within) || cell === '') return 'new'
    this.#same += char
    this.#within += char.length
    if (this.#within < cell.length) return 'same'
    this.#within = 0
    do this.#at += 1
    while (this.#cells[this.#at] === '')
    return this.#at === this.#cells.length ? 'end' : 'same'
  }

  /** It is another line than was thought, and goes on behind all others; returns what was taken for the same. */
  giveUp(): string {
    const same = this.#same
    this.forget()
    this.#same = ''
    for (const char of same) this.add(char)
    return same
  }

  /** Begins the next line, with what was the same in both; returns that. */
  next(): string {
    const same = this.#same
    this.#cells = []
    this.#width = 0
    this.#last = 0
    this.#same = ''
    for (const char of same) this.add(char)
    return same
  }
}
