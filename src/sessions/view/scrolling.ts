// Scrolling back: which rows of the history are shown, and what is searched for. The session goes on meanwhile.
import type { Shows } from '../../cells/pen.ts'
import type { Size } from '../../wire/payloads.ts'
import { findRow, type History, matchesIn } from './history.ts'
import type { Act, Mouse } from './view-keys.ts'
import type { Window } from './view.ts'

/** What the view does after a key or a mouse event. */
export type ScrollOutcome = 'stay' | 'leave'

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
  /** Starts with the part of the screen that is shown. */
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
    return 'stay'
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
        return 'stay'
      case '/':
        this.#typed = ''
        return 'stay'
      case 'n':
        return this.#find(-1)
      case 'N':
        return this.#find(1)
      case 'escape':
      case 'q':
      case 'ctrl-c':
        return 'leave'
      default:
        // Dropped: the user cannot see what the key would do in the program.
        return 'stay'
    }
  }

  /** Down past the end leads back, as in every terminal. */
  #scroll(rows: number): ScrollOutcome {
    if (rows > 0 && this.#top === this.#bottom) return 'leave'
    this.#top = Math.min(this.#bottom, Math.max(0, this.#top + rows))
    return 'stay'
  }

  #type(typed: string, name: string): ScrollOutcome {
    if (name === 'escape' || name === 'ctrl-c') this.#typed = undefined
    else if (name === 'backspace') this.#typed = typed === '' ? undefined : withoutLast(typed)
    else if (name === 'enter') {
      this.#typed = undefined
      if (typed !== '') this.#query = typed
      return this.#find(-1)
    } else if (!/^(?!\u200d)\p{C}|^.{2}/u.test(name)) this.#typed = typed + name
    return 'stay'
  }

  /** Back in time first: one looks for what has gone by. */
  #find(step: 1 | -1): ScrollOutcome {
    if (this.#query === '') return 'stay'
    // From the middle, where a match is put; at the very end from the last row, so that what is on the screen is found.
    const from = this.#top === this.#bottom && step < 0 ? this.#history.count : this.#top + this.#middle
    const row = findRow(this.#history, this.#query, from, step)
    this.#isNotFound = row === undefined
    if (row === undefined) return 'stay'
    this.#top = Math.min(this.#bottom, Math.max(0, row - this.#middle))
    const [[first, last] = [0, 0]] = matchesIn(this.#history.line(row), this.#query)
    if (first < this.#left) return this.#shift(first - this.#left)
    return this.#shift(Math.max(0, Math.min(first - this.#left, last + 1 - this.#left - this.#size.cols)))
  }

  get #middle(): number {
    return Math.floor(this.#rows / 2)
  }

  #mouse({ does }: Mouse): ScrollOutcome {
    if (does === 'wheel-up') return this.#scroll(-WHEEL_ROWS)
    return does === 'wheel-down' ? this.#scroll(WHEEL_ROWS) : 'stay'
  }

  /** Each row from a reset style, with matches in reverse. */
  lines(shows: Shows): string[] {
    const { cols, rows } = this.#size
    return Array.from({ length: rows }, (_, y) => {
      const row = this.#top + y
      const marks = matchesIn(this.#history.line(row), this.#query)
      const drawn = this.#history.draw(row, { left: this.#left, cols, ground: 'used', marks }, shows)
      const { text, width } = drawn ?? { text: '', width: 0 }
      return width < cols ? `${text}\u001b[K` : text
    })
  }

  /** Where one is, and what can be done. */
  get words(): string[] {
    if (this.#typed !== undefined) return [`/${this.#typed}▏`]
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
