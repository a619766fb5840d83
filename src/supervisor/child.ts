// The child of a session: its terminal, what is typed into it, the tree that comes of it, and its end.
import type { Clock, Timer } from '../clock.ts'
import { Ending } from '../process-ending.ts'
import { sessionTree } from '../session-tree.ts'
import type { Size } from '../wire/payloads.ts'
import type { SessionOptions } from '../wire/session-options.ts'
import { InputQueue, type InputSource } from './streams/input-queue.ts'
import { openPty, type Pty } from './pty.ts'
import type { SessionLog } from './session-log.ts'

/** How the child ended. */
export interface ChildEnd {
  readonly code: number
  readonly signal: number | null
  readonly reason: 'exit' | 'kill'
}

export interface ChildParts {
  readonly options: SessionOptions
  readonly env: Readonly<Record<string, string>>
  /** Marks everybody who comes of it. */
  readonly key: string
  readonly clock: Clock
  readonly log: SessionLog
  /** Where the next output goes, and that so much of it has come. */
  readonly room: () => Buffer
  readonly onRead: (bytes: number) => void
  /** Those who type may go on. */
  readonly onInputRoom: () => void
  readonly onEnd: (end: ChildEnd) => void
}

export class Child {
  readonly #parts: ChildParts
  readonly #pty: Pty
  readonly #input: InputQueue
  readonly #ending: Ending
  readonly #watching: Timer
  #end: ChildEnd | undefined

  /** When this throws there is no child. */
  constructor(parts: ChildParts) {
    const { options, env, key, clock, log } = parts
    const { command, cwd, cols, rows, echo, killProcessGroup: wholeTree, graceMs } = options
    this.#parts = parts
    this.#input = new InputQueue((bytes) => this.#pty.write(bytes), clock, parts.onInputRoom)
    this.#pty = openPty(
      { command, cwd, env, cols, rows, echo },
      {
        room: parts.room,
        read: (bytes) => {
          if (this.#end === undefined) parts.onRead(bytes)
        },
        ended: (code, signal) => this.#ended(code, signal),
      },
    )
    const tree = sessionTree({ child: this.#pty.child, key, terminal: this.#pty.terminal })
    this.#watching = tree.watch(clock, (problem) => log.write('error', 'session', problem))
    this.#ending = new Ending({ tree, child: this.pid, wholeTree, graceMs, clock })
  }

  get pid(): number {
    return this.#pty.child.pid
  }

  /** Resolves when its terminal may be typed into. */
  get ready(): Promise<void> {
    return this.#pty.ready
  }

  /** Nothing while it runs. */
  get end(): ChildEnd | undefined {
    return this.#end
  }

  /** Who asked for the end. */
  get endedBy(): string | undefined {
    return this.#ending.by
  }

  get isInputFull(): boolean {
    return this.#input.isFull
  }

  get inputBytesPending(): number {
    return this.#input.pendingBytes
  }

  type(source: InputSource, bytes: Buffer): void {
    this.#input.push(source, bytes)
  }

  /** What its terminal says to the program. */
  answer(text: string): void {
    this.#input.answer(text)
  }

  /** What it did not take is refused to those who typed it. */
  refuseInput(): void {
    this.#input.close()
  }

  resize({ cols, rows }: Size): void {
    this.#pty.resize(cols, rows)
  }

  pause(): void {
    this.#pty.pause()
  }

  resume(): void {
    this.#pty.resume()
  }

  /** SIGTERM first; the rest follows by itself until the child is gone. */
  terminate(by: string): void {
    if (this.#end !== undefined) return
    this.#ending.begin(by, (error) =>
      this.#parts.log.write('error', 'session', `cannot end the child: ${String(error)}`),
    )
  }

  /** Ends what is left of the tree after the child. Resolves with how many there were. */
  sweep(): Promise<number> {
    return this.#ending.sweep()
  }

  /** After the end: the terminal goes. */
  close(): void {
    this.#pty.close()
    this.#watching.cancel()
  }

  #ended(code: number, signal: number): void {
    const end: ChildEnd = {
      code: signal > 0 ? 128 + signal : code,
      signal: signal > 0 ? signal : null,
      reason: this.endedBy === undefined ? 'exit' : 'kill',
    }
    this.#end = end
    this.#ending.childEnded()
    this.#watching.cancel()
    this.#parts.onEnd(end)
  }
}
