// The one writer to the client: upstream's bytes as they come, our own answers only between two lines.
import type { Writable } from 'node:stream'

const NEWLINE = 0x0a

export class AgentOut {
  readonly #stream: Writable
  #isMidLine = false
  #answers: string[] = []
  #waiting: (() => void)[] = []

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('drain', () => {
      const waiting = this.#waiting
      this.#waiting = []
      for (const resume of waiting) resume()
    })
  }

  /** Bytes that the client has not taken yet. */
  get backlog(): number {
    return this.#stream.writableLength
  }

  /** Returns false when the client is behind; then `onDrain` tells when to go on. */
  fromUpstream(chunk: Buffer): boolean {
    const isTaken = this.#stream.write(chunk)
    this.#isMidLine = chunk[chunk.length - 1] !== NEWLINE
    if (!this.#isMidLine && this.#answers.length > 0) this.#flushAnswers()
    return isTaken
  }

  /** A line of our own, without its newline. */
  answer(line: string): void {
    this.#answers.push(line)
    if (!this.#isMidLine) this.#flushAnswers()
  }

  /** Upstream will write no more. A line that it left unfinished is ended, so that our answers are not part of it. */
  upstreamEnded(): void {
    if (!this.#isMidLine) return
    this.#isMidLine = false
    this.#stream.write('\n')
    this.#flushAnswers()
  }

  onDrain(resume: () => void): void {
    this.#waiting.push(resume)
  }

  #flushAnswers(): void {
    if (this.#answers.length === 0) return
    const text = `${this.#answers.join('\n')}\n`
    this.#answers = []
    this.#stream.write(text)
  }

  /** Resolves when all that was written has been taken, or at once when the client is gone. */
  async drained(): Promise<void> {
    if (this.#stream.destroyed || this.#stream.writableLength === 0) return
    await new Promise<void>((resolve) => {
      this.#stream.once('drain', resolve)
      this.#stream.once('close', resolve)
      // Completes with everything before it, also where the stream was never so full as to drain.
      this.#stream.write('', () => resolve())
    })
  }
}
