// One response of the server on its way to the client: bytes go on first, as they came, and are read behind its back.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { GATHERED_BYTES_MAX } from '../../limits.ts'
import { Answers } from '../call/answers.ts'
import type { CallCore } from '../call/adapter.ts'
import { toClient } from './headers.ts'
import { Said } from './said.ts'
import { SseMessages } from './sse-messages.ts'

/** Compressed answers were not asked for, but are read where they come. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** What relays have in common. */
export interface RelayOptions {
  readonly core: CallCore
  /** In which the ids that are answered were given. */
  readonly scope: string
}

export class Relay {
  readonly #options: RelayOptions
  readonly #from: IncomingMessage
  readonly #to: ServerResponse
  readonly #said: Said
  readonly #events: SseMessages | null
  readonly #decoder: Transform | null
  #waitsFor = 0
  /** Bytes of the body have gone on. */
  #hasBegun = false
  /** Of the read that is going on. */
  #pieces: Buffer[] = []
  #bytes = 0

  constructor(options: RelayOptions, from: IncomingMessage, to: ServerResponse) {
    this.#options = options
    this.#from = from
    this.#to = to
    const { core, scope } = options
    const { gate, open, lists } = core
    this.#said = new Said(gate, new Answers({ gate, open, lists, scope }), core.exposure())
    const isStream = mediaOf(from) === 'text/event-stream'
    this.#events = isStream ? new SseMessages(this.#said) : null
    this.#decoder = DECODERS[encodingOf(from)]?.() ?? null
  }

  /** The encoding of a response that nobody here can read; null where it can be read. */
  static unreadable(response: IncomingMessage): string | null {
    const encoding = encodingOf(response)
    return encoding === '' || encoding === 'identity' || encoding in DECODERS ? null : encoding
  }

  /** The client may come back for what is missing. */
  get isResumable(): boolean {
    return this.#events?.hasEventId === true
  }

  /** An event of ours may follow what has been sent. */
  get mayAdd(): boolean {
    return this.#events !== null && this.#decoder === null && this.#events.isBetween
  }

  /** Resolves when all has been sent on and read: whether the server has said all that it had begun to say. */
  async run(): Promise<boolean> {
    const { statusCode = 502, statusMessage = '', rawHeaders } = this.#from
    this.#to.sendDate = false
    this.#to.writeHead(statusCode, statusMessage, toClient(rawHeaders))
    this.#said.headers(rawHeaders)
    this.#decoder?.on('data', (chunk: Buffer) => this.#read(chunk))
    // What cannot be decoded goes on all the same; that its call was not answered is all that is known then.
    this.#decoder?.on('error', () => {
      this.#options.core.lists.lost('it cannot be decoded')
      this.#decoder?.destroy()
    })
    this.#from.on('data', (piece: Buffer) => this.#take(piece))
    // With the first bytes where these have come along; else at once.
    process.nextTick(() => {
      if (this.#bytes === 0 && !this.#hasBegun) this.#to.flushHeaders()
    })
    // Its close tells.
    this.#from.on('error', () => {})
    await new Promise<void>((resolve) => void this.#from.once('close', resolve))
    await this.#decoded()
    if (this.#events === null && this.#from.complete) this.#said.end()
    return this.#from.complete
  }

  /** Small pieces that are read at once go on together: as a chunk of HTTP each would cost more than its bytes. */
  #take(piece: Buffer): void {
    if (piece.length > GATHERED_BYTES_MAX) this.passOn()
    if (piece.length > GATHERED_BYTES_MAX || this.#decoder !== null) {
      this.#pass(piece)
      return
    }
    if (this.#bytes === 0) process.nextTick(() => this.passOn())
    this.#pieces.push(piece)
    this.#bytes += piece.length
  }

  /** All that has come. */
  passOn(): void {
    const pieces = this.#pieces
    if (pieces.length === 0) return
    this.#pieces = []
    this.#bytes = 0
    this.#pass(Buffer.concat(pieces))
  }

  #pass(chunk: Buffer): void {
    this.#write(chunk)
    if (this.#decoder === null) this.#read(chunk)
    else if (!this.#decoder.destroyed && !this.#decoder.write(chunk)) this.#waitFor(this.#decoder)
  }

  /** With one call of the system, and now: what is left to the stream goes out behind all that is done here. */
  #write(chunk: Buffer): void {
    const { socket } = this.#to
    this.#hasBegun = true
    socket?.cork()
    const isRoom = this.#to.write(chunk)
    socket?.uncork()
    // Of a chunk above its bound the stream asks to wait before the system has been asked.
    if (!isRoom && this.#to.writableLength > 0) this.#waitFor(this.#to)
  }

  #waitFor(stream: Transform | ServerResponse): void {
    this.#waitsFor += 1
    this.#from.pause()
    const goOn = (): void => {
      stream.off('drain', goOn)
      stream.off('close', goOn)
      this.#waitsFor -= 1
      if (this.#waitsFor === 0) this.#from.resume()
    }
    stream.on('drain', goOn)
    stream.on('close', goOn)
  }

  #read(chunk: Buffer): void {
    if (this.#events === null) this.#said.piece(chunk, 0, chunk.length)
    else this.#events.push(chunk)
    this.#options.core.events.endOfTurn()
  }

  async #decoded(): Promise<void> {
    const decoder = this.#decoder
    if (decoder === null || decoder.closed) return
    await new Promise<void>((resolve) => {
      decoder.once('close', resolve)
      decoder.end()
    })
  }
}

function encodingOf({ headers }: IncomingMessage): string {
  return (headers['content-encoding'] ?? '').trim().toLowerCase()
}

function mediaOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}
