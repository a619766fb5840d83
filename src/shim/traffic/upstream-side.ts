// From upstream to client over stdio: bytes have been forwarded; here they are split into lines and read.
import type { EventWriter } from '../../runs/event-writer.ts'
import type { Answers } from '../call/answers.ts'
import type { CallGate } from '../call/call-gate.ts'
import type { Exposure } from '../secrets/exposure.ts'

const NEWLINE = 0x0a

export interface UpstreamSideOptions {
  readonly gate: CallGate
  readonly answers: Answers
  readonly events: EventWriter
  /** Searches for secrets of the server; null where it has none. */
  readonly exposure: Exposure | null
}

export class UpstreamSide {
  readonly #options: UpstreamSideOptions

  constructor(options: UpstreamSideOptions) {
    this.#options = options
  }

  /** The end of the last message has not arrived. */
  get isMidMessage(): boolean {
    return this.#options.answers.isWithin
  }

  push(chunk: Buffer): void {
    const { exposure, answers, events } = this.#options
    exposure?.push(chunk)
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      if (answers.isWithin) {
        answers.piece(chunk, from, end)
        answers.end()
      } else if (end > from) answers.whole(chunk, from, end)
      this.#tellExposed(end)
      from = end + 1
    }
    if (from < chunk.length) answers.piece(chunk, from, chunk.length)
    events.endOfTurn()
  }

  /** Records the secrets found in the line that ends here. */
  #tellExposed(end: number): void {
    const { exposure, gate, answers } = this.#options
    if (exposure === null) return
    const secrets = exposure.takeUpTo(end)
    if (secrets.length > 0) gate.words.exposed(secrets, answers.answered)
    answers.answered = null
  }
}
