// The viewer’s own terminal: raw while the view draws in it, restored when it leaves.
import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { isErrno } from '../../errors.ts'
import { terminalSize } from '../../user-terminal.ts'
import type { Size } from '../../wire/payloads.ts'
import type { Viewer } from './view.ts'

/** Modes that the program may have switched on through us, and that would make a shell unusable afterwards. */
const INPUT_MODES = [1, 9, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004]

const ENTER = '\u001b[22;2t\u001b[?1049h\u001b[H\u001b[2J'
/** Leaving the alternate screen also leaves its keyboard flags (kitty protocol), which each screen has its own of. */
const RESTORE =
  `\u001b[?2026l\u001b[r\u001b[0m\u001b[?${INPUT_MODES.join(';')}l\u001b>\u001b[>4;0m\u001b[<99u` +
  '\u001b[0 q\u001b[?7h\u001b[?1049l\u001b[23;2t\u001b[?25h'

export class OuterTerminal {
  readonly #stdin: NodeJS.ReadStream
  readonly #stdout: NodeJS.WriteStream
  #isEntered = false

  constructor(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream) {
    this.#stdin = stdin
    this.#stdout = stdout
  }

  get cols(): number {
    return terminalSize(this.#stdout).cols
  }

  get rows(): number {
    return terminalSize(this.#stdout).rows
  }

  /** Less the status line. */
  get screenSize(): Size {
    return { cols: this.cols, rows: Math.max(1, this.rows - 1) }
  }

  enter(): void {
    this.#isEntered = true
    // The last resort: a terminal write is synchronous, so it still gets out of a process that is about to end.
    process.once('exit', this.leave)
    this.#stdin.setRawMode(true)
    this.write(ENTER)
  }

  /** Hands the terminal to the shell while we are stopped. */
  suspend(): void {
    this.write(RESTORE)
    this.#stdin.setRawMode(false)
  }

  /** After a stop and continue, the shell in between has set the terminal to its own liking. */
  resume(): void {
    this.#stdin.setRawMode(true)
    this.write(ENTER)
  }

  /** Can be called at any time and more than once. */
  readonly leave = (): void => {
    if (!this.#isEntered) return
    this.#isEntered = false
    process.off('exit', this.leave)
    this.write(RESTORE)
    this.#stdin.setRawMode(false)
  }

  write(text: string): void {
    if (text !== '') this.#stdout.write(text)
  }
}

/**
 * At its end Node sets the terminals that it was started with as it found them, and aborts where one does not answer any
 * more. A descriptor that is closed it passes over.
 */
export function surviveClosedTerminal({ stdin, stdout }: Pick<Viewer, 'stdin' | 'stdout'>): void {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd))
  process.once('exit', () => {
    for (const fd of terminals) if (!isatty(fd)) closeSync(fd)
  })
  // The views leave by the signal that comes with it, or by the end of their input.
  const onError = (error: Error): void => {
    if (!isErrno(error, 'EIO')) throw error
  }
  for (const stream of [stdin, stdout, process.stderr]) if (stream.isTTY) stream.on('error', onError)
}
