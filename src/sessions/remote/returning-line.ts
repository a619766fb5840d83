// A session's bytes over lines that may break: whoever reads them sees one that never did. What was shown is known by its offset, so nothing is lost and nothing comes twice.
import { Duplex } from 'node:stream'
import { StreamPosition } from '../../client/events.ts'
import { type Clock, pause } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { REMOTE_RETRY_MS, REMOTE_RETURN_MS, TYPED_BYTES_MAX } from '../../limits.ts'
import { decodeAck } from '../../wire/decode.ts'
import { encodeBytes, encodeExit, encodeFrame, encodeGap, encodeJson, encodeReplayEnd } from '../../wire/encode.ts'
import { type FrameNameFrom, MODE_BINARY } from '../../wire/frames.ts'
import type { KeptOutput } from '../../wire/kept-output.ts'
import { parseErrorMessage, parseSubscribe, type SubscribeOptions } from '../../wire/payloads.ts'
import { FrameReader } from '../../wire/reader.ts'

/** The session as it was found: with a line to it, or at its end. */
export type FoundSession =
  | { readonly line: Duplex }
  | { readonly line: undefined; readonly exitCode: number | undefined; readonly kept: KeptOutput | undefined }

export interface ReturningOptions {
  readonly first: Duplex
  readonly again: () => Promise<FoundSession>
  readonly clock: Clock
  /** In words for a person: that the line is away, or back. */
  readonly tell: (words: string) => void
}

type FromSession = FrameNameFrom<'supervisor'>
type FromClient = FrameNameFrom<'client'>

/** Answered by the session, so asked again where the answer did not come. */
const ANSWER_OF = { status: 'statusResp', info: 'infoResp' } as const

export class ReturningLine extends Duplex {
  readonly #options: ReturningOptions
  readonly #requests: FrameReader<'client'>
  #line: Duplex | undefined
  #hasGreeted = false
  /** As the client asked; what the session is asked for has more. */
  #subscribed: SubscribeOptions | undefined
  #position = new StreamPosition()
  #isReplayOver = false
  /** Something was handed on, and its place is known. */
  #isPlaced = false
  /** Frames of a screen or a replay whose place in the stream is not known before its end. */
  #held: Buffer[] | undefined
  /** Asked while there was no line, or not answered when it broke. */
  #questions: (keyof typeof ANSWER_OF)[] = []
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #waitingTypedBytes = 0
  #size: Buffer | undefined
  #typedBytes = 0
  #takenBytes = 0
  #isOver = false

  constructor(options: ReturningOptions) {
    super()
    this.#options = options
    this.#requests = new FrameReader('client', { frame: (name, payload) => this.#request(name, payload) })
    this.on('end', () => this.destroy())
    this.#take(options.first)
  }

  override _read(): void {
    this.#line?.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    try {
      this.#requests.push(chunk)
    } catch (error) {
      done(error as Error)
      return
    }
    // A line that does not take more holds up whoever writes; one that is gone does not.
    const line = this.#line
    if (line === undefined || line.destroyed || !line.writableNeedDrain) done()
    else {
      const go = (): void => {
        line.off('drain', go).off('close', go)
        done()
      }
      line.on('drain', go).on('close', go)
    }
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#isOver = true
    this.#line?.destroy()
    done(error)
  }

  #take(line: Duplex): void {
    this.#line = line
    this.#typedBytes = 0
    this.#takenBytes = 0
    const reader = new FrameReader('supervisor', { frame: (name, payload) => this.#answer(name, payload) })
    line.on('data', (chunk: Buffer) => {
      try {
        if (!this.#hasGreeted) this.#give(Buffer.from([MODE_BINARY]))
        this.#hasGreeted = true
        reader.push(chunk)
      } catch (error) {
        this.destroy(error as Error)
      }
    })
    // The close that follows says the rest.
    line.on('error', () => undefined)
    line.on('close', () => {
      if (this.#line === line) this.#lost()
    })
  }

  // -- from the client to the session

  #request(name: FromClient, payload: Buffer): void {
    if (name === 'subscribe') {
      this.#subscribed = parseSubscribe(payload)
      this.#position.start(this.#subscribed)
      this.#isPlaced = typeof this.#subscribed.from === 'number'
      if (this.#line !== undefined) this.#subscribe(this.#subscribed)
      return
    }
    if (name === 'status' || name === 'info') this.#questions.push(name)
    const frame = encodeFrame(name, payload)
    if (name === 'resize') this.#size = frame
    if (this.#line !== undefined) {
      if (name === 'input') this.#typedBytes += payload.length
      this.#line.write(frame)
    } else if (name !== 'status' && name !== 'info' && name !== 'resize') {
      if (name === 'input') this.#waitingTypedBytes += payload.length
      this.#wait(frame)
    }
  }

  #wait(frame: Buffer): void {
    this.#waiting.push(frame)
    this.#waitingBytes += frame.length
    if (this.#waitingBytes > TYPED_BYTES_MAX)
      this.destroy(lost(`${this.#waitingBytes} bytes were typed while the connection was away`))
  }

  #subscribe(options: SubscribeOptions): void {
    // Before its place is known, nothing of a replay is handed on: it could not be gone on with.
    this.#held = typeof options.from === 'number' ? undefined : []
    this.#line?.write(encodeJson('subscribe', { ...options, gaps: true, replayEnd: true, acks: !options.readOnly }))
  }

  // -- from the session to the client

  #answer(name: FromSession, payload: Buffer): void {
    const asked = this.#subscribed
    if (name === 'statusResp' || name === 'infoResp') {
      const at = this.#questions.findIndex((one) => ANSWER_OF[one] === name)
      if (at >= 0) this.#questions.splice(at, 1)
      this.#give(encodeFrame(name, payload))
      return
    }
    const event = this.#position.event(name, payload)
    if (event.type === 'ack') {
      this.#takenBytes = decodeAck(payload)
      if (asked?.acks !== true) return
    }
    if (event.type === 'exit') this.#isOver = true
    if (event.type === 'error' && parseErrorMessage(payload).code === 'SESSION_DETACHED') this.#isOver = true
    // A redraw follows, and only with its last part the screen is whole again.
    if (event.type === 'gap' && asked?.redraw === true) this.#held ??= []
    if (event.type === 'snapshot' && !event.isLast) this.#held ??= []
    const isWanted =
      (event.type !== 'gap' || asked?.gaps === true) &&
      (event.type !== 'replay-end' || (asked?.replayEnd === true && !this.#isReplayOver))
    if (event.type === 'replay-end') this.#isReplayOver = true
    if (isWanted) this.#hand(encodeFrame(name, payload))
    const isPlaced = event.type === 'replay-end' || event.type === 'exit' || (event.type === 'snapshot' && event.isLast)
    if (isPlaced) this.#release()
  }

  #hand(frame: Buffer): void {
    if (this.#held === undefined) this.#give(frame)
    else this.#held.push(frame)
  }

  #release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    this.#isPlaced = true
    for (const frame of held) this.#give(frame)
  }

  #give(bytes: Buffer): void {
    if (!this.push(bytes)) this.#line?.pause()
  }

  // -- a line that broke

  #lost(): void {
    this.#line = undefined
    if (this.#isOver) {
      this.push(null)
      return
    }
    const inDoubt = this.#typedBytes - this.#takenBytes
    // Whoever counts what was taken has to decide what to do about it.
    if (this.#subscribed?.acks === true && inDoubt > 0) {
      this.destroy(lost(`whether ${inDoubt} bytes that were typed have arrived is not known`))
      return
    }
    this.#options.tell('connection lost; coming back')
    void this.#comeBack(inDoubt).catch((error: Error) => this.destroy(error))
  }

  async #comeBack(inDoubt: number): Promise<void> {
    const { clock, again, tell } = this.#options
    const deadlineMs = clock.monoMs() + REMOTE_RETURN_MS
    for (let waitMs = REMOTE_RETRY_MS.first; !this.#isLeft(); waitMs = Math.min(waitMs * 2, REMOTE_RETRY_MS.most)) {
      try {
        const found = await again()
        if (this.#isLeft()) found.line?.destroy()
        else if (found.line === undefined) this.#conclude(found)
        else this.#goOn(found.line)
        tell(
          inDoubt === 0 ? 'connected again' : `connected again; ${inDoubt} bytes that were typed may not have arrived`,
        )
        return
      } catch (error) {
        const isAway = error instanceof HeimdallError && error.code === 'REMOTE_UNREACHABLE'
        if (!isAway || clock.monoMs() >= deadlineMs) throw error
        await pause(clock, waitMs)
      }
    }
  }

  #isLeft(): boolean {
    return this.destroyed
  }

  #goOn(line: Duplex): void {
    const asked = this.#subscribed
    this.#take(line)
    if (asked !== undefined) {
      // In the middle of a screen there is no place to go on from; the screen is asked for again.
      const whole = this.#isPlaced ? 'snapshot' : asked.from
      const from = this.#held === undefined ? (this.#position.next ?? asked.from) : whole
      this.#position.start({ from })
      this.#subscribe({ ...asked, from })
    }
    for (const question of this.#questions) line.write(encodeFrame(question))
    if (this.#size !== undefined) line.write(this.#size)
    for (const frame of this.#waiting) line.write(frame)
    this.#typedBytes = this.#waitingTypedBytes
    this.#waiting = []
    this.#waitingBytes = 0
    this.#waitingTypedBytes = 0
  }

  /** It ended while we were away: the rest of what it said, and how. */
  #conclude({ exitCode, kept }: Extract<FoundSession, { line: undefined }>): void {
    this.#isOver = true
    if (exitCode === undefined) {
      this.destroy(lost('the session has ended meanwhile'))
      return
    }
    const asked = this.#subscribed
    this.#held = undefined
    if (asked !== undefined && kept !== undefined) {
      const next = this.#position.next ?? kept.offset
      const from = Math.max(next, kept.offset)
      if (from > next && asked.gaps) this.#give(encodeGap({ droppedBytes: from - next, nextOffset: from }))
      for (const part of encodeBytes('output', kept.bytes.subarray(from - kept.offset))) this.#give(part)
      if (asked.replayEnd && !this.#isReplayOver) this.#give(encodeReplayEnd(kept.offset + kept.bytes.length))
    }
    this.#give(encodeExit(exitCode))
    this.push(null)
  }
}

const lost = (why: string): HeimdallError =>
  new HeimdallError('SESSION_LOST', `the connection to the session was lost: ${why}`, {
    hint: 'look with hm peek before you type it again',
  })
