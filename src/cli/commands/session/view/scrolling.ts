// Looking back: which rows of the history are shown, what is searched for, what is selected. The session goes on behind it.
import type { IBufferLine } from '@xterm/headless'
import { atEdge } from '../../../../cells/draw-line.ts'
import type { Shows } from '../../../../cells/pen.ts'
import type { History } from './history.ts'
import { findRow, matchesIn } from './find-text.ts'
import { type Selection, selectedColumns, selectedText } from './selection.ts'
import type { Act, Mouse } from './view-keys.ts'

/** What an act comes to, beyond another picture. */
export type ScrollOutcome =
  | { readonly is: 'stay' }
  | { readonly is: 'leave' }
  | { readonly is: 'copy'; readonly text: string }

const STAY: ScrollOutcome = { is: 'stay' }
const LEAVE: ScrollOutcome = { is: 'leave' }
const WHEEL_ROWS = 3

export class Scrolling {
  readonly #history: History
  #rows: number
  #top: number
  #query = ''
  /** The query as it is being typed. */
  #typed: string | undefined
  #isNotFound = false
  #selection: Selection | undefined
  #isDragging = false
  /** A press that may become a selection. */
  #pressed: { readonly x: number; readonly y: number } | undefined

  constructor(history: History, rows: number) {
    this.#history = history
    this.#rows = rows
    this.#top = this.#bottom
  }

  get #bottom(): number {
    return Math.max(0, this.#history.count - this.#rows)
  }

  resize(rows: number): void {
    this.#rows = rows
    this.#top = Math.min(this.#top, this.#bottom)
  }

  act(act: Act): ScrollOutcome {
    if (act.is === 'mouse') return this.#mouse(act)
    if (this.#typed !== undefined) return this.#type(this.#typed, act.name)
    return this.#key(act.name)
  }

  #key(name: string): ScrollOutcome {
    switch (name) {
      case 'shift-page-up':
      case 'page-up':
      case 'b':
        return this.#scroll(1 - this.#rows)
      case 'shift-page-down':
      case 'page-down':
      case ' ':
      case 'f':
        return this.#scroll(this.#rows - 1)
      case 'up':
      case 'shift-up':
      case 'k':
        return this.#scroll(-1)
      case 'down':
      case 'shift-down':
      case 'j':
        return this.#scroll(1)
      case 'home':
      case 'g':
        return this.#scroll(Number.NEGATIVE_INFINITY)
      case 'end':
      case 'G':
        this.#top = this.#bottom
        return STAY
      case '/':
        this.#typed = ''
        return STAY
      case 'n':
        return this.#find(-1)
      case 'N':
        return this.#find(1)
      case 'enter':
      case 'y':
        return this.#copy()
      case 'escape':
      case 'q':
      case 'ctrl-c':
        return this.#escape()
      default:
        // Not the program's either: whoever looks back does not see what a key would do there.
        return STAY
    }
  }

  /** Down past the end leads back, as in every terminal. */
  #scroll(rows: number): ScrollOutcome {
    if (rows > 0 && this.#top === this.#bottom && this.#selection === undefined) return LEAVE
    this.#top = Math.min(this.#bottom, Math.max(0, this.#top + rows))
    return STAY
  }

  #type(typed: string, name: string): ScrollOutcome {
    if (name === 'escape' || name === 'ctrl-c') this.#typed = undefined
    else if (name === 'backspace') this.#typed = typed === '' ? undefined : typed.slice(0, -1)
    else if (name === 'enter') {
      this.#typed = undefined
      if (typed !== '') this.#query = typed
      return this.#find(-1)
    } else if (!/^\p{C}|^.{2}/u.test(name)) this.#typed = typed + name
    return STAY
  }

  /** Back in time first: one looks for what has gone by. */
  #find(step: 1 | -1): ScrollOutcome {
    if (this.#query === '') return STAY
    // From the middle, where a match is put; at the very end from the last row, so that what is on the screen is found.
    const from = this.#top === this.#bottom && step < 0 ? this.#history.count : this.#top + this.#middle
    const row = findRow(this.#history, this.#query, from, step)
    this.#isNotFound = row === undefined
    if (row !== undefined) this.#top = Math.min(this.#bottom, Math.max(0, row - this.#middle))
    return STAY
  }

  get #middle(): number {
    return Math.floor(this.#rows / 2)
  }

  #mouse({ does, x, y }: Mouse): ScrollOutcome {
    switch (does) {
      case 'wheel-up':
        return this.#scroll(-WHEEL_ROWS)
      case 'wheel-down':
        return this.#scroll(WHEEL_ROWS)
      case 'press':
        this.#selection = undefined
        this.#pressed = { x, y }
        return STAY
      case 'drag':
        return this.#drag(x, y)
      case 'release':
        this.#isDragging = false
        this.#pressed = undefined
        return STAY
      case 'other':
        return STAY
    }
  }

  #drag(x: number, y: number): ScrollOutcome {
    const start = this.#pressed ?? { x, y }
    const anchor = this.#isDragging ? this.#selection?.anchor : undefined
    const within = Math.min(Math.max(y, 0), this.#rows - 1)
    this.#selection = {
      anchor: anchor ?? { row: this.#top + start.y, x: start.x },
      head: { row: this.#top + within, x },
    }
    this.#isDragging = true
    // At an edge the selection goes on beyond it.
    if (y <= 0) this.#top = Math.max(0, this.#top - 1)
    else if (y >= this.#rows - 1) this.#top = Math.min(this.#bottom, this.#top + 1)
    return STAY
  }

  #copy(): ScrollOutcome {
    return this.#selection === undefined ? STAY : { is: 'copy', text: this.#text(this.#selection) }
  }

  #text(selection: Selection): string {
    return selectedText(selection, (row) => this.#history.line(row))
  }

  #escape(): ScrollOutcome {
    const hadSelection = this.#selection !== undefined
    this.#selection = undefined
    return hadSelection && this.#top !== this.#bottom ? STAY : LEAVE
  }

  /** Each row from a reset style, with what is selected or found in reverse. */
  lines(cols: number, shows: Shows): string[] {
    return Array.from({ length: this.#rows }, (_, y) => {
      const row = this.#top + y
      const { text, width } = this.#history.draw(row, cols, shows) ?? { text: '', width: 0 }
      return (width < cols ? `${text}\u001b[K` : text) + this.#marks(row, cols)
    })
  }

  #marks(row: number, cols: number): string {
    const line = this.#history.line(row)
    const selected = this.#selection === undefined ? undefined : selectedColumns(this.#selection, row)
    return [...matchesIn(line, this.#query), ...(selected === undefined ? [] : [selected])]
      .map(([from, to]) => {
        const last = Math.min(to, cols - 1)
        const text = line === undefined ? '' : textOf(line, from, last, cols)
        return last < from ? '' : `\u001b[${from + 1}G\u001b[0;7m${text}\u001b[0m`
      })
      .join('')
  }

  /** Where one is, and what can be done. */
  get words(): string {
    if (this.#typed !== undefined) return `/${this.#typed}▏`
    if (this.#selection !== undefined && !this.#isDragging)
      return `copy ${Array.from(this.#text(this.#selection)).length} characters? Enter copies · Esc does not`
    const last = Math.min(this.#history.count, this.#top + this.#rows)
    const place = `history: line ${last} of ${this.#history.count}`
    const found = this.#query === '' ? '/ searches' : this.#isNotFound ? `no ${this.#query}` : 'n older, N newer match'
    return `${place} · ${found} · Esc returns`
  }
}

/** Both columns included. */
function textOf(line: IBufferLine, from: number, last: number, cols: number): string {
  const edge = last === cols - 1 ? (line.getCell(last)?.getChars() ?? '') : ''
  if (edge === '') return line.translateToString(false, from, last + 1)
  return line.translateToString(false, from, last) + atEdge(edge)
}
