// One response of the server on its way to the client: bytes go on first, as they came, and are read behind its back.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Answers } from '../call/answers.ts'
import type { CallCore } from '../call/adapter.ts'
import type { Garbage } from '../messages/garbage.ts'
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

export class Relay {
  readonly #core: CallCore
  readonly #from: IncomingMessage
  readonly #to: ServerResponse
  readonly #garbage: Garbage
  readonly #said: Said
  readonly #events: SseMessages | null
  readonly #decoder: Transform | null
  #waitsFor = 0

  constructor(core: CallCore, garbage: Garbage, from: IncomingMessage, to: ServerResponse, scope: string) {
    this.#core = core
    this.#from = from
    this.#to = to
    this.#garbage = garbage
    this.#said = new Said(core.gate, new Answers({ ...core, scope }), core.exposure())
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
    // With the first bytes where these are there already; else at once.
    setImmediate(() => this.#to.flushHeaders())
    this.#decoder?.on('data', (chunk: Buffer) => this.#read(chunk))
    // What cannot be decoded goes on all the same; that its call was not answered is all that is known then.
    this.#decoder?.on('error', () => {
      this.#core.lists.lost('it cannot be decoded')
      this.#decoder?.destroy()
    })
    this.#from.on('data', (chunk: Buffer) => this.#take(chunk))
    // Its close tells.
    this.#from.on('error', () => {})
    await new Promise<void>((resolve) => void this.#from.once('close', resolve))
    await this.#decoded()
    if (this.#events === null && this.#from.complete) this.#said.end()
    return this.#from.complete
  }

  #take(chunk: Buffer): void {
    if (!this.#to.write(chunk)) this.#waitFor(this.#to)
    if (this.#decoder === null) this.#read(chunk)
    else if (!this.#decoder.destroyed && !this.#decoder.write(chunk)) this.#waitFor(this.#decoder)
    this.#garbage.passed(chunk.length)
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
    this.#core.events.endOfTurn()
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
