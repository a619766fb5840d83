// One subscription: a place in the output log that moves as its client takes bytes. Owns what is lost and how that is said.
import { OUTPUT_FRAME_BYTES_MAX, RESUME_BYTES } from '../../limits.ts'
import {
  encodeExit,
  encodeFrame,
  encodeGap,
  encodeHeader,
  encodeReplayEnd,
  encodeSnapshot,
  writeHeader,
} from '../../wire/encode.ts'
import { HEADER_BYTES } from '../../wire/frames.ts'
import type { SnapshotPart, SubscribeOptions } from '../../wire/payloads.ts'
import type { OutputLog } from './output-log.ts'

export type ScreenSnapshot = Omit<SnapshotPart, 'isLast'>

export interface SubscriberPort {
  /** Whole frames, in order. False: nothing more until `drained`. */
  send(parts: readonly Buffer[]): boolean
  /** After the last frame. */
  end(): void
  /** The screen as it is at the end of the log or later; nothing when there is no emulator. */
  snapshot(): Promise<ScreenSnapshot | undefined>
}

export class Subscriber {
  readonly #log: OutputLog
  readonly #options: SubscribeOptions
  readonly #port: SubscriberPort
  #cursor = 0
  /** Live output begins here; the end of replay is marked before it. */
  #replayUntil: number
  #isReplayMarked: boolean
  #isBlocked = false
  /** What the socket has not taken yet of what it was sent last. */
  #inFlightFrom = Number.POSITIVE_INFINITY
  #inFlightTo = 0
  #isWaitingForScreen = false
  /** Output from here on is dropped until the client reads again. */
  #lostFrom: number | undefined
  /** The rest of a sequence that the client has seen the beginning of. */
  #owed: Buffer | undefined
  #isCatchingUp = false
  #exitCode: number | undefined
  #isOver = false

  constructor(log: OutputLog, options: SubscribeOptions, port: SubscriberPort, scrollbackBytes: number) {
    this.#log = log
    this.#options = options
    this.#port = port
    this.#replayUntil = log.end
    this.#isReplayMarked = !options.replayEnd
    this.#begin(scrollbackBytes)
  }

  /** Bytes that this client has yet to be given, 0 while it is written off. */
  get lagBytes(): number {
    return this.#lostFrom === undefined ? this.#log.end - this.#cursor : 0
  }

  /** Whether the client's socket may still be taking some of these bytes from the log's memory. It is sent no more while it does. */
  isInFlight(from: number, to: number): boolean {
    return this.#inFlightFrom < to && from < this.#inFlightTo
  }

  /** False for a client that lost output and has not caught up: the child does not wait for it a second time. */
  get mayHoldUpChild(): boolean {
    return !this.#isCatchingUp && !this.#isOver
  }

  get isOver(): boolean {
    return this.#isOver
  }

  #begin(scrollbackBytes: number): void {
    const { from } = this.#options
    const { start, end } = this.#log
    if (from === 'snapshot') {
      this.#cursor = end
      this.#draw()
      return
    }
    if (typeof from === 'number' && from >= start) {
      this.#cursor = Math.min(from, end)
      return
    }
    const wanted = typeof from === 'number' ? from : from === 'live' ? end : Math.max(0, end - scrollbackBytes)
    const kept = this.#log.cutAtOrAfter(Math.max(start, wanted))
    // A missing offset is loss and is said so; where the kept scrollback begins is nobody's loss.
    this.#lostFrom = typeof from === 'number' ? from : undefined
    if (kept === undefined) this.#lostFrom ??= end
    this.#cursor = kept ?? end
  }

  /** Gives the client what it can take. Call after new output, and when it has drained. */
  pump(): void {
    if (!this.#canTake() || this.#isWaitingForScreen || this.#isOver) return
    if (this.#lostFrom !== undefined && !this.#takeUpAgain(this.#lostFrom)) return
    while (this.#canTake() && this.#cursor < this.#log.end) {
      const limit = this.#isReplayMarked ? this.#log.end : this.#replayUntil
      const to = Math.min(limit, this.#cursor + OUTPUT_FRAME_BYTES_MAX)
      if (to > this.#cursor) this.#send(frameOf(this.#log, this.#cursor, to))
      if (!this.#canTake()) {
        this.#inFlightFrom = Math.min(this.#inFlightFrom, this.#cursor)
        this.#inFlightTo = to
      }
      this.#cursor = to
      this.#markReplayEnd()
    }
    this.#markReplayEnd()
    if (this.#cursor === this.#log.end && this.#canTake()) this.#isCatchingUp = false
    if (this.#cursor === this.#log.end && this.#exitCode !== undefined) this.#sayExit(this.#exitCode)
  }

  drained(): void {
    this.#isBlocked = false
    this.#inFlightFrom = Number.POSITIVE_INFINITY
    this.pump()
  }

  /** Writes the client off until it reads again. What it has begun to see is kept for it up to the next cut. */
  lose(): void {
    if (this.#lostFrom !== undefined) return
    const cut = this.#log.cutAtOrAfter(this.#cursor) ?? this.#cursor
    this.#owed = cut > this.#cursor ? Buffer.concat(this.#log.slices(this.#cursor, cut)) : undefined
    this.#lostFrom = cut
    this.#isCatchingUp = true
  }

  /** No output follows: EXIT goes out behind the last byte. */
  finish(exitCode: number): void {
    this.#exitCode = exitCode
    this.pump()
  }

  #send(parts: readonly Buffer[]): void {
    if (!this.#port.send(parts)) this.#isBlocked = true
  }

  #canTake(): boolean {
    return !this.#isBlocked
  }

  #markReplayEnd(): void {
    if (this.#isReplayMarked || this.#cursor < this.#replayUntil) return
    this.#isReplayMarked = true
    this.#send([encodeReplayEnd(this.#cursor)])
  }

  #sayExit(code: number): void {
    this.#isOver = true
    this.#port.send([encodeExit(code)])
    this.#port.end()
  }

  /** True when the client is back in the stream. */
  #takeUpAgain(lostFrom: number): boolean {
    if (this.#owed !== undefined) {
      this.#send([encodeFrame('output', this.#owed)])
      this.#owed = undefined
      if (!this.#canTake()) return false
    }
    if (this.#options.redraw) {
      this.#draw()
      return false
    }
    const { start, end } = this.#log
    const cut = this.#log.cutAtOrAfter(Math.max(start, lostFrom, this.#isCatchingUp ? end - RESUME_BYTES : 0))
    // After the child's end no better place will come.
    const resumeAt = cut ?? (this.#exitCode === undefined ? undefined : end)
    if (resumeAt === undefined) return false
    this.#joinAt(resumeAt, lostFrom)
    return true
  }

  #joinAt(offset: number, lostFrom: number): void {
    if (this.#options.gaps && offset > lostFrom)
      this.#send([encodeGap({ droppedBytes: offset - lostFrom, nextOffset: offset })])
    this.#lostFrom = undefined
    this.#cursor = offset
    this.#replayUntil = Math.max(this.#replayUntil, offset)
  }

  /** Asks for the screen; everything after it in the stream waits in the log. */
  #draw(): void {
    this.#isWaitingForScreen = true
    const asked = this.#log.end
    void this.#port.snapshot().then((snapshot) => {
      this.#isWaitingForScreen = false
      this.#drawn(snapshot, asked)
    })
  }

  #drawn(snapshot: ScreenSnapshot | undefined, asked: number): void {
    if (this.#isOver) return
    const offset = snapshot?.offset ?? asked
    // Overtaken while the screen was drawn: this picture no longer joins the stream.
    if (offset < this.#log.start || (this.#lostFrom ?? offset) > offset) {
      this.#lostFrom ??= this.#cursor
      this.#isCatchingUp = true
      this.#draw()
      return
    }
    this.#joinAt(offset, this.#lostFrom ?? offset)
    if (snapshot !== undefined) for (const frame of encodeSnapshot(snapshot)) this.#send([frame])
    this.pump()
  }
}

/** Below this a header and a payload are cheaper joined than sent as two parts. */
const JOIN_BYTES_MAX = 4 << 10

let last: { log: OutputLog; from: number; to: number; parts: readonly Buffer[] } | undefined

/** Clients that are level share one encoding of what they are sent. */
function frameOf(log: OutputLog, from: number, to: number): readonly Buffer[] {
  if (last?.log === log && last.from === from && last.to === to) return last.parts
  const slices = log.slices(from, to)
  const bytes = to - from
  const parts = bytes <= JOIN_BYTES_MAX ? [joined(slices, bytes)] : [encodeHeader('output', bytes), ...slices]
  last = { log, from, to, parts }
  return parts
}

function joined(slices: readonly Buffer[], bytes: number): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes)
  writeHeader(frame, 0, 'output', bytes)
  let at = HEADER_BYTES
  for (const slice of slices) at += slice.copy(frame, at)
  return frame
}
