// What a task took whose process could not say so itself: read again out of the frames that it kept.
import { closeSync, openSync, readSync } from 'node:fs'
import { isErrno } from '../../errors.ts'
import type { TaskResult } from '../messages.ts'
import { FrameLines } from './runtime-lines.ts'
import { framesPath, type Order, readOrder, type RuntimeName } from './order.ts'
import { measured, UNKNOWN } from './turn-result.ts'
import { RUNTIMES, type RuntimeTurn } from './runtime.ts'

export function measuredSoFar(dir: string, runtime: RuntimeName): Pick<TaskResult, 'tokens_spent' | 'usage'> {
  const turn = turnIn(dir, runtime)
  return turn === undefined ? measured(UNKNOWN, 0) : measured(turn.usage(), turn.spent())
}

/** The conversation of an ended task, as far as its runtime can take it up again. */
export function conversationIn(dir: string, runtime: RuntimeName): Order['conversation'] {
  const turn = turnIn(dir, runtime)
  const session = turn?.session() ?? null
  return turn === undefined || session === null ? null : { session, usage: turn.usage() }
}

/** Undefined where nothing was streamed. */
const turnIn = (dir: string, runtime: RuntimeName): RuntimeTurn | undefined => new TaskProgress(dir, runtime).read()

/** A task as far as its runtime has streamed it; read again, it goes on where it was. */
export class TaskProgress {
  readonly #dir: string
  readonly #lines = new FrameLines()
  #runtime: RuntimeName | undefined
  #turn: RuntimeTurn | undefined
  #at = 0

  constructor(dir: string, runtime?: RuntimeName) {
    this.#dir = dir
    this.#runtime = runtime
  }

  read(): RuntimeTurn | undefined {
    this.#runtime ??= readOrder(this.#dir)?.runtime
    if (this.#runtime === undefined || this.#runtime === 'command') return undefined
    for (const frame of this.#frames()) {
      this.#turn ??= RUNTIMES[this.#runtime].turn()
      this.#turn.frame(frame)
    }
    return this.#turn
  }

  *#frames(): Generator<Record<string, unknown>> {
    let fd: number
    try {
      fd = openSync(framesPath(this.#dir), 'r')
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return
      throw error
    }
    try {
      const piece = Buffer.alloc(1 << 16)
      for (let read = -1; read !== 0; this.#at += read) {
        read = readSync(fd, piece, 0, piece.length, this.#at)
        yield* this.#lines.push(piece.subarray(0, read))
      }
    } finally {
      closeSync(fd)
    }
  }
}
