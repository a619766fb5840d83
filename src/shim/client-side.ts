// From client to upstream: lines are cut and judged, and what may pass goes on in the bytes in which it came.
import { isUtf8 } from 'node:buffer'
import { MAX_INSPECT_BYTES, OWN_ANSWERS_BYTES_MAX } from '../limits.ts'
import type { AgentOut } from './agent-out.ts'
import type { ClientJudge } from './client-judge.ts'
import { HeldRequest } from './held-request.ts'
import { MessageScan } from './message-scan.ts'

const NEWLINE = 0x0a

export interface Flow {
  /** Sends bytes on to upstream; false when it is behind. */
  readonly write: (bytes: Buffer) => boolean
  /** Resolves when upstream takes bytes again, or is gone. */
  readonly writable: () => Promise<void>
  readonly pause: () => void
  readonly resume: () => void
}

export interface ClientSideOptions {
  readonly judge: ClientJudge
  readonly out: AgentOut
  readonly flow: Flow
  /** Where requests too large for memory are held. */
  readonly holdFolder: string
}

export class ClientSide {
  readonly #judge: ClientJudge
  readonly #out: AgentOut
  readonly #flow: Flow
  readonly #holdFolder: string
  readonly #scan = new MessageScan({ strict: true })
  /** The beginning of a line whose end has not come yet. */
  #carry: Buffer[] = []
  #carryBytes = 0
  #held: HeldRequest | null = null
  /** Chunks that came while a held request was being sent on. */
  #waiting: Buffer[] = []
  #replaying: Promise<void> | null = null

  constructor(options: ClientSideOptions) {
    this.#judge = options.judge
    this.#out = options.out
    this.#flow = options.flow
    this.#holdFolder = options.holdFolder
  }

  push(chunk: Buffer): void {
    if (this.#replaying !== null) {
      this.#waiting.push(chunk)
      return
    }
    const from = this.#endCarriedLine(chunk)
    if (from === null) return
    this.#wholeLines(chunk, from)
    this.#judge.writeNotes()
    // Denied calls are answered by us; a client that reads none of the answers is not read from either.
    if (this.#out.backlog > OWN_ANSWERS_BYTES_MAX) {
      this.#flow.pause()
      this.#out.onDrain(this.#flow.resume)
    }
  }

  /** Resolves when what came before the end of input has been dealt with. A line that was never ended is no message. */
  async ended(): Promise<void> {
    while (this.#replaying !== null) await this.#replaying
    this.#held?.drop()
    this.#held = null
  }

  /** Deals with the line that earlier chunks began; returns where the next one starts, or null when there is none yet. */
  #endCarriedLine(chunk: Buffer): number | null {
    if (this.#held === null && this.#carryBytes === 0) return 0
    const end = chunk.indexOf(NEWLINE)
    if (end === -1) {
      this.#keep(chunk)
      return null
    }
    if (this.#held === null && this.#carryBytes + end <= MAX_INSPECT_BYTES) {
      const line = Buffer.concat([...this.#carry, chunk.subarray(0, end + 1)])
      this.#carry = []
      this.#carryBytes = 0
      if (this.#passes(line, 0, line.length - 1)) this.#write(line)
      return end + 1
    }
    this.#keep(chunk.subarray(0, end), true)
    if (!this.#endHeld()) return end + 1
    if (end + 1 < chunk.length) this.#waiting.unshift(chunk.subarray(end + 1))
    return null
  }

  #wholeLines(chunk: Buffer, from: number): void {
    let lineStart = from
    let rangeStart = from
    for (let end = chunk.indexOf(NEWLINE, from); end !== -1; end = chunk.indexOf(NEWLINE, lineStart)) {
      if (!this.#passes(chunk, lineStart, end)) {
        if (lineStart > rangeStart) this.#write(chunk.subarray(rangeStart, lineStart))
        rangeStart = end + 1
      }
      lineStart = end + 1
    }
    if (lineStart > rangeStart) this.#write(chunk.subarray(rangeStart, lineStart))
    if (lineStart < chunk.length) this.#keep(chunk.subarray(lineStart))
  }

  #keep(piece: Buffer, mustHold = false): void {
    if (this.#held === null && !mustHold && this.#carryBytes + piece.length <= MAX_INSPECT_BYTES) {
      this.#carry.push(piece)
      this.#carryBytes += piece.length
      return
    }
    if (this.#held === null) {
      this.#held = new HeldRequest(this.#carry, this.#holdFolder)
      this.#carry = []
      this.#carryBytes = 0
    }
    this.#held.push(piece)
  }

  #passes(buffer: Buffer, from: number, to: number): boolean {
    // White space between messages means nothing to anybody.
    if (isBlank(buffer, from, to)) return !this.#judge.isCutOff
    this.#scan.reset()
    this.#scan.push(buffer, from, to)
    const scanned = this.#scan.finish()
    return this.#judge.passes({
      scanned,
      isUtf8: scanned.isAscii || isUtf8(buffer.subarray(from, to)),
      bytes: to - from,
      whole: { buffer, from },
    })
  }

  #write(bytes: Buffer): void {
    if (this.#judge.isCutOff || this.#flow.write(bytes)) return
    this.#flow.pause()
    void this.#flow.writable().then(() => {
      if (this.#replaying === null) this.#flow.resume()
    })
  }

  /** Judges the held request; true when it is being sent on, which takes a while. */
  #endHeld(): boolean {
    const held = this.#held
    if (held === null) return false
    this.#held = null
    const { scanned, streamHash, isUtf8 } = held.finish()
    const received = { scanned, streamHash, isUtf8, bytes: held.bytes, whole: null }
    let passes = false
    if (held.failure === null) passes = this.#judge.passes(received)
    else this.#judge.refuseUnheld(received, `the request cannot be held: ${held.failure.message}`)
    this.#judge.writeNotes()
    if (!passes) {
      held.drop()
      return false
    }
    this.#flow.pause()
    this.#replaying = this.#replay(held)
    return true
  }

  async #replay(held: HeldRequest): Promise<void> {
    const write = async (piece: Buffer): Promise<void> => {
      if (!this.#judge.isCutOff && !this.#flow.write(piece)) await this.#flow.writable()
    }
    try {
      await held.replay(write)
      await write(Buffer.of(NEWLINE))
    } finally {
      held.drop()
      this.#replaying = null
    }
    const waiting = this.#waiting
    this.#waiting = []
    for (const chunk of waiting) this.push(chunk)
    if (this.#isIdle()) this.#flow.resume()
  }

  #isIdle(): boolean {
    return this.#replaying === null
  }
}

function isBlank(buffer: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i += 1) {
    const byte = buffer[i]
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false
  }
  return true
}
