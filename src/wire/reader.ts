// Bytes to frames, fed in any pieces. Knows no sockets; refuses on the header, before memory is taken.
import { HeimdallError } from '../errors.ts'
import { FRAME_PAYLOAD_BYTES_MAX } from '../limits.ts'
import { FRAMES, type FrameName, type FrameNameFrom, HEADER_BYTES, MODE_BINARY, type Sender } from './frames.ts'

export interface FrameSink<S extends Sender> {
  /** `payload` may be a view of the chunk that was pushed: whoever reuses chunks must copy what is kept. */
  frame(name: FrameNameFrom<S>, payload: Buffer): void
  /** A tag that the table does not have from this sender; its payload is skipped, the connection goes on. */
  unknown?(tag: number, length: number): void
}

/** The first memory taken for a payload that arrives in pieces; it then doubles, so a peer pays for what it takes. */
const FIRST_HOLD_BYTES = 1 << 10

const EMPTY = Buffer.alloc(0)

/**
 * Turns what one sender wrote into frames. After `push` has thrown, the connection is lost: its bytes can no longer
 * be told apart, and further calls throw the same error.
 */
export class FrameReader<S extends Sender> {
  readonly #sender: S
  readonly #sink: FrameSink<S>
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerBytes = 0
  #needsMode: boolean
  /** The frame whose payload is being read; undefined for one that is skipped. */
  #name: FrameNameFrom<S> | undefined
  #payloadBytesLeft = 0
  #isSkipping = false
  #held = EMPTY
  #heldBytes = 0
  #failure: HeimdallError | undefined

  constructor(sender: S, sink: FrameSink<S>) {
    this.#sender = sender
    this.#sink = sink
    this.#needsMode = sender === 'supervisor'
  }

  /** Memory held for a frame that has not fully arrived: at most twice what arrived, and never more than the cap. */
  get heldBytes(): number {
    return this.#held.length
  }

  /** True between frames: a connection that ends elsewhere was cut off. */
  get isBetweenFrames(): boolean {
    return this.#headerBytes === 0 && !this.#needsMode
  }

  push(chunk: Buffer): void {
    if (this.#failure !== undefined) throw this.#failure
    let at = 0
    if (this.#needsMode && chunk.length > 0) {
      this.#checkMode(chunk[0])
      at = 1
    }
    while (at < chunk.length) {
      at = this.#headerBytes < HEADER_BYTES ? this.#readHeader(chunk, at) : this.#readPayload(chunk, at)
    }
  }

  #checkMode(mode: number | undefined): void {
    if (mode !== MODE_BINARY)
      throw this.#fail('WIRE_MODE_UNKNOWN', `the session speaks mode ${mode}, this client only ${MODE_BINARY}`)
    this.#needsMode = false
  }

  #readHeader(chunk: Buffer, start: number): number {
    let at = start
    while (this.#headerBytes < HEADER_BYTES && at < chunk.length) {
      this.#header[this.#headerBytes] = chunk[at] ?? 0
      this.#headerBytes += 1
      at += 1
    }
    if (this.#headerBytes === HEADER_BYTES) this.#begin()
    return at
  }

  #begin(): void {
    const tag = this.#header[0] ?? 0
    const length = this.#header.readUInt32BE(1)
    const name = BY_TAG[this.#sender].get(tag)
    if (length > FRAME_PAYLOAD_BYTES_MAX)
      throw this.#fail(
        'WIRE_FRAME_TOO_LARGE',
        `${name === undefined ? `frame 0x${tag.toString(16)}` : FRAMES[name].label} of ${length} bytes, limit ${FRAME_PAYLOAD_BYTES_MAX}`,
      )
    if (name === undefined) this.#sink.unknown?.(tag, length)
    else this.#checkSize(name, length)
    this.#name = name as FrameNameFrom<S> | undefined
    this.#isSkipping = name === undefined || FRAMES[name].size === 'ignored'
    this.#payloadBytesLeft = length
    if (length === 0) this.#end(EMPTY)
  }

  #checkSize(name: FrameName, length: number): void {
    const { size, label } = FRAMES[name]
    if (typeof size === 'string') return
    const fits = typeof size === 'number' ? length === size : length >= size.min
    if (!fits)
      throw this.#fail(
        'WIRE_PAYLOAD_SIZE',
        `${label} of ${length} bytes, allowed ${typeof size === 'number' ? size : `${size.min} or more`}`,
      )
  }

  #readPayload(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#payloadBytesLeft)
    this.#payloadBytesLeft -= end - at
    if (this.#isSkipping) {
      if (this.#payloadBytesLeft === 0) this.#end(EMPTY)
    } else if (this.#payloadBytesLeft === 0 && this.#heldBytes === 0) {
      this.#end(chunk.subarray(at, end))
    } else {
      this.#hold(chunk, at, end)
      if (this.#payloadBytesLeft === 0) this.#end(this.#held.subarray(0, this.#heldBytes))
    }
    return end
  }

  #hold(chunk: Buffer, start: number, end: number): void {
    const needed = this.#heldBytes + (end - start)
    if (needed > this.#held.length) {
      const whole = needed + this.#payloadBytesLeft
      const grown = Buffer.allocUnsafeSlow(Math.min(whole, Math.max(FIRST_HOLD_BYTES, needed, this.#held.length * 2)))
      this.#held.copy(grown, 0, 0, this.#heldBytes)
      this.#held = grown
    }
    chunk.copy(this.#held, this.#heldBytes, start, end)
    this.#heldBytes = needed
  }

  #end(payload: Buffer): void {
    const name = this.#name
    this.#headerBytes = 0
    this.#held = EMPTY
    this.#heldBytes = 0
    if (name !== undefined) this.#sink.frame(name, payload)
  }

  #fail(code: 'WIRE_FRAME_TOO_LARGE' | 'WIRE_PAYLOAD_SIZE' | 'WIRE_MODE_UNKNOWN', message: string): HeimdallError {
    this.#failure = new HeimdallError(code, message)
    this.#held = EMPTY
    return this.#failure
  }
}

const tagsOf = (sender: Sender): ReadonlyMap<number, FrameName> =>
  new Map(
    (Object.keys(FRAMES) as FrameName[])
      .filter((name) => FRAMES[name].sender === sender)
      .map((name) => [FRAMES[name].tag, name]),
  )

const BY_TAG: Readonly<Record<Sender, ReadonlyMap<number, FrameName>>> = {
  client: tagsOf('client'),
  supervisor: tagsOf('supervisor'),
}
