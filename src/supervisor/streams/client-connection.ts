// One client of a session: its frames in, its answers out, its share of memory and patience.
import type { Socket } from 'node:net'
import { HeimdallError, ignore } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { ANSWER_BYTES_MAX, CLIENT_INFOS_MAX } from '../../limits.ts'
import { diskError } from '../../storage/faults.ts'
import { encodeAck, encodeJson } from '../../wire/encode.ts'
import { type FrameNameFrom, MODE_BINARY } from '../../wire/frames.ts'
import {
  type TerminalColors,
  type CalledAs,
  parseCaller,
  parseColors,
  parseReport,
  parseSecrets,
  parseSubscribe,
  type Report,
  type Size,
  type SubscribeOptions,
} from '../../wire/payloads.ts'
import { decodeResize } from '../../wire/decode.ts'
import { FrameReader } from '../../wire/reader.ts'
import { readShared, writeNow } from './client-socket.ts'
import type { InputSource } from './input-queue.ts'
import type { Subscriber } from './subscriber.ts'

/** What a client may ask of the session. */
export interface SessionDesk {
  input(client: ClientConnection, bytes: Buffer): void
  subscribe(client: ClientConnection, options: SubscribeOptions): Subscriber
  status(): Buffer
  info(): Promise<Buffer>
  resize(client: ClientConnection, size: Size): void
  kill(client: ClientConnection): void
  /** Sends all other viewers away. */
  detach(client: ClientConnection): void
  keep(client: ClientConnection): void
  rename(client: ClientConnection, to: string): Promise<Buffer>
  colors(colors: TerminalColors): void
  report(report: Report): void
  /** Values to be kept out of what is written down. */
  secrets(client: ClientConnection, values: readonly string[]): void
  /** Which process a client says that it is; nothing where that is not so. */
  caller(said: CalledAs): KnownCaller | undefined
  drained(subscriber: Subscriber): void
  /** True while input must wait. */
  readonly isInputFull: boolean
  /** It will ask for nothing any more. */
  gone(client: ClientConnection): void
}

/** Who a client is, found when somebody wants to know. */
export interface KnownCaller {
  /** The agent's name, or the user's. */
  readonly name: string
  /** For records: the command and who gave it. */
  readonly words: string
  /** A program of this session. */
  readonly isOwn: boolean
  /** An agent of ours or a host, as its processes prove. */
  readonly isAgent: boolean
  /** The same for all that one session or host has started. */
  readonly actor: string | undefined
}

/** What all clients share. */
export interface Admission {
  /** Memory held for half a frame changed by so much; false when all clients together hold too much. */
  hold(deltaBytes: number): boolean
  gone(client: ClientConnection): void
}

export class ClientConnection implements InputSource {
  readonly socket: Socket
  readonly #desk: SessionDesk
  readonly #admission: Admission
  readonly #nowMs: () => number
  readonly #reader: FrameReader<'client'>
  #subscriber: Subscriber | undefined
  #options: SubscribeOptions | undefined
  /** Sent a frame that seed 001 does not have, so it understands such frames. */
  #isExtended = false
  #answers: Buffer[] = []
  /** The newest state, while the peer does not take what it was sent before. */
  #heldState: Buffer | undefined
  #infosAsked = 0
  #heldBytes = 0
  #frameBegunMs: number | undefined
  #hasSentFrame = false
  #hasResized = false
  #isKeeper = false
  #inputBytes = 0
  #ackedBytes = 0
  #caller: KnownCaller | undefined

  /** `accepted` has not been read from. */
  constructor(accepted: Socket, desk: SessionDesk, admission: Admission, nowMs: () => number) {
    const socket = readShared(accepted, (chunk) => this.#read(chunk))
    this.socket = socket
    this.#desk = desk
    this.#admission = admission
    this.#nowMs = nowMs
    this.#reader = new FrameReader('client', { frame: (name, payload) => this.#take(name, payload) })
    socket.on('drain', () => this.#drained())
    socket.on('close', () => this.#close())
    // A peer that left, or a kernel without room for it: 'close' follows and is acted on.
    socket.on('error', ignore('ECONNRESET', 'EPIPE', 'ENOBUFS', 'ENOMEM'))
    this.send([Buffer.of(MODE_BINARY)])
    socket.resume()
  }

  get subscriber(): Subscriber | undefined {
    return this.#subscriber
  }

  /** Nothing for one that has not shown who it is. */
  get caller(): KnownCaller | undefined {
    return this.#caller
  }

  get isReadOnly(): boolean {
    return this.#options?.readOnly === true
  }

  /**
   * Passes output to a terminal of its own, which answers the program's questions. Ours say so. A client that knows
   * only the seed's frames has a terminal when it told us its size: one that only reads could not send an answer.
   */
  get answers(): boolean {
    if (this.#options === undefined || this.isReadOnly) return false
    return this.#options.answers || (!this.#isExtended && this.#hasResized)
  }

  get wantsEvents(): boolean {
    return this.#options?.events === true || this.#isKeeper
  }

  /** Looks after the session: it is told of activity and of the end, and is given no output. */
  get isKeeper(): boolean {
    return this.#isKeeper
  }

  /** A peer that never said anything sensible is the first to go when there are too many. */
  get hasSentFrame(): boolean {
    return this.#hasSentFrame
  }

  /** Since when a frame is incomplete; nothing between frames, and nothing while it is us who do not read. */
  get frameBegunMs(): number | undefined {
    return this.socket.isPaused() ? undefined : this.#frameBegunMs
  }

  /** Whole frames. False: the peer takes no more for now. */
  send(parts: readonly Buffer[]): boolean {
    if (this.socket.destroyed || this.socket.writableEnded) return true
    if (this.#heldState !== undefined) {
      const held = this.#heldState
      this.#heldState = undefined
      if (!this.send([held])) {
        this.#queue(parts)
        return false
      }
    }
    // Behind what waits in the stream; without anything there, to the kernel at once.
    const rest = this.socket.writableLength === 0 ? writeNow(this.socket, parts) : parts
    if (rest.length === 0) return true
    this.#queue(rest)
    // What the kernel took after all is gone from the stream's count by now; what is left comes back as 'drain'.
    return this.socket.writableLength === 0
  }

  #queue(parts: readonly Buffer[]): void {
    this.socket.cork()
    for (const part of parts) this.socket.write(part)
    this.socket.uncork()
  }

  /** At most one state waits: to a peer that does not read, all but the newest are of no use. It goes before what is sent next. */
  sendState(frame: Buffer): void {
    if (this.socket.writableLength > 0) this.#heldState = frame
    else this.send([frame])
  }

  /** What is of no use later: not to a peer that has not taken what it was sent before. */
  sendIfTaken(frame: Buffer): void {
    if (this.socket.writableLength === 0) this.send([frame])
  }

  /** Somebody's terminal: it said so, or it has given the session its size. */
  get isViewer(): boolean {
    return this.#options?.viewer === true || this.#hasResized
  }

  sendAway(by: string): void {
    this.sendError(new HeimdallError('SESSION_DETACHED', `${by} has sent the viewers away`))
    this.socket.destroySoon()
  }

  /** To clients that know such frames; a plain one is told nothing, as in the seed. */
  sendError(error: HeimdallError): void {
    if (this.#isExtended) this.send([encodeJson('error', { code: error.code, message: error.message })])
  }

  /** Reads on, unless there is a reason not to. */
  resume(): void {
    if (!this.#desk.isInputFull && this.socket.writableLength <= ANSWER_BYTES_MAX) this.socket.resume()
  }

  written(bytes: number): void {
    this.#inputBytes += bytes
    if (this.#options?.acks !== true) return
    this.#ackedBytes = this.#inputBytes
    this.send([encodeAck(this.#ackedBytes)])
  }

  refused(bytes: number): void {
    this.sendError(
      new HeimdallError('SESSION_INPUT_REFUSED', `the child is gone; ${bytes} bytes of input were not taken`),
    )
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
      this.#sendAnswers()
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.sendError(error)
      this.socket.destroySoon()
      return
    }
    this.#frameBegunMs = this.#reader.isBetweenFrames ? undefined : (this.#frameBegunMs ?? this.#nowMs())
    const delta = this.#reader.heldBytes - this.#heldBytes
    this.#heldBytes += delta
    if (delta !== 0 && !this.#admission.hold(delta)) this.socket.destroy()
    if (this.#desk.isInputFull || this.socket.writableLength > ANSWER_BYTES_MAX) this.socket.pause()
  }

  /** One write for all that one read asked for: ten thousand small writes would hold megabytes of bookkeeping. */
  #sendAnswers(): void {
    if (this.#answers.length > 0) this.send(this.#answers.length === 1 ? this.#answers : [Buffer.concat(this.#answers)])
    this.#answers = []
  }

  #take(name: FrameNameFrom<'client'>, payload: Buffer): void {
    this.#hasSentFrame = true
    this.#frameBegunMs = undefined
    switch (name) {
      case 'input':
        if (this.#mayAct('type')) this.#desk.input(this, payload)
        return
      case 'resize':
        this.#hasResized = true
        if (this.#mayAct('resize')) this.#desk.resize(this, decodeResize(payload))
        return
      case 'kill':
        if (this.#mayAct('kill')) this.#desk.kill(this)
        return
      case 'detach':
        this.#isExtended = true
        if (this.#mayAct('send others away')) this.#desk.detach(this)
        return
      case 'keep':
        this.#isExtended = true
        this.#isKeeper = true
        this.#desk.keep(this)
        return
      case 'colors':
        this.#isExtended = true
        if (this.#mayAct('say what the terminal looks like')) this.#desk.colors(parseColors(payload))
        return
      case 'rename':
        this.#isExtended = true
        if (this.#mayAct('rename')) void this.#rename(payload.toString('utf8'))
        return
      case 'status':
        this.#answers.push(this.#desk.status())
        return
      case 'subscribe':
        this.#subscribe(payload)
        return
      case 'info':
        this.#isExtended = true
        this.#askInfo()
        return
      case 'report':
        this.#isExtended = true
        this.#desk.report(parseReport(payload))
        return
      case 'secrets':
        this.#isExtended = true
        if (this.#mayAct('say what is secret')) this.#desk.secrets(this, parseSecrets(payload))
        return
      case 'caller':
        this.#isExtended = true
        this.#caller = this.#desk.caller(parseCaller(payload))
        return
    }
  }

  /** Questions that come while one is being answered get the same answer. */
  #askInfo(): void {
    this.#infosAsked += 1
    if (this.#infosAsked > 1) return
    void this.#desk.info().then((frame) => {
      const asked = Math.min(this.#infosAsked, CLIENT_INFOS_MAX)
      this.#infosAsked = 0
      this.send(Array.from({ length: asked }, () => frame))
    })
  }

  /** Answered like INFO, under the new id. */
  async #rename(to: string): Promise<void> {
    try {
      this.send([await this.#desk.rename(this, to)])
    } catch (error) {
      // A disk that refuses a new name must not end the session: nobody waits for this promise.
      const answer = diskError(`the session's files under the id ${printable(to)}`, error)
      if (!(answer instanceof HeimdallError)) throw answer
      this.sendError(answer)
    }
  }

  /** A second SUBSCRIBE is ignored, as in the field. */
  #subscribe(payload: Buffer): void {
    if (this.#subscriber !== undefined) return
    this.#isExtended ||= payload.length > 0
    this.#options = parseSubscribe(payload)
    this.#subscriber = this.#desk.subscribe(this, this.#options)
  }

  #mayAct(what: string): boolean {
    if (!this.isReadOnly) return true
    this.sendError(new HeimdallError('SESSION_READ_ONLY', `a read-only client may not ${what}`))
    return false
  }

  #drained(): void {
    if (this.#heldState !== undefined) this.send([])
    if (this.#subscriber !== undefined) this.#desk.drained(this.#subscriber)
    this.resume()
  }

  #close(): void {
    this.#admission.hold(-this.#heldBytes)
    this.#heldBytes = 0
    this.#admission.gone(this)
  }
}
