// A browser's terminal: bytes of a session to the page as they come, and keys back while the page has the keyboard.
import type { RawData, WebSocket } from 'ws'
import type { SessionConnection } from '../../client/connection.ts'
import { openConnection } from '../../client/connection.ts'
import type { Endpoint } from '../../client/endpoint.ts'
import type { SessionEvent } from '../../client/events.ts'
import { encodePaste } from '../../client/keystrokes.ts'
import type { Clock } from '../../clock.ts'
import { pause } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { HUB_TERMINAL_QUEUE_BYTES } from '../../limits.ts'
import { type TerminalFromBrowser, terminalFromBrowser, type TerminalFromHub } from '../contract.ts'
import type { Watchers } from './watchers.ts'

export interface TerminalOptions {
  /** Over ssh this takes a while, and may fail: whoever looks is told why. */
  readonly reach: () => Promise<Endpoint>
  readonly sessionId: string
  /** Whether the keyboard may be taken. */
  readonly mayType: boolean
  readonly clock: Clock
  readonly watchers: Watchers
}

/** Until the session ends or the browser goes. */
export async function serveTerminal(socket: WebSocket, options: TerminalOptions): Promise<void> {
  const terminal = new BrowserTerminal(socket, options)
  try {
    await terminal.show()
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    terminal.say({ type: 'error', code: error.code, message: error.message, hint: error.hint ?? null })
  } finally {
    terminal.close()
  }
}

class BrowserTerminal {
  readonly #socket: WebSocket
  readonly #options: TerminalOptions
  #endpoint: Promise<Endpoint> | undefined
  #watching: SessionConnection | undefined
  /** A connection of its own: the one that watches may not type. There while the keyboard is taken. */
  #typing: Promise<SessionConnection> | undefined
  /** What the browser sends is done in order. */
  #turn: Promise<void> = Promise.resolve()
  /** A connection that has said how large its window is counts as a terminal. */
  #isFitted = false
  #leave: () => void = () => undefined

  constructor(socket: WebSocket, options: TerminalOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('message', (data, isBinary) => this.#next(() => this.#received(data, isBinary)))
    socket.on('close', () => this.close())
    // The close that follows ends it.
    socket.on('error', () => socket.terminate())
  }

  async show(): Promise<void> {
    const { sessionId, mayType, watchers } = this.#options
    const connection = await this.#connect()
    this.#watching = connection
    if (this.#isGone()) {
      connection.close()
      return
    }
    const events = connection.subscribe({
      from: 'snapshot',
      readOnly: true,
      events: true,
      gaps: true,
      redraw: true,
      replayEnd: true,
      viewer: true,
    })
    const { cols, rows, title, alive, viewers } = await connection.info()
    this.say({ type: 'hello', session_id: sessionId, cols, rows, title, alive, may_type: mayType })
    if (this.#isGone()) return
    this.#leave = watchers.join(sessionId, {
      viewers: () => (this.#isFitted ? 2 : 1),
      onCount: (watching) => this.say({ type: 'keyboard', yours: this.#typing !== undefined, watching }),
    })
    watchers.counted(sessionId, viewers ?? 0)
    for await (const event of events) {
      this.#tell(event)
      await this.#room()
      if (this.#isGone()) return
    }
  }

  /** Found once: the second connection to another machine goes the way of the first. */
  async #connect(): Promise<SessionConnection> {
    this.#endpoint ??= this.#options.reach()
    return openConnection(await this.#endpoint, { clock: this.#options.clock })
  }

  /** Who types is on the session's record: whoever runs this hub. */
  async #connectToType(): Promise<SessionConnection> {
    const connection = await this.#connect()
    await connection.callAs('heimdall up')
    return connection
  }

  say(message: TerminalFromHub): void {
    if (!this.#isGone()) this.#socket.send(JSON.stringify(message))
  }

  close(): void {
    this.#leave()
    this.#leave = () => undefined
    this.#watching?.close()
    void this.#giveBack()
    this.#socket.close()
  }

  #isGone(): boolean {
    return this.#socket.readyState !== this.#socket.OPEN
  }

  #isRedrawn = false

  #tell(event: SessionEvent): void {
    switch (event.type) {
      case 'snapshot':
        if (!this.#isRedrawn) this.say({ type: 'reset', ...event.size, is_whole: event.isWhole })
        this.#isRedrawn = !event.isLast
        this.#bytes(event.bytes)
        return
      case 'output':
        this.#bytes(event.bytes)
        return
      case 'gap':
        this.say({ type: 'gap', dropped_bytes: event.droppedBytes })
        return
      case 'replay-end':
        this.say({ type: 'live' })
        return
      case 'state': {
        const { state, needs_input: needs, cols, rows, title } = event.state
        this.say({ type: 'state', state, needs_input: needs, cols, rows, title })
        return
      }
      case 'exit':
        this.say({ type: 'exit', code: event.code })
        return
      case 'error':
        this.say({ type: 'error', code: event.code, message: event.message, hint: null })
        return
      case 'activity':
      case 'ack':
    }
  }

  #bytes(bytes: Buffer): void {
    if (!this.#isGone() && bytes.length > 0) this.#socket.send(bytes)
  }

  /**
   * A browser that does not keep up holds up this connection and nobody else: the session goes on without it, and
   * sends a gap and the screen as it is when there is room again.
   */
  async #room(): Promise<void> {
    while (!this.#isGone() && this.#socket.bufferedAmount > HUB_TERMINAL_QUEUE_BYTES)
      await pause(this.#options.clock, DRAIN_LOOK_MS)
  }

  #next(act: () => Promise<void>): void {
    this.#turn = this.#turn.then(act).catch((error: unknown) => {
      const known = error instanceof HeimdallError ? error : undefined
      this.say({
        type: 'error',
        code: known?.code ?? 'INTERNAL',
        message: known?.message ?? 'what was sent could not be done',
        hint: known?.hint ?? null,
      })
    })
  }

  async #received(data: RawData, isBinary: boolean): Promise<void> {
    const bytes = bytesOf(data)
    if (isBinary) await (await this.#keyboard()).input(bytes)
    else await this.#obey(parsed(bytes.toString('utf8')))
  }

  async #obey(message: TerminalFromBrowser): Promise<void> {
    switch (message.type) {
      case 'keyboard':
        if (message.take) await this.#take()
        else await this.#giveBack()
        // One that was given back may be counted by the session a little longer, so it is not asked.
        this.#options.watchers.tell(this.#options.sessionId)
        return
      case 'resize':
        await (await this.#keyboard()).resize({ cols: message.cols, rows: message.rows })
        this.#isFitted = true
        return
      case 'paste': {
        const keyboard = await this.#keyboard()
        const { modes } = await keyboard.info()
        await keyboard.input(encodePaste(message.text, modes).bytes)
      }
    }
  }

  async #take(): Promise<void> {
    if (!this.#options.mayType)
      throw new HeimdallError('HUB_READ_ONLY', 'this hub shows and changes nothing', {
        hint: 'start it without --read-only',
      })
    this.#typing ??= this.#connectToType()
    try {
      await this.#typing
    } catch (error) {
      this.#typing = undefined
      throw error
    }
  }

  async #giveBack(): Promise<void> {
    const typing = this.#typing
    this.#typing = undefined
    this.#isFitted = false
    // One that could not be opened has nothing to close, and whoever took it was told.
    await typing?.then(
      (connection) => connection.close(),
      () => undefined,
    )
  }

  async #keyboard(): Promise<SessionConnection> {
    if (this.#typing === undefined)
      throw new HeimdallError('SESSION_REFUSED', 'the keyboard was not taken, so nothing was typed', {
        hint: 'take the keyboard first',
      })
    return await this.#typing
  }
}

/** Between two looks whether a slow browser has room again. */
const DRAIN_LOOK_MS = 25

function bytesOf(data: RawData): Buffer {
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data)
}

function parsed(text: string): TerminalFromBrowser {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new HeimdallError('HUB_REQUEST_INVALID', 'the message is not valid JSON', { cause: error })
  }
  const result = terminalFromBrowser.safeParse(value)
  if (result.success) return result.data
  throw new HeimdallError('HUB_REQUEST_INVALID', 'invalid terminal message')
}
