// One connection to a session: requests with answers, and one subscription as an async iterator.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import { type Clock, systemClock } from '../clock.ts'
import { HeimdallError, ignore, isErrno } from '../errors.ts'
import { SESSION_ANSWER_MS } from '../limits.ts'
import { decodeStatusResp } from '../wire/decode.ts'
import { encodeBytes, encodeFrame, encodeJson, encodeResize } from '../wire/encode.ts'
import { type FrameNameFrom, stateName } from '../wire/frames.ts'
import {
  type TerminalColors,
  type Info,
  parseInfo,
  type Report,
  type Size,
  type SubscribeOptions,
} from '../wire/payloads.ts'
import { FrameReader } from '../wire/reader.ts'
import { pidBeside } from '../wire/session-paths.ts'
import { EventQueue } from './event-queue.ts'
import { type SessionEvent, StreamPosition } from './events.ts'
import { type Endpoint, nameOf, openLine } from './endpoint.ts'
import { type SendOptions, type Sent, sendText } from './send.ts'

/** STATUS_RESP with the state by name. */
export interface SessionStatus {
  readonly pid: number
  readonly idleMs: number
  readonly alive: boolean
  readonly state: string
  readonly stateMs: number
}

interface Waiting {
  readonly resolve: (payload: Buffer) => void
  readonly reject: (error: Error) => void
  /** A refusal answers it; questions are never refused. */
  readonly mayBeRefused: boolean
}

export interface ConnectOptions {
  readonly clock?: Clock
  /** How long to wait for the session to answer; the default is `SESSION_ANSWER_MS`. */
  readonly answerMs?: number
}

/** Connects to a session and waits until it has spoken. */
export async function openConnection(endpoint: Endpoint, options: ConnectOptions = {}): Promise<SessionConnection> {
  const line = openLine(endpoint)
  return await greeted(endpoint, line instanceof Promise ? await line : line, options)
}

function greeted(endpoint: Endpoint, line: Duplex, options: ConnectOptions): Promise<SessionConnection> {
  const { clock = systemClock, answerMs = SESSION_ANSWER_MS } = options
  return new Promise((resolve, reject) => {
    const timer = clock.after(answerMs, () => fail(silent(endpoint, answerMs)))
    const fail = (error: Error): void => {
      timer.cancel()
      line.destroy()
      reject(translate(error, endpoint))
    }
    const onClose = (): void => fail(lost())
    line.once('error', fail)
    line.once('close', onClose)
    // The mode byte, before which nothing may be sent (seed 001, connection handshake).
    line.once('data', (first: Buffer) => {
      timer.cancel()
      line.off('error', fail)
      line.off('close', onClose)
      try {
        resolve(new SessionConnection(endpoint, line, first, { clock, answerMs }))
      } catch (error) {
        line.destroy()
        reject(error)
      }
    })
  })
}

export class SessionConnection {
  readonly endpoint: Endpoint
  readonly #line: Duplex
  readonly #clock: Clock
  readonly #answerMs: number
  readonly #reader: FrameReader<'supervisor'>
  readonly #waiting: Record<'statusResp' | 'infoResp', Waiting[]> = { statusResp: [], infoResp: [] }
  readonly #position = new StreamPosition()
  #queue: EventQueue<SessionEvent> | undefined
  #ended: Error | undefined
  #onRefusal: ((error: HeimdallError) => void) | undefined
  #refusal: HeimdallError | undefined

  constructor(endpoint: Endpoint, line: Duplex, first: Buffer, options: Required<ConnectOptions>) {
    this.endpoint = endpoint
    this.#line = line
    this.#clock = options.clock
    this.#answerMs = options.answerMs
    this.#reader = new FrameReader('supervisor', { frame: (name, payload) => this.#receive(name, payload) })
    line.on('error', (error) => this.#end(translate(error, endpoint)))
    line.on('close', () => this.#end(lost()))
    this.#push(first)
    line.on('data', (chunk: Buffer) => this.#push(chunk))
  }

  /** The last refusal of the session, such as of a kill by an agent that did not start it. */
  get refusal(): HeimdallError | undefined {
    return this.#refusal
  }

  async status(): Promise<SessionStatus> {
    const status = decodeStatusResp(await this.#ask('status', 'statusResp'))
    return { ...status, state: stateName(status.state) }
  }

  async info(): Promise<Info> {
    return parseInfo(await this.#ask('info', 'infoResp'))
  }

  /**
   * The session's output and, as far as the options ask for them, its events. Ends after `exit`; a connection that
   * breaks off before that throws. With options the session may send more than seed 001 knows; `{}` asks for nothing.
   * A slow consumer stops the reading of this connection, so `status()` answers only as fast as events are taken.
   */
  subscribe(options?: Partial<SubscribeOptions>): AsyncGenerator<SessionEvent, void, undefined> {
    this.#position.start(options)
    return this.#follow(options === undefined ? encodeFrame('subscribe') : encodeJson('subscribe', options))
  }

  /** `state`, `activity` and `exit` of a session that is looked after, and no output: a slow consumer holds up nobody. */
  keep(): AsyncGenerator<SessionEvent, void, undefined> {
    return this.#follow(encodeFrame('keep'))
  }

  #follow(request: Buffer): AsyncGenerator<SessionEvent, void, undefined> {
    if (this.#queue !== undefined)
      throw new HeimdallError('SESSION_REFUSED', 'this connection is subscribed already', {
        hint: 'open a second connection',
      })
    const queue = new EventQueue<SessionEvent>({
      pause: () => this.#line.pause(),
      resume: () => this.#line.resume(),
    })
    this.#queue = queue
    if (this.#ended === undefined) this.#write([request]).catch((error: Error) => queue.fail(error))
    else queue.fail(this.#ended)
    return queue.take()
  }

  /**
   * A text as a careful person sends it: pasted, seen to be taken, followed by keys, waited for. It goes over a
   * connection of its own, because what confirms it belongs to a subscription.
   */
  async send(text: string, options?: Omit<SendOptions, 'clock'>): Promise<Sent> {
    const clock = this.#clock
    return await sendText(await openConnection(this.endpoint, { clock }), text, { ...options, clock })
  }

  /** Bytes as typed. Resolves when the kernel has them; only an `ack` event says that the terminal has. */
  input(bytes: Buffer | string): Promise<void> {
    return this.#write([...encodeBytes('input', Buffer.from(bytes))])
  }

  async resize(size: Size): Promise<void> {
    if (![size.cols, size.rows].every((side) => Number.isInteger(side) && side >= 1 && side <= 0xffff))
      throw new HeimdallError('SESSION_SIZE_INVALID', `a terminal of ${size.cols}x${size.rows} cannot be`)
    await this.#write([encodeResize(size)])
  }

  /** Asks for the end of the session: SIGTERM to its process group, SIGKILL after the grace time. */
  kill(): Promise<void> {
    return this.#write([encodeFrame('kill')])
  }

  /** Sends all other viewers away; the session goes on. */
  detachOthers(): Promise<void> {
    return this.#write([encodeFrame('detach')])
  }

  /** What the terminal looks like that the session is shown in; the program is told when it asks. Sessions of before do not know. */
  colors(colors: TerminalColors): Promise<void> {
    return this.#write([encodeJson('colors', colors)])
  }

  /**
   * Says which process asks for what follows, and in what name (`hm kill`), so that the session's records can: proven by
   * its pid file, which this process holds open meanwhile. Of a session of another machine the far end says it. Sessions
   * of before do not know.
   */
  async callAs(as: string): Promise<void> {
    if (typeof this.endpoint !== 'string') return
    const file = await open(pidBeside(this.endpoint), constants.O_WRONLY).catch(ignore('ENOENT', 'EACCES', 'EROFS'))
    try {
      await this.#write([encodeJson('caller', { pid: process.pid, as })])
      // Frames are taken in order, so this answer says that it was.
      await this.status()
    } finally {
      await file?.close()
    }
  }

  /**
   * Values that the session keeps out of what it writes down; each in a frame of its own, because they may be long.
   * Resolves when they were taken. Only a program of the session may say so, by `callAs` first. Sessions of before do not know.
   */
  async secrets(values: readonly string[]): Promise<void> {
    let refusal: HeimdallError | undefined
    this.#onRefusal = (error) => {
      refusal ??= error
    }
    await this.#write(values.map((value) => encodeJson('secrets', { values: [value] })))
    await this.status()
    this.#onRefusal = undefined
    if (refusal !== undefined) throw refusal
  }

  /** Gives the session another id; answers with what is then known of it. */
  async rename(id: string): Promise<Info> {
    return parseInfo(await this.#ask('rename', 'infoResp', Buffer.from(id)))
  }

  /** What a host's hook knows of the agent in the session; it counts more than what the screen looks like. */
  report(report: Report): Promise<void> {
    return this.#write([encodeJson('report', report)])
  }

  close(): void {
    this.#end(lost())
    this.#line.destroy()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #ask(request: 'status' | 'info' | 'rename', answer: 'statusResp' | 'infoResp', payload?: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended)
        return
      }
      const timer = this.#clock.after(this.#answerMs, () => reject(silent(this.endpoint, this.#answerMs)))
      this.#waiting[answer].push({
        resolve: (payload) => {
          timer.cancel()
          resolve(payload)
        },
        reject: (error) => {
          timer.cancel()
          reject(error)
        },
        mayBeRefused: request === 'rename',
      })
      this.#write([encodeFrame(request, payload)]).catch(reject)
    })
  }

  #write(parts: readonly Buffer[]): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    return new Promise((resolve, reject) => {
      const last = parts.length - 1
      if (last < 0) resolve()
      this.#line.cork()
      parts.forEach((part, i) => {
        this.#line.write(part, (error) => {
          if (error !== null && error !== undefined) reject(translate(error, this.endpoint))
          else if (i === last) resolve()
        })
      })
      this.#line.uncork()
    })
  }

  #push(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.#end(error as Error)
      this.#line.destroy()
    }
  }

  #receive(name: FrameNameFrom<'supervisor'>, payload: Buffer): void {
    if (name === 'statusResp' || name === 'infoResp') {
      this.#waiting[name].shift()?.resolve(payload)
      return
    }
    const event = this.#position.event(name, payload)
    if (event.type === 'error') this.#refused(event)
    this.#queue?.add(event, payload.length)
    if (event.type === 'exit') this.#queue?.finish()
  }

  #refused({ code, message }: { readonly code: string; readonly message: string }): void {
    const refusal = new HeimdallError('SESSION_REFUSED', `the session refused: ${message}`, {
      details: { refusal: code },
    })
    this.#refusal = refusal
    this.#onRefusal?.(refusal)
    const { infoResp } = this.#waiting
    const at = infoResp.findIndex(({ mayBeRefused }) => mayBeRefused)
    for (const waiting of at < 0 ? [] : infoResp.splice(at, 1)) waiting.reject(refusal)
  }

  #end(error: Error): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    this.#queue?.fail(error)
    for (const waiting of Object.values(this.#waiting).flat()) waiting.reject(error)
  }
}

function translate(error: Error, endpoint: Endpoint): Error {
  // ECONNREFUSED: a socket file without a process behind it.
  if (isErrno(error, 'ENOENT', 'ECONNREFUSED'))
    return new HeimdallError('SESSION_NOT_FOUND', `no session listens at ${nameOf(endpoint)}`, { cause: error })
  if (isErrno(error, 'ECONNRESET', 'EPIPE')) return lost(error)
  return error
}

function lost(cause?: Error): HeimdallError {
  return new HeimdallError('SESSION_LOST', 'the connection to the session was closed', { cause })
}

function silent(endpoint: Endpoint, answerMs: number): HeimdallError {
  return new HeimdallError(
    'SESSION_SILENT',
    `the session at ${nameOf(endpoint)} did not answer within ${answerMs} ms`,
    {
      hint: 'it may be stopped; ps shows the state T for a stopped process',
    },
  )
}
