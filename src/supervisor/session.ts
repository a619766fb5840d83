// A running session at its desk: what clients ask of the child, the streams and the state, which know nothing of each other.
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { encodeExit, encodeJson, encodeStatusResp } from '../wire/encode.ts'
import type { TerminalCover } from '../known-secrets/terminal-cover.ts'
import { SESSION_SECRETS_MAX } from '../limits.ts'
import { isReadingTerminal } from '../processes.ts'
import type { CalledAs, Info, Report, Size, SubscribeOptions, TerminalColors } from '../wire/payloads.ts'
import { isSize, type SessionOptions } from '../wire/session-options.ts'
import { Child, type ChildEnd } from './child.ts'
import type { ClientConnection, KnownCaller, SessionDesk } from './streams/client-connection.ts'
import type { KeptFile, ShownScreen } from './streams/kept-file.ts'
import type { OutputLog } from './streams/output-log.ts'
import type { Recording } from '../storage/recording.ts'
import type { Screen, ScreenParts } from './screen/screen.ts'
import type { SessionLog } from './session-log.ts'
import type { SessionName } from './session-name.ts'
import type { SessionAct } from '../wire/session-acts.ts'
import { countOf, SessionActs } from './state/acts.ts'
import { SessionState } from './state/session-state.ts'
import { SessionStreams } from './streams/streams.ts'
import type { Subscriber } from './streams/subscriber.ts'
import { withoutAnswers } from './streams/typing.ts'

export interface SessionParts {
  readonly options: SessionOptions
  readonly env: Readonly<Record<string, string>>
  readonly key: string
  readonly clock: Clock
  readonly log: SessionLog
  /** Made by the session, because it reads the session's output. */
  readonly screen: (output: OutputLog, on: Pick<ScreenParts, 'onQuestion' | 'onAnswer'>) => Screen
  readonly kept: (output: OutputLog, shown: () => ShownScreen) => KeptFile
  readonly recording: Recording | undefined
  /** Keeps secrets of the session's programs out of what is written down. */
  readonly cover: TerminalCover
  readonly clients: () => ReadonlySet<ClientConnection>
  readonly name: SessionName
  /** Which process a client is. */
  readonly known: (said: CalledAs) => KnownCaller | undefined
  /** Moves the socket. */
  readonly listenAt: (socketPath: string) => Promise<void>
  readonly onEnd: (end: ChildEnd) => void
}

export class Session implements SessionDesk {
  readonly #parts: SessionParts
  readonly #state: SessionState
  readonly #streams: SessionStreams
  readonly #child: Child
  readonly #startedWallMs: number
  readonly #acts: SessionActs
  #answerer: ClientConnection | undefined
  /** Clients whose refused input is recorded. */
  readonly #refused = new WeakSet<ClientConnection>()
  /** Who has started it: `actor` of its starter. */
  startedBy: string | undefined

  constructor(parts: SessionParts) {
    const { options, env, key, clock, log, recording, cover, clients, name } = parts
    this.#parts = parts
    this.#startedWallMs = clock.wallMs()
    this.#acts = new SessionActs(clock, log)
    this.#state = new SessionState({
      options,
      clock,
      clients,
      id: () => name.id,
      cover,
      look: () => this.#streams.screen.question(),
      isReading: () => isReadingTerminal(this.#child.pid),
    })
    this.#streams = new SessionStreams({
      options,
      clock,
      flow: { pause: () => this.#child.pause(), resume: () => this.#child.resume() },
      screen: (output) =>
        parts.screen(output, {
          onQuestion: (question) => this.#state.see(question),
          onAnswer: (text) => this.#child.answer(text),
        }),
      kept: (output) => parts.kept(output, () => this.#state.shown),
      recording,
      onSignal: (code, text) => this.#state.signal(code, text),
      onFlush: (bytes, nowMs) => this.#state.output(bytes, nowMs),
    })
    // Last: nothing may fail once there is a child that only this knows of.
    this.#child = new Child({
      options,
      env,
      key,
      clock,
      log,
      room: () => this.#streams.room(),
      onRead: (bytes) => this.#streams.read(bytes),
      onInputRoom: () => {
        for (const client of clients()) client.resume()
      },
      onEnd: (end) => this.#ended(end),
    })
  }

  get pid(): number {
    return this.#child.pid
  }

  /** Resolves when clients may type. */
  get ready(): Promise<void> {
    return this.#child.ready
  }

  get outputBytes(): number {
    return this.#streams.range.end
  }

  /** Who asked for the end. */
  get endedBy(): string | undefined {
    return this.#child.endedBy
  }

  get acts(): readonly SessionAct[] {
    return this.#acts.all
  }

  /** Everything that is to be delivered has been, also to those who have come and not yet said what they want. */
  get isDelivered(): boolean {
    const isTold = [...this.#parts.clients()].every((client) => client.socket.writableEnded)
    return this.#child.end !== undefined && this.#streams.isDelivered && isTold
  }

  get isInputFull(): boolean {
    return this.#child.isInputFull
  }

  terminate(by: string): void {
    this.#state.ending()
    this.#child.terminate(by)
  }

  sweep(): Promise<number> {
    return this.#child.sweep()
  }

  keepScreen(): Promise<void> {
    return this.#streams.keepScreen()
  }

  /** After the end: the terminal, the emulator and the timers go. */
  dispose(): void {
    this.#child.close()
    this.#streams.close()
    this.#state.close()
  }

  // -- what clients ask for

  input(client: ClientConnection, bytes: Buffer): void {
    if (client.caller?.isAgent === true && this.#state.isWaiting) {
      if (!this.#refused.has(client)) this.#refuse(client, 'input', 'waits for a human, and an agent may not answer')
      this.#refused.add(client)
      // Read from the socket and dropped.
      client.written(bytes.length)
      return
    }
    const said = client.answers && client !== this.#answerer ? withoutAnswers(bytes) : bytes
    // The size before the key: what is typed may ask for it. Nearly all keys come from where the last one came from, and wait for nothing.
    const isSized = this.#state.isSizeOf(client)
    if (!isSized) this.#applySize(this.#state.input(client, said))
    this.#child.type(client, said)
    if (said.length < bytes.length) client.written(bytes.length - said.length)
    if (isSized) this.#state.input(client, said)
  }

  subscribe(client: ClientConnection, options: SubscribeOptions): Subscriber {
    const subscriber = this.#streams.subscribe(options, {
      send: (parts) => client.send(parts),
      end: () => client.socket.end(),
    })
    this.#chooseWhoAnswers()
    if (options.events) client.send([encodeJson('state', this.#state.current)])
    const { end } = this.#child
    if (end !== undefined) subscriber.finish(end.code)
    this.#parts.log.write('debug', 'client', `subscribed from ${options.from}`)
    return subscriber
  }

  keep(client: ClientConnection): void {
    client.send([encodeJson('state', this.#state.current)])
    const { end } = this.#child
    if (end !== undefined) tellEnd(client, end)
  }

  drained(subscriber: Subscriber): void {
    this.#streams.drained(subscriber)
  }

  status(): Buffer {
    return encodeStatusResp({ pid: this.pid, alive: this.#child.end === undefined, ...this.#state.status })
  }

  async info(): Promise<Buffer> {
    const { modes, lastLine } = await this.#streams.screen.summary()
    const { options, name, clients, cover } = this.#parts
    const { end } = this.#child
    const { start: offsetStart, end: offsetEnd } = this.#streams.range
    const info: Info = {
      ...this.#state.current,
      id: name.id,
      pid: this.pid,
      supervisor_pid: process.pid,
      command: options.shownCommand ?? options.command,
      cwd: options.cwd,
      started_at: new Date(this.#startedWallMs).toISOString(),
      pinned: options.pinnedSize,
      alive: end === undefined,
      exit_code: end?.code ?? null,
      idle_ms: Math.floor(this.#state.status.idleMs),
      modes,
      offset_start: offsetStart,
      offset_end: offsetEnd,
      input_bytes_pending: this.#child.inputBytesPending,
      clients: clients().size,
      viewers: this.#viewers().length,
      last_line: cover.text(lastLine),
      needs_input_ms: this.#state.waitedMs,
      acts: this.#acts.all,
    }
    return encodeJson('infoResp', info)
  }

  resize(client: ClientConnection, size: Size): void {
    if (!isSize(size.cols, size.rows)) {
      client.sendError(new HeimdallError('SESSION_SIZE_INVALID', `${size.cols}x${size.rows} is not a terminal size`))
      return
    }
    this.#applySize(this.#state.askSize(client, size))
    this.#chooseWhoAnswers()
  }

  kill(client: ClientConnection): void {
    if (this.#isOfAnother(client)) return this.#refuse(client, 'kill', OTHERS)
    this.#acts.add('kill', whoIs(client))
    this.terminate(whoIs(client))
  }

  detach(client: ClientConnection): void {
    for (const viewer of this.#viewers())
      if (viewer !== client) viewer.sendAway(client.caller?.name ?? 'another client')
  }

  caller(said: CalledAs): KnownCaller | undefined {
    return this.#parts.known(said)
  }

  colors(colors: TerminalColors): void {
    this.#streams.screen.colors(colors)
  }

  async rename(client: ClientConnection, to: string): Promise<Buffer> {
    const { name, listenAt } = this.#parts
    if (this.#isOfAnother(client)) {
      this.#acts.add('rename refused', whoIs(client))
      throw new HeimdallError('PERSON_REQUIRED', `session ${name.id} ${OTHERS}`)
    }
    const checkAlive = (): void => {
      if (this.#child.end !== undefined) throw new HeimdallError('SESSION_ENDED', `session ${name.id} has ended`)
    }
    checkAlive()
    const before = name.id
    const by = whoIs(client)
    await name.change(to, { listenAt, checkAlive })
    this.#acts.add('rename', by, `${before} is now ${name.id}`)
    this.#state.announce()
    return await this.info()
  }

  /** An agent that is neither in this session nor has started it. */
  #isOfAnother({ caller }: ClientConnection): boolean {
    if (caller?.isAgent !== true || caller.isOwn) return false
    return caller.actor === undefined || caller.actor !== this.startedBy
  }

  #refuse(client: ClientConnection, act: 'input' | 'kill', why: string): void {
    this.#acts.add(`${act} refused`, whoIs(client))
    client.sendError(new HeimdallError('PERSON_REQUIRED', `session ${this.#parts.name.id} ${why}`))
  }

  report(report: Report): void {
    this.#state.report(report)
  }

  /** From its own programs alone: anybody else could have what it did taken out of its recording. */
  secrets(client: ClientConnection, values: readonly string[]): void {
    const { cover, name, recording } = this.#parts
    const by = whoIs(client)
    if (client.caller?.isOwn !== true) {
      this.#acts.addValues('secrets refused', by, values.length)
      client.sendError(
        new HeimdallError(
          'SESSION_REFUSED',
          `only programs of session ${name.id} may say what is to be covered in its recording, and ${by} is none`,
        ),
      )
      return
    }
    if (cover.size + values.length > SESSION_SECRETS_MAX)
      throw new HeimdallError('SESSION_REFUSED', `a session keeps at most ${SESSION_SECRETS_MAX} secrets to itself`)
    cover.add(values)
    this.#acts.addValues('secrets', by, values.length)
    const verb = values.length === 1 ? 'is' : 'are'
    recording?.mark(`${countOf(values.length)} ${verb} covered from here on: ${by}`)
  }

  gone(client: ClientConnection): void {
    if (client.subscriber !== undefined) this.#streams.leave(client.subscriber)
    this.#applySize(this.#state.leave(client))
    this.#chooseWhoAnswers()
  }

  // -- what follows

  #ended(end: ChildEnd): void {
    this.#streams.flush()
    this.#state.end()
    this.#child.refuseInput()
    this.#state.announce()
    try {
      this.#streams.save()
      this.#parts.onEnd(end)
    } finally {
      this.#streams.finish(end.code)
      for (const client of this.#parts.clients()) if (client.isKeeper) tellEnd(client, end)
    }
  }

  #viewers(): ClientConnection[] {
    return [...this.#parts.clients()].filter((client) => client.isViewer)
  }

  /** Of the terminals that are given the output as it is, the one that was there first answers; without any, the session does. */
  #chooseWhoAnswers(): void {
    this.#streams.flush()
    this.#answerer = [...this.#parts.clients()].find((client) => client.answers)
    this.#streams.screen.answering(this.#answerer === undefined)
  }

  #applySize(size: Size | undefined): void {
    if (size === undefined || this.#child.end !== undefined) return
    this.#child.resize(size)
    this.#streams.resize(size)
    this.#state.announce()
  }
}

const OTHERS = 'was not started by the agent that asks'

const whoIs = ({ caller }: ClientConnection): string => caller?.words ?? 'an unidentified client'

function tellEnd(keeper: ClientConnection, { code }: ChildEnd): void {
  keeper.send([encodeExit(code)])
  keeper.socket.end()
}
