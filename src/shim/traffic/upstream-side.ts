// From upstream to client over stdio: bytes go on at once, then lines are cut and looked at.
import { RESULT_BEHIND_BYTES_MAX, RESULT_BEHIND_PIECES_MAX } from '../../limits.ts'
import type { EventWriter } from '../../runs/event-writer.ts'
import type { Answers } from '../call/answers.ts'
import type { CallGate } from '../call/call-gate.ts'
import type { Exposure } from '../secrets/exposure.ts'

const NEWLINE = 0x0a

export interface UpstreamSideOptions {
  readonly gate: CallGate
  readonly answers: Answers
  readonly events: EventWriter
  /** Looks for secrets that were given to the server; null where there are none. */
  readonly exposure: Exposure | null
}

export class UpstreamSide {
  readonly #options: UpstreamSideOptions
  /** Pieces of a message without its end, not looked at yet, in order. */
  readonly #behind: Buffer[] = []
  #behindBytes = 0
  /** Chunks that were looked at, of a message without its end that is still referred to. */
  #kept: Buffer[] = []

  constructor(options: UpstreamSideOptions) {
    this.#options = options
  }

  /**
   * The middle of a large result waits for its end: its hash, and a look for secrets, take as long as to pass it on, and
   * nobody asks for them before. What waits is bounded, and looked at first whatever comes. `done` hears of each chunk
   * that will not be looked at again.
   */
  push(chunk: Buffer, done: (chunk: Buffer) => void): void {
    const hasEnd = chunk.includes(NEWLINE)
    if (hasEnd && this.#behind.length === 0) this.#look(chunk, done)
    else {
      this.#behind.push(chunk)
      this.#behindBytes += chunk.length
      if (hasEnd) this.#catchUp(0, 0, done)
      else this.#catchUp(RESULT_BEHIND_BYTES_MAX, RESULT_BEHIND_PIECES_MAX, done)
    }
    this.#options.events.endOfTurn()
  }

  /** A message has begun whose end has not come. */
  get isMidMessage(): boolean {
    return this.#behind.length > 0 || this.#options.answers.isWithin
  }

  #catchUp(bytesMax: number, piecesMax: number, done: (chunk: Buffer) => void): void {
    while (this.#behindBytes > bytesMax || this.#behind.length > piecesMax) {
      const chunk = this.#behind.shift() as Buffer
      this.#behindBytes -= chunk.length
      this.#look(chunk, done)
    }
  }

  #look(chunk: Buffer, done: (chunk: Buffer) => void): void {
    const { exposure, answers } = this.#options
    exposure?.push(chunk)
    this.#read(chunk)
    if (this.#kept.length > 0 && chunk.includes(NEWLINE)) {
      for (const one of this.#kept) done(one)
      this.#kept = []
    }
    if (answers.isKeeping(chunk)) this.#kept.push(chunk)
    else done(chunk)
  }

  #read(chunk: Buffer): void {
    const { answers } = this.#options
    let from = 0
    if (answers.isWithin) {
      const end = chunk.indexOf(NEWLINE)
      if (end === -1) {
        answers.piece(chunk, 0, chunk.length)
        return
      }
      answers.piece(chunk, 0, end)
      answers.end()
      this.#tellExposed(end)
      from = end + 1
    }
    for (let end = chunk.indexOf(NEWLINE, from); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      if (end > from) answers.whole(chunk, from, end)
      this.#tellExposed(end)
      from = end + 1
    }
    if (from < chunk.length) answers.piece(chunk, from, chunk.length)
  }

  /** What was seen in the line that ends here. */
  #tellExposed(end: number): void {
    const { exposure, gate, answers } = this.#options
    if (exposure === null) return
    const secrets = exposure.takeUpTo(end)
    if (secrets.length > 0) gate.words.exposed(secrets, answers.answered)
    answers.answered = null
  }
}
