// One frame of an attached view: the session's screen or its history, the status line below it, and with it whatever the
// program wishes of the terminal.
import { columnAt, type ClusterWidths, drawnColumn, type Shift } from '../../../../cells/clusters.ts'
import type { Shows } from '../../../../cells/pen.ts'
import type { Size } from '../../../../wire/payloads.ts'
import type { ViewEmulator } from './emulator.ts'
import type { LookBack } from './look-back.ts'
import { MouseOwner } from './mouse-owner.ts'
import type { OuterTerminal } from './outer-terminal.ts'
import { type Frame, Painter } from './painter.ts'
import type { ShownState } from './shown-state.ts'
import type { StatusLine } from './status-line.ts'
import { type Window, windowAround } from './window.ts'

export interface FrameParts {
  readonly outer: OuterTerminal
  readonly emulator: ViewEmulator
  readonly shown: ShownState
  readonly lookBack: LookBack
  /** What the status line says whatever happens. */
  readonly about: Pick<StatusLine, 'isReadOnly' | 'detachKey' | 'hasColor'>
}

export class ScreenFrames {
  readonly #parts: FrameParts
  readonly #painter = new Painter()
  readonly #mouse = new MouseOwner()
  #shows: Shows
  /** As it was painted last, which is what the person sees; and where in its rows columns are not in their place. */
  #window: Window
  #shifts: readonly (readonly Shift[])[] = []
  /** Sequences for the terminal that go out with the next frame. */
  #outbox = ''

  constructor(parts: FrameParts, shows: Shows) {
    this.#parts = parts
    this.#shows = shows
    this.#window = { left: 0, top: 0, ...parts.emulator.size }
  }

  get shows(): Shows {
    return this.#shows
  }

  get window(): Window {
    return this.#window
  }

  /** Which events of the mouse the program is to have from this viewer. */
  get tracking(): number | undefined {
    return this.#parts.about.isReadOnly ? undefined : this.#parts.emulator.mouse.tracking
  }

  /** The column of the frame that a person sees at this place of the terminal. */
  columnAt({ x, y }: { readonly x: number; readonly y: number }): number {
    return columnAt(this.#shifts[y] ?? [], x)
  }

  /** The terminal has said how wide it draws characters of several parts. */
  learn(clusters: ClusterWidths): void {
    this.#shows = { ...this.#shows, clusters }
  }

  /** Goes out before the next frame. */
  send(sequence: string): void {
    this.#outbox += sequence
  }

  /** What the terminal shows is no longer known: everything is drawn anew. */
  forget(): void {
    this.#painter.forget()
  }

  /** The terminal was somebody else's, and has none of our modes any more. */
  takeBack(): void {
    this.#mouse.forget()
    if (!this.#parts.about.isReadOnly) this.send(this.#parts.emulator.modes)
    this.forget()
  }

  paint(): void {
    const { outer, lookBack, shown } = this.#parts
    const size = outer.screenSize
    const back = lookBack.view
    const frame =
      back === undefined
        ? this.#live(size)
        : { lines: [...back.lines(this.#shows), shown.words(back.words, size.cols)], cursor: undefined }
    const outbox = this.#outbox + this.#mouse.settle(this.tracking)
    this.#outbox = ''
    // A terminal of one row has none for the status line.
    const lines = frame.lines.slice(0, outer.rows)
    outer.write(outbox + this.#painter.paint({ ...frame, lines }))
  }

  #live({ cols, rows }: Size): Frame {
    const { emulator } = this.#parts
    const { screen, size, isCursorVisible } = emulator
    // Behind the last column it waits for what comes next, and is shown in that column. One that is hidden may be anywhere.
    const cursor = { x: Math.min(screen.cursorX, size.cols - 1), y: screen.cursorY }
    this.#window = windowAround(isCursorVisible ? cursor : { ...cursor, x: 0 }, size, { cols, rows }, this.#window)
    const { left, top, rows: count } = this.#window
    const drawn = emulator.draw({ start: top, left, count, cols, shows: this.#shows, ground: 'used' })
    this.#shifts = drawn.map(({ shifts }) => shifts)
    const lines = drawn.map(({ text, width }) => (width < cols ? `${text}\u001b[K` : text))
    while (lines.length < rows) lines.push('\u001b[K')
    const y = cursor.y - top
    const x = Math.min(cols - 1, drawnColumn(this.#shifts[y] ?? [], cursor.x - left))
    return { lines: [...lines, this.#status(cols, rows)], cursor: isCursorVisible ? { x, y } : undefined }
  }

  #status(cols: number, rows: number): string {
    const { emulator, lookBack, shown, about } = this.#parts
    if (lookBack.isReading) return shown.words(['reading the history · Esc returns', 'reading · Esc'], cols)
    const { size } = emulator
    const isOther = size.cols !== cols || size.rows !== rows
    return shown.line({ ...about, otherSize: isOther ? `${size.cols}x${size.rows}` : undefined }, cols)
  }
}
