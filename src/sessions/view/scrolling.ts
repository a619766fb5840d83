// Scrolling back: which rows of the history are shown, what is searched for and what is selected. The session goes on meanwhile.
import { columnAt, type Shift } from '../../cells/clusters.ts'
import type { MarkedColumns } from '../../cells/draw-line.ts'
import type { Shows } from '../../cells/pen.ts'
import type { Size } from '../../wire/payloads.ts'
import { findRow, type History, matchesIn, selectedColumns, selectedText, type Selection } from './history.ts'
import type { Act, Mouse } from './view-keys.ts'
import type { ShownCell, Window } from './view.ts'

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
  #size: Size
  #top: number
  #left: number
  #query = ''
  /** The query as it is being typed. */
  #typed: string | undefined
  #isNotFound = false
  #selection: Selection | undefined
  #isDragging = false
  /** A press that may become a selection. */
  #pressed: ShownCell | undefined
  /** Where in the rows that are shown columns are not in their place. */
  #shifts: readonly (readonly Shift[])[] = []

  /** Begins with what is seen of the screen, so that the mouse selects what is under it. */
  constructor(history: History, size: Size, { left, top }: Pick<Window, 'left' | 'top'>) {
    this.#history = history
    this.#size = size
    this.#left = left
    this.#top = Math.min(this.#bottom, history.screenTop + top)
  }

  get #rows(): number {
    return this.#size.rows
  }

  /** A screen that is smaller than the terminal is in its upper part, as it is outside of the history. */
  get #bottom(): number {
    return Math.max(this.#history.screenTop, this.#history.count - this.#rows)
  }

  resize(size: Size): void {
    this.#size = size
    this.#top = Math.min(this.#top, this.#bottom)
    this.#shift(0)
  }

  /** Sideways, where rows are longer than the terminal is wide. */
  #shift(cols: number): ScrollOutcome {
    const rightmost = Math.max(0, this.#history.cols - this.#size.cols)
    this.#left = Math.min(rightmost, Math.max(0, this.#left + cols))
    return STAY
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
      case 'left':
      case 'h':
        return this.#shift(-Math.ceil(this.#size.cols / 2))
      case 'right':
      case 'l':
        return this.#shift(Math.ceil(this.#size.cols / 2))
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
        // Dropped: the user cannot see what the key would do in the program.
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
    else if (name === 'backspace') this.#typed = typed === '' ? undefined : withoutLast(typed)
    else if (name === 'enter') {
      this.#typed = undefined
      if (typed !== '') this.#query = typed
      return this.#find(-1)
    } else if (!/^(?!\u200d)\p{C}|^.{2}/u.test(name)) this.#typed = typed + name
    return STAY
  }

  /** Back in time first: one looks for what has gone by. */
  #find(step: 1 | -1): ScrollOutcome {
    if (this.#query === '') return STAY
    // From the middle, where a match is put; at the very end from the last row, so that what is on the screen is found.
    const from = this.#top === this.#bottom && step < 0 ? this.#history.count : this.#top + this.#middle
    const row = findRow(this.#history, this.#query, from, step)
    this.#isNotFound = row === undefined
    if (row === undefined) return STAY
    this.#top = Math.min(this.#bottom, Math.max(0, row - this.#middle))
    const [[first, last] = [0, 0]] = matchesIn(this.#history.line(row), this.#query)
    if (first < this.#left) return this.#shift(first - this.#left)
    return this.#shift(Math.max(0, Math.min(first - this.#left, last + 1 - this.#left - this.#size.cols)))
  }

  get #middle(): number {
    return Math.floor(this.#rows / 2)
  }

  #mouse({ does, x: drawn, y }: Mouse): ScrollOutcome {
    const x = this.#left + columnAt(this.#shifts[y] ?? [], drawn)
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
  lines(shows: Shows): string[] {
    const { cols, rows } = this.#size
    const drawn = Array.from({ length: rows }, (_, y) => {
      const row = this.#top + y
      const part = { left: this.#left, cols, ground: 'used', marks: this.#marks(row) } as const
      return this.#history.draw(row, part, shows) ?? { text: '', width: 0, shifts: [] }
    })
    this.#shifts = drawn.map(({ shifts }) => shifts)
    return drawn.map(({ text, width }) => (width < cols ? `${text}\u001b[K` : text))
  }

  #marks(row: number): MarkedColumns[] {
    const selected = this.#selection === undefined ? undefined : selectedColumns(this.#selection, row)
    return [...matchesIn(this.#history.line(row), this.#query), ...(selected === undefined ? [] : [selected])]
  }

  /** Where one is, and what can be done. */
  get words(): string[] {
    if (this.#typed !== undefined) return [`/${this.#typed}▏`]
    if (this.#selection !== undefined && !this.#isDragging) {
      const count = Array.from(this.#text(this.#selection)).length
      return [`copy ${count} characters? Enter copies · Esc does not`, `copy ${count}? Enter · Esc`]
    }
    const last = Math.min(this.#history.count, this.#top + this.#rows)
    const { count } = this.#history
    const isFound = this.#query !== '' && !this.#isNotFound
    const found = isFound ? 'n older, N newer match' : this.#query === '' ? '/ searches' : `no ${this.#query}`
    const short = isFound ? 'n, N' : this.#query === '' ? '/' : 'no match'
    return [
      `history: line ${last} of ${count} · ${found} · Esc returns`,
      `${last}/${count} · ${found} · Esc returns`,
      `${last}/${count} · ${short} · Esc returns`,
      `${last}/${count} · ${short} · Esc`,
    ]
  }
}

/** A character as a person sees it, however many code points it has. */
const withoutLast = (text: string): string =>
  Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
    .slice(0, -1)
    .join('')
