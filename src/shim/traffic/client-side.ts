// From client to upstream: lines are cut and judged, and what may pass goes on in the bytes in which it came.
import type { EventWriter } from '../../runs/event-writer.ts'
import { MAX_INSPECT_BYTES, OWN_ANSWERS_BYTES_MAX, READ_AHEAD_BYTES_MAX } from '../../limits.ts'
import type { AgentOut } from '../messages/agent-out.ts'
import type { HeldCall } from '../call/asking.ts'
import type { ClientJudge, Passage } from '../call/client-judge.ts'
import { HeldRequest } from '../messages/held-request.ts'
import { MessageScan } from '../messages/message-scan.ts'

const NEWLINE = 0x0a

export interface Flow {
  /** Sends bytes on to upstream; false when it is behind. */
  readonly write: (bytes: Buffer) => boolean
  /** Resolves when upstream takes bytes again, or is gone. */
  readonly writable: () => Promise<void>
  /** Reads no more for now, with so many bytes waiting. */
  readonly pause: (waitingBytes: number) => void
  readonly resume: () => void
}

export interface ClientSideOptions {
  readonly judge: ClientJudge
  readonly out: AgentOut
  readonly events: EventWriter
  readonly flow: Flow
  /** Where requests too large for memory are held. */
  readonly holdFolder: string
}

/** A line that may be forwarded; `to` is after its newline, `call` is null unless the line is a call. */
interface Line {
  readonly buffer: Buffer
  readonly from: number
  readonly to: number
  readonly call: Passage | null
}

interface Replay {
  readonly held: HeldRequest
  readonly call: Passage | null
  readonly end: Buffer
}

/**
 * Works in turns: the lines of a chunk are judged, what the record is to say of them is put on its way, and what may pass
 * is sent on. A turn ends when upstream, the record and the client keep up; chunks that come before that wait.
 */
export class ClientSide {
  readonly #judge: ClientJudge
  readonly #out: AgentOut
  readonly #events: EventWriter
  readonly #flow: Flow
  readonly #holdFolder: string
  readonly #scan = new MessageScan({ strict: true })
  /** Lines of this turn that may be forwarded. */
  #outgoing: Line[] = []
  /** The beginning of a line whose end has not come yet. */
  #carry: Buffer[] = []
  #carryBytes = 0
  #held: HeldRequest | null = null
  /** A held request that passed and is sent on at the end of this turn. */
  #toReplay: Replay | null = null
  #isUpstreamBehind = false
  /** What the turn waits for. */
  #unfinished: Promise<void> | null = null
  #waiting: Buffer[] = []
  /** Calls that may go on since a person has answered, or nobody waits for one any more. */
  #released: HeldCall[] = []
  #waitingBytes = 0
  #isPaused = false
  #isDropped = false

  constructor(options: ClientSideOptions) {
    this.#judge = options.judge
    this.#out = options.out
    this.#events = options.events
    this.#flow = options.flow
    this.#holdFolder = options.holdFolder
  }

  push(chunk: Buffer): void {
    if (this.#isDropped) return
    if (this.#unfinished === null) {
      this.#take(chunk)
      return
    }
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes < READ_AHEAD_BYTES_MAX) return
    this.#isPaused = true
    this.#flow.pause(this.#waitingBytes)
  }

  /** A call that was held back is judged again, in a turn of its own. */
  release(held: HeldCall): void {
    if (this.#unfinished === null) this.#takeReleased(held)
    else this.#released.push(held)
  }

  #takeReleased({ line }: HeldCall): void {
    const whole = Buffer.concat([line, END_OF_LINE])
    this.#judge.isReleasing = true
    this.#line(whole, 0, line.length, whole.length)
    this.#judge.isReleasing = false
    this.#finishTurn()
  }

  /** Resolves when what came before the end of input has been dealt with. A line that was never ended is a message all the same. */
  async ended(): Promise<void> {
    await this.#finished()
    this.#judge.letHeldGo()
    await this.#finished()
    if (this.#isDropped || (this.#held === null && this.#carryBytes === 0)) return
    if (this.#held === null) {
      const line = this.#carried(NO_BYTES)
      this.#line(line, 0, line.length, line.length)
    } else this.#endHeld(this.#held, NO_BYTES)
    this.#finishTurn()
    await this.#finished()
  }

  async #finished(): Promise<void> {
    while (this.#unfinished !== null) await this.#unfinished
  }

  /** Nothing is sent on any more. Returns the bytes that were read and not judged. */
  drop(): number {
    this.#isDropped = true
    this.#judge.refuseHeld(this.#released)
    this.#released = []
    this.#held?.drop()
    this.#held = null
    this.#waiting = []
    return this.#waitingBytes
  }

  #take(chunk: Buffer): void {
    const from = this.#endCarriedLine(chunk)
    if (from !== null) this.#wholeLines(chunk, from)
    this.#finishTurn()
  }

  /** Deals with the line that earlier chunks began; returns where the next one starts, or null when this turn goes no further. */
  #endCarriedLine(chunk: Buffer): number | null {
    if (this.#held === null && this.#carryBytes === 0) return 0
    const end = chunk.indexOf(NEWLINE)
    if (end === -1) {
      this.#keep(chunk)
      return null
    }
    if (this.#held === null && this.#carryBytes + end <= MAX_INSPECT_BYTES) {
      const line = this.#carried(chunk.subarray(0, end + 1))
      this.#line(line, 0, line.length - 1, line.length)
      return end + 1
    }
    this.#endHeld(this.#keepHeld(chunk.subarray(0, end)), END_OF_LINE)
    if (this.#toReplay === null) return end + 1
    this.#comesNext(chunk.subarray(end + 1))
    return null
  }

  #carried(rest: Buffer): Buffer {
    const line = Buffer.concat([...this.#carry, rest])
    this.#carry = []
    this.#carryBytes = 0
    return line
  }

  #comesNext(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#waiting.unshift(chunk)
    this.#waitingBytes += chunk.length
  }

  #wholeLines(chunk: Buffer, from: number): void {
    let lineStart = from
    for (let end = chunk.indexOf(NEWLINE, from); end !== -1; end = chunk.indexOf(NEWLINE, lineStart)) {
      this.#line(chunk, lineStart, end, end + 1)
      lineStart = end + 1
    }
    if (lineStart < chunk.length) this.#keep(chunk.subarray(lineStart))
  }

  #keep(piece: Buffer): void {
    if (this.#held !== null || this.#carryBytes + piece.length > MAX_INSPECT_BYTES) {
      this.#keepHeld(piece)
      return
    }
    this.#carry.push(piece)
    this.#carryBytes += piece.length
  }

  #keepHeld(piece: Buffer): HeldRequest {
    if (this.#held === null) {
      this.#held = new HeldRequest(this.#carry, this.#holdFolder)
      this.#carry = []
      this.#carryBytes = 0
    }
    this.#held.push(piece)
    return this.#held
  }

  /** `next` is where the line after this one begins. */
  #line(buffer: Buffer, from: number, to: number, next: number): void {
    // White space between messages means nothing to anybody.
    const passes = isBlank(buffer, from, to) ? !this.#judge.isCutOff : this.#judged(buffer, from, to)
    if (passes !== false) this.#outgoing.push({ buffer, from, to: next, call: passes === true ? null : passes })
  }

  #judged(buffer: Buffer, from: number, to: number): Passage | boolean {
    this.#scan.reset()
    this.#scan.push(buffer, from, to)
    const scanned = this.#scan.finish()
    return this.#judge.passes({ scanned, bytes: to - from, whole: { buffer, from } })
  }

  /** Judges the held request; when it passes, it is sent on with the end of this turn. */
  #endHeld(held: HeldRequest, end: Buffer): void {
    this.#held = null
    const { scanned, streamHash } = held.finish()
    const received = { scanned, streamHash, bytes: held.bytes, whole: null }
    let passes: Passage | boolean = false
    if (held.failure === null) passes = this.#judge.passes(received)
    else this.#judge.refuseUnheld(received, `the request cannot be held: ${held.failure.message}`)
    if (passes === false) held.drop()
    else this.#toReplay = { held, call: passes === true ? null : passes, end }
  }

  #finishTurn(): void {
    const recorded = this.#judge.record(this.#events)
    if (recorded !== null) {
      this.#waitFor(recorded.then(() => this.#send()))
      return
    }
    this.#send()
    this.#waitForOthers()
  }

  /** Adjacent lines of a chunk are forwarded as one piece. */
  #send(): void {
    const lines = this.#outgoing.filter(({ call }) => call === null || call.isSent)
    this.#outgoing = []
    if (this.#judge.isCutOff) return
    for (let i = 0; i < lines.length;) {
      const { buffer, from } = lines[i] as Line
      let { to } = lines[i] as Line
      for (i += 1; lines[i]?.buffer === buffer && lines[i]?.from === to; i += 1) to = (lines[i] as Line).to
      if (!this.#flow.write(buffer.subarray(from, to))) this.#isUpstreamBehind = true
    }
  }

  #waitForOthers(): void {
    const waited = this.#othersInTheWay()
    if (waited !== null) this.#waitFor(waited)
  }

  /** Whoever does not keep up; null when all do. */
  #othersInTheWay(): Promise<void> | null {
    if (this.#toReplay !== null) return this.#replay(this.#toReplay)
    if (this.#isUpstreamBehind) {
      this.#isUpstreamBehind = false
      return this.#flow.writable()
    }
    // Denied calls are answered by us; a client that reads none of the answers is not read from either.
    if (this.#out.backlog > OWN_ANSWERS_BYTES_MAX) return new Promise((resolve) => this.#out.onDrain(resolve))
    return this.#events.isBehind ? this.#events.caughtUp() : null
  }

  #waitFor(waited: Promise<void>): void {
    this.#unfinished = waited.then(() => {
      this.#unfinished = null
      this.#goOn()
    })
  }

  #goOn(): void {
    this.#waitForOthers()
    while (this.#isFinished() && this.#released.length > 0) this.#takeReleased(this.#released.shift() as HeldCall)
    while (this.#isFinished() && this.#waiting.length > 0) {
      const chunk = this.#waiting.shift() as Buffer
      this.#waitingBytes -= chunk.length
      this.#take(chunk)
    }
    if (!this.#isFinished() || !this.#isPaused) return
    this.#isPaused = false
    this.#flow.resume()
  }

  #isFinished(): boolean {
    return this.#unfinished === null
  }

  async #replay({ held, call, end }: Replay): Promise<void> {
    this.#toReplay = null
    const write = async (piece: Buffer): Promise<void> => {
      if (piece.length > 0 && !this.#judge.isCutOff && !this.#flow.write(piece)) await this.#flow.writable()
    }
    try {
      if (call !== null && !call.isSent) return
      await held.replay(write)
      await write(end)
    } finally {
      held.drop()
    }
  }
}

const NO_BYTES: Buffer = Buffer.alloc(0)
const END_OF_LINE: Buffer = Buffer.of(NEWLINE)

function isBlank(buffer: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i += 1) {
    const byte = buffer[i]
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false
  }
  return true
}
