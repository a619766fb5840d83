// Frames of an attached view: the session’s screen or its history above the status line, painted line by line as they change.
import { type ClusterWidths, columnAt, drawnColumn, type Shift } from '../../cells/clusters.ts'
import type { Shows } from '../../cells/pen.ts'
import type { Clock, Timer } from '../../clock.ts'
import type { Size } from '../../wire/payloads.ts'
import type { ViewEmulator } from './emulator.ts'
import type { LookBack } from './look-back.ts'
import type { OuterTerminal } from './outer-terminal.ts'
import type { ShownState, StatusLine } from './status-line.ts'
import { type Window, windowAround } from './view.ts'

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
  /** As painted last; `#shifts` has the columns that wide characters moved. */
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

  /** The column of the frame at this cell of the terminal. */
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

  /** Another program had the terminal: sets our modes again. */
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

/** Buttons and the wheel: without dragging, which selects text together with Shift. */
const OURS = 1_000
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

  /** Another program had the terminal. */
  forget(): void {
    this.#asked = undefined
  }
}

/** Frames follow each other at least this far apart. */
const FRAME_MS = 10
/** How long a state lasts is shown in seconds. */
const TICK_MS = 1_000

export class FramePacer {
  readonly #clock: Clock
  readonly #paint: () => void
  #lastFrameMs = Number.NEGATIVE_INFINITY
  #frame: Timer | undefined
  #tick: Timer | undefined

  constructor(clock: Clock, paint: () => void) {
    this.#clock = clock
    this.#paint = paint
  }

  /** Something has changed. */
  ask(): void {
    if (this.#frame !== undefined) return
    const delayMs = Math.max(0, this.#lastFrameMs + FRAME_MS - this.#clock.monoMs())
    if (delayMs === 0) this.#now()
    else
      this.#frame = this.#clock.after(delayMs, () => {
        this.#frame = undefined
        this.#now()
      })
  }

  /** From now on also when nothing changes but the time. */
  begin(): void {
    this.ask()
    this.#tick = this.#clock.after(TICK_MS, () => this.begin(), { background: true })
  }

  close(): void {
    this.#frame?.cancel()
    this.#tick?.cancel()
  }

  #now(): void {
    this.#lastFrameMs = this.#clock.monoMs()
    this.#paint()
  }
}
