// The viewer’s copy of the session’s screen, and the requests of the program that concern the viewer’s own terminal.
import type { IBuffer, Terminal } from '@xterm/headless'
import { drawLine, type DrawnLine, type LinePart } from '../../cells/draw-line.ts'
import { SOFT_RESET_MODES, switchMode } from '../../cells/modes.ts'
import { MOUSE_FORMS, MOUSE_TRACKING, type MouseModes } from '../../cells/mouse.ts'
import { type Params, paramsText } from '../../cells/params.ts'
import { Pen, type Shows } from '../../cells/pen.ts'
import { inlineText } from '../../cells/plain-text.ts'
import { resizeTerminal } from '../../cells/resize.ts'
import { createTerminal } from '../../cells/terminal.ts'
import { WholeCharacters } from '../../cells/whole-characters.ts'
import { CLIPBOARD_CHARS_MAX } from '../../limits.ts'
import type { Size } from '../../wire/payloads.ts'

/** Lines that are put back into the viewer's own terminal when the command ends. */
const SCROLLBACK_LINES = 1_000

/** Receives what the program requests of the terminal. Nothing else of the program reaches the terminal. */
export interface TerminalRequests {
  /** Modes of keys, focus and paste. Not the mouse: see `mouse`. */
  readonly mode: (sequence: string) => void
  /** Title, bell, cursor shape, notification, clipboard. */
  readonly show: (sequence: string) => void
}

export class ViewEmulator {
  readonly terminal: Terminal
  readonly #requests: TerminalRequests
  readonly #whole = new WholeCharacters()
  readonly #modes = new Set<number>()
  #isCursorVisible = true
  #pendingBytes = 0

  constructor({ cols, rows }: Size, requests: TerminalRequests) {
    this.#requests = requests
    this.terminal = createTerminal({ cols, rows, scrollback: SCROLLBACK_LINES })
    this.#listen()
  }

  get pendingBytes(): number {
    return this.#pendingBytes
  }

  get size(): Size {
    return { cols: this.terminal.cols, rows: this.terminal.rows }
  }

  get screen(): IBuffer {
    return this.terminal.buffer.active
  }

  get normalScreen(): IBuffer {
    return this.terminal.buffer.normal
  }

  /** Rows of the screen that is shown, or of the normal one, whose history lies before its first row. */
  draw(rows: RowsToDraw, buffer: IBuffer = this.screen): DrawnLine[] {
    return drawRows(this.terminal, buffer, rows)
  }

  get isCursorVisible(): boolean {
    return this.#isCursorVisible
  }

  get mouse(): MouseModes {
    return {
      tracking: MOUSE_TRACKING.find((mode) => this.#modes.has(mode)),
      form: MOUSE_FORMS.find((mode) => this.#modes.has(mode)),
    }
  }

  /** Sets the modes of the program again in a terminal that was reset. */
  get modes(): string {
    return [...this.#modes]
      .filter((mode) => WISHED.has(mode))
      .map((mode) => `\u001b[?${mode}h`)
      .join('')
  }

  /** Resolves when the bytes are on the screen. */
  write(bytes: Buffer): Promise<void> {
    this.#pendingBytes += bytes.length
    return new Promise((resolve) => {
      this.terminal.write(this.#whole.push(bytes), () => {
        this.#pendingBytes -= bytes.length
        resolve()
      })
    })
  }

  resize(size: Size): void {
    resizeTerminal(this.terminal, size)
  }

  /** An empty screen of this size; a snapshot that follows switches on again what the program has switched on. */
  reset(size: Size): void {
    this.terminal.reset()
    this.resize(size)
    this.#forgetModes()
  }

  #forgetModes(): void {
    this.#setModes([25], true)
    this.#setModes([...this.#modes], false)
  }

  #listen(): void {
    const { parser } = this.terminal
    parser.registerCsiHandler({ prefix: '?', final: 'h' }, (params) => this.#setModes(params, true))
    parser.registerCsiHandler({ prefix: '?', final: 'l' }, (params) => this.#setModes(params, false))
    parser.registerEscHandler({ final: 'c' }, () => {
      this.#forgetModes()
      return false
    })
    parser.registerCsiHandler({ intermediates: '!', final: 'p' }, () => {
      this.#setModes(SOFT_RESET_MODES, false)
      return this.#setModes([25], true)
    })
    const { mode, show } = this.#requests
    const csi = (prefix: string, intermediates: string, final: string, to: (sequence: string) => void): void => {
      const id = { final, ...(prefix === '' ? {} : { prefix }), ...(intermediates === '' ? {} : { intermediates }) }
      parser.registerCsiHandler(id, (params) => {
        to(`\u001b[${prefix}${paramsText(params)}${intermediates}${final}`)
        return true
      })
    }
    // Queries are not passed on: the session answers them once, for all viewers.
    parser.registerEscHandler({ final: '=' }, () => pass(mode, '\u001b='))
    parser.registerEscHandler({ final: '>' }, () => pass(mode, '\u001b>'))
    // Keyboard protocols: kitty's push, pop and set, and xterm's modifyOtherKeys.
    for (const prefix of ['>', '<', '=']) csi(prefix, '', 'u', mode)
    csi('>', '', 'm', mode)
    csi('', ' ', 'q', show)
    for (const code of [0, 2]) parser.registerOscHandler(code, (text) => pass(show, osc(2, inlineText(text))))
    for (const code of [9, 99, 777]) parser.registerOscHandler(code, (text) => pass(show, osc(code, inlineText(text))))
    // Programs may write the clipboard; reading it is not passed on.
    parser.registerOscHandler(52, (text) =>
      /^[cpqs0-7]*;[A-Za-z0-9+/=]*$/.test(text) && text.length <= CLIPBOARD_CHARS_MAX
        ? pass(show, osc(52, text))
        : true,
    )
    this.terminal.onBell(() => show('\u0007'))
  }

  #setModes(params: Params, isOn: boolean): boolean {
    for (const mode of params) {
      if (mode === 25) this.#isCursorVisible = isOn
      if (typeof mode !== 'number' || !INPUT_MODES.has(mode)) continue
      if (WISHED.has(mode) && this.#modes.has(mode) !== isOn) this.#requests.mode(`\u001b[?${mode}${isOn ? 'h' : 'l'}`)
      switchMode(this.#modes, mode, isOn)
    }
    return false
  }
}

/** Cursor keys, keypad, focus, wheel and bracketed paste. */
const WISHED = new Set([1, 66, 1004, 1007, 2004])
const INPUT_MODES = new Set([...WISHED, ...MOUSE_TRACKING, ...MOUSE_FORMS])

function pass(to: (sequence: string) => void, sequence: string): true {
  to(sequence)
  return true
}

const osc = (code: number, text: string): string => `\u001b]${code};${text}\u0007`

export interface RowsToDraw extends LinePart {
  /** First row, counted from the top of the screen; negative rows are history. */
  readonly start: number
  readonly count: number
  readonly shows: Shows
}

export function drawRows(terminal: Terminal, buffer: IBuffer, rows: RowsToDraw): DrawnLine[] {
  const cell = buffer.getNullCell()
  const pen = new Pen(terminal, rows.shows)
  return Array.from({ length: rows.count }, (_, y) => {
    const line = buffer.getLine(buffer.baseY + rows.start + y)
    return line === undefined ? { text: '', width: 0, isFull: false, shifts: [] } : drawLine(line, pen, rows, cell)
  })
}

export function remainsOf(emulator: ViewEmulator, shows: Shows): string {
  const { normalScreen, size } = emulator
  const count = normalScreen.baseY + size.rows
  const rows = { start: -normalScreen.baseY, left: 0, count, cols: size.cols, shows }
  const lines = emulator.draw({ ...rows, ground: 'text' }, normalScreen).map(({ text }) => text)
  while (lines.at(-1) === '') lines.pop()
  // Rows that are one line stay one, which this terminal breaks where it has to.
  const isBroken = (y: number): boolean => y + 1 < lines.length && normalScreen.getLine(y + 1)?.isWrapped === true
  return lines.map((line, y) => (isBroken(y) ? line : `${line}\r\n`)).join('')
}
