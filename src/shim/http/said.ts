// What a server says in one response, read alongside: its messages for the books, and whether a secret of its own stands in them.
import type { Answers } from '../call/answers.ts'
import type { CallGate } from '../call/call-gate.ts'
import type { Exposure } from '../secrets/exposure.ts'
import type { MessagePieces } from './sse-messages.ts'

export class Said implements MessagePieces {
  readonly #gate: CallGate
  readonly #answers: Answers
  readonly #exposure: Exposure | null

  constructor(gate: CallGate, answers: Answers, exposure: Exposure | null) {
    this.#gate = gate
    this.#answers = answers
    this.#exposure = exposure
  }

  piece(buffer: Buffer, from: number, to: number): void {
    this.#exposure?.push(buffer.subarray(from, to))
    this.#answers.piece(buffer, from, to)
  }

  end(): void {
    this.#answers.end()
    this.#tellExposed()
  }

  drop(): void {
    this.#answers.drop()
    this.#tellExposed()
  }

  /** Names and values of headers: what is told there is told as well. */
  headers(raw: readonly string[]): void {
    if (this.#exposure === null) return
    this.#exposure.push(Buffer.from(`${raw.join('\n')}\n`, 'latin1'))
    this.#tellExposed()
  }

  #tellExposed(): void {
    const secrets = this.#exposure?.takeUpTo(Infinity) ?? []
    if (secrets.length > 0) this.#gate.words.exposed(secrets, this.#answers.answered)
    this.#answers.answered = null
  }
}
