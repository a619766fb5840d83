// What every view of a session has: the session, the terminal that shows it, which part of the screen it shows, and how it ends.
import type { Clock } from '../../clock.ts'
import type { Env } from '../../paths.ts'
import type { From, Size } from '../../wire/payloads.ts'
import type { RemoteSession } from '../remote/remote-session.ts'

/** The terminal, or pipe, that a session is shown in. */
export interface Viewer {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly env: Env
  readonly clock: Clock
  /** One line on stderr. */
  readonly note: (line: string) => void
  /** The command, for the session’s list of what clients did. */
  readonly calledAs: string
  /** The byte of the detach key; 0 for none. */
  readonly detachKey: number
  readonly hasColor: boolean
  /** Writes output of an inline view; false when the reader has gone. */
  readonly write: (bytes: Buffer) => Promise<boolean>
}

export interface ViewTarget {
  readonly id: string
  readonly dir: string
  readonly socketPath: string
  /** Instead of the socket: a session on another machine. */
  readonly remote?: RemoteSession
  readonly isInline: boolean
  readonly isReadOnly: boolean
  readonly isSafe: boolean
  /** Disconnects the other viewers first. */
  readonly isAlone: boolean
  /** The view goes on after the end of its input and after its reader has gone (`| head`): the exit code is the command’s. */
  readonly staysToEnd: boolean
  /** Where an inline view starts. A drawn view starts with the current screen, unless this is an offset. */
  readonly from: From
  /** Ends the view when aborted. */
  readonly answered?: AbortSignal
  /** Called with the bytes that a human typed, without what the terminal sends on its own. */
  readonly onTyped?: (bytes: Buffer) => void
}

/** How a view ended. `id` is the last id of the session, which may have been renamed. */
export type Leave = { readonly id?: string } & (
  | { readonly reason: 'detached' | 'answered' | 'disconnected' | 'SIGTERM' | 'SIGHUP' | 'end of input' }
  | { readonly reason: 'exited'; readonly code: number }
)

/** The end of a view: the first call decides, later ones change nothing. */
export class WayOut {
  readonly left: Promise<Leave>
  #resolve: (leave: Leave) => void = () => undefined
  #reject: (error: Error) => void = () => undefined
  readonly #undo: (() => void)[] = []

  constructor() {
    this.left = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  leave(leave: Leave): void {
    this.#resolve(leave)
  }

  fail(error: Error): void {
    this.#reject(error)
  }

  /** Listens until `close`. */
  onSignal(signal: NodeJS.Signals, act: () => void): void {
    process.on(signal, act)
    this.#undo.push(() => process.off(signal, act))
  }

  /** Leaves when `answered` aborts. */
  onAnswer(answered: AbortSignal | undefined): void {
    const leave = (): void => this.leave({ reason: 'answered' })
    answered?.addEventListener('abort', leave)
    this.#undo.push(() => answered?.removeEventListener('abort', leave))
  }

  close(): void {
    for (const undo of this.#undo) undo()
  }
}

export interface ShownCell {
  readonly x: number
  readonly y: number
}

/** The first cell that is shown, in the terminal's upper left corner, and how many of them there are. */
export interface Window extends Size {
  readonly left: number
  readonly top: number
}

/** Around the cursor, when the screen is larger than the terminal. `top` is moved only as far as the cursor needs. */
export function windowAround(cursor: ShownCell, screen: Size, terminal: Size, { top }: Pick<Window, 'top'>): Window {
  const lowest = Math.max(0, screen.rows - terminal.rows)
  const rightmost = Math.max(0, screen.cols - terminal.cols)
  return {
    top: Math.min(lowest, Math.max(Math.min(top, cursor.y), cursor.y - terminal.rows + 1)),
    // Lines are read from their beginning: as long as the cursor is to be seen there, and else it is in the middle, so
    // that not every further character moves the whole screen.
    left: cursor.x < terminal.cols ? 0 : Math.min(rightmost, cursor.x - Math.floor(terminal.cols / 2)),
    cols: Math.min(screen.cols, terminal.cols),
    rows: Math.min(screen.rows, terminal.rows),
  }
}

/** The nearest cell that is shown. */
export function cellNear({ left, top, cols, rows }: Window, { x, y }: ShownCell): ShownCell {
  return { x: left + Math.min(Math.max(x, 0), cols - 1), y: top + Math.min(Math.max(y, 0), rows - 1) }
}

/** False on the status line, and beside a screen that is smaller than the terminal. */
export function isInside({ cols, rows }: Window, { x, y }: ShownCell): boolean {
  return x >= 0 && y >= 0 && x < cols && y < rows
}
