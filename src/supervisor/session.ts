// A running session: the terminal, its output log, its clients and what is known of the child, wired together.
import type { Clock, Timer } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { BACKLOG_BYTES, OUTPUT_FRAME_BYTES_MAX } from '../limits.ts'
import { encodeExit, encodeJson, encodeStatusResp } from '../wire/encode.ts'
import { STATES } from '../wire/frames.ts'
import type { Colors, Info, Report, Size, StateEvent, SubscribeOptions } from '../wire/messages.ts'
import { Activity } from './activity.ts'
import { Announcer } from './announcer.ts'
import { type Classifier, createClassifier } from './classifier.ts'
import type { Connection } from './connection.ts'
import { Ending } from '../process-ending.ts'
import type { SessionEnd } from './session-end.ts'
import { FanOut } from './fan-out.ts'
import { InputQueue } from './input-queue.ts'
import type { KeptFile, Shown } from './kept-file.ts'
import { isSize, type SessionOptions } from '../wire/session-options.ts'
import { OscScanner } from './osc.ts'
import { OutputLog, READ_BYTES } from './output-log.ts'
import { openPty, type Pty } from './pty.ts'
import type { Question } from './questions.ts'
import type { Recording } from './recording.ts'
import type { Screen, ScreenParts } from './screen.ts'
import type { Desk } from './server.ts'
import type { SessionLog } from './session-log.ts'
import type { SessionName } from './session-name.ts'
import { SizePolicy } from './size.ts'
import { Subscriber } from './subscriber.ts'
import { sessionTree } from '../session-tree.ts'
import { withoutAnswers } from './typing.ts'
import { Waiting } from './waiting.ts'

export interface SessionParts {
  readonly options: SessionOptions
  readonly env: Readonly<Record<string, string>>
  readonly key: string
  readonly clock: Clock
  readonly log: SessionLog
  /** Made by the session, because it reads the session's output. */
  readonly screen: (output: OutputLog, on: Pick<ScreenParts, 'onQuestion' | 'onAnswer'>) => Screen
  readonly kept: (output: OutputLog, shown: () => Shown) => KeptFile
  readonly recording: Recording | undefined
  readonly clients: () => ReadonlySet<Connection>
  readonly name: SessionName
  /** Moves the socket. */
  readonly listenAt: (socketPath: string) => Promise<void>
  readonly onEnd: (end: SessionEnd) => void
}

/** A read shorter than this is an echo or a keystroke's worth: it goes out at once. */
const SMALL_READ_BYTES = 1 << 10
const GATHER_MS = 1

export class Session implements Desk {
  readonly #parts: SessionParts
  readonly #options: SessionOptions
  readonly #clock: Clock
  readonly #output: OutputLog
  readonly #fanOut: FanOut
  readonly #input: InputQueue
  readonly #size: SizePolicy<Connection>
  readonly #classifier: Classifier
  readonly #announcer: Announcer
  readonly #activity: Activity
  readonly #waiting: Waiting
  readonly #osc: OscScanner
  readonly #screen: Screen
  readonly #kept: KeptFile
  readonly #pty: Pty
  readonly ending: Ending
  readonly #watching: Timer
  readonly #startedMs: number
  readonly #startedWallMs: number
  #lastOutputMs: number
  #flushedTo = 0
  #flushedMs = Number.NEGATIVE_INFINITY
  #gathering: Timer | undefined
  #answerer: Connection | undefined
  #end: SessionEnd | undefined

  constructor(parts: SessionParts) {
    const { options, clock } = parts
    this.#parts = parts
    this.#options = options
    this.#clock = clock
    this.#startedMs = clock.monoMs()
    this.#startedWallMs = clock.wallMs()
    this.#lastOutputMs = this.#startedMs
    this.#classifier = createClassifier(options.classifier, this.#startedMs)
    const { clients } = parts
    this.#announcer = new Announcer({ clock, classifier: this.#classifier, clients, state: () => this.#state() })
    this.#activity = new Activity(clock, clients)
    // Room beyond the backlog for what is read between two looks at who is behind.
    const keepBytes = Math.max(options.scrollbackBytes, BACKLOG_BYTES) + (1 << 20)
    this.#output = new OutputLog(keepBytes, () => this.#fanOut.inFlightFrom)
    this.#size = new SizePolicy({ cols: options.cols, rows: options.rows }, options.pinnedSize)
    this.#osc = new OscScanner((code, text) => this.#waiting.signal(code, text))
    const flow = { pause: () => this.#pty.pause(), resume: () => this.#pty.resume() }
    this.#fanOut = new FanOut(flow, clock, { stallMs: options.stallMs, backlogBytes: BACKLOG_BYTES })
    this.#input = new InputQueue(
      (bytes) => this.#pty.write(bytes),
      clock,
      () => {
        for (const client of parts.clients()) client.resume()
      },
    )
    this.#screen = parts.screen(this.#output, {
      onQuestion: (question) => this.#waiting.see(question),
      onAnswer: (text) => this.#input.answer(text),
    })
    const look = (): Promise<Question | undefined> => this.#screen.question()
    this.#waiting = new Waiting({ clock, look, onChange: () => this.#announcer.announce() })
    this.#kept = parts.kept(this.#output, () => ({ ...this.#size.current, title: this.#waiting.title }))
    // Last: nothing may fail once there is a child that only this knows of.
    this.#pty = openPty(
      { command: options.command, cwd: options.cwd, env: parts.env, cols: options.cols, rows: options.rows },
      {
        room: () => this.#output.room(),
        read: (bytes) => this.#read(bytes),
        ended: (code, signal) => this.#ended(code, signal),
      },
    )
    const tree = sessionTree({ child: this.#pty.child, key: parts.key, terminal: this.#pty.terminal })
    this.#watching = tree.watch(clock, (problem) => parts.log.write('error', 'session', problem))
    const { killProcessGroup: wholeTree, graceMs } = options
    this.ending = new Ending({ tree, child: this.pid, wholeTree, graceMs, clock })
  }

  get pid(): number {
    return this.#pty.child.pid
  }

  get outputBytes(): number {
    return this.#output.end
  }

  /** Everything that is to be delivered has been. */
  get isDelivered(): boolean {
    return this.#end !== undefined && this.#fanOut.isDelivered
  }

  get isInputFull(): boolean {
    return this.#input.isFull
  }

  /** SIGTERM first; the rest follows by itself until the child is gone. */
  terminate(by: string): void {
    if (this.#end !== undefined) return
    this.ending.begin(by, (error) =>
      this.#parts.log.write('error', 'session', `cannot end the child: ${String(error)}`),
    )
  }

  /** After the end, for those who ask when nobody answers any more. */
  async keepScreen(): Promise<void> {
    if (this.#kept.isFromStart && this.#screen.isUntouched) return
    const screen = await this.#screen.snapshot()
    if (screen !== undefined) this.#kept.save({ ...screen, drawing: screen.bytes })
  }

  /** After the end: the terminal, the emulator and the timers go. */
  dispose(): void {
    this.#pty.close()
    this.#screen.close()
    this.#kept.close()
    this.#gathering?.cancel()
    this.#announcer.close()
    this.#watching.cancel()
  }

  // -- what clients ask for

  input(client: Connection, bytes: Buffer): void {
    const said = client.answers && client !== this.#answerer ? withoutAnswers(bytes) : bytes
    this.#input.push(client, said)
    if (said.length < bytes.length) client.written(bytes.length - said.length)
    this.#waiting.input(client, said)
    this.#activity.happened()
    this.#announcer.announce()
  }

  subscribe(client: Connection, options: SubscribeOptions): Subscriber {
    const subscriber = new Subscriber(
      this.#output,
      options,
      {
        send: (parts) => client.send(parts),
        end: () => client.socket.end(),
        snapshot: () => this.#screen.snapshot(),
      },
      this.#options.scrollbackBytes,
    )
    this.#flush()
    this.#fanOut.add(subscriber)
    this.#chooseWhoAnswers()
    if (options.events) client.send([encodeJson('state', this.#state())])
    if (this.#end !== undefined) subscriber.finish(this.#end.code)
    this.#parts.log.write('debug', 'client', `subscribed from ${options.from}`)
    return subscriber
  }

  keep(client: Connection): void {
    client.send([encodeJson('state', this.#state())])
    if (this.#end !== undefined) this.#tellEnd(client, this.#end)
  }

  drained(subscriber: Subscriber): void {
    this.#fanOut.drained(subscriber)
  }

  status(): Buffer {
    const nowMs = this.#clock.monoMs()
    const { name, sinceMs } = this.#classifier.state(nowMs)
    return encodeStatusResp({
      pid: this.pid,
      idleMs: nowMs - this.#lastOutputMs,
      alive: this.#end === undefined,
      state: STATES[name],
      stateMs: nowMs - sinceMs,
    })
  }

  async info(): Promise<Buffer> {
    const modes = await this.#screen.modes()
    const info: Info = {
      ...this.#state(),
      id: this.#parts.name.id,
      pid: this.pid,
      supervisor_pid: process.pid,
      command: this.#options.command,
      cwd: this.#options.cwd,
      started_at: new Date(this.#startedWallMs).toISOString(),
      pinned: this.#options.pinnedSize,
      alive: this.#end === undefined,
      exit_code: this.#end?.code ?? null,
      idle_ms: Math.floor(this.#clock.monoMs() - this.#lastOutputMs),
      modes,
      offset_start: this.#output.start,
      offset_end: this.#output.end,
      input_bytes_pending: this.#input.pendingBytes,
      clients: this.#parts.clients().size,
      viewers: this.#viewers().length,
    }
    return encodeJson('infoResp', info)
  }

  resize(client: Connection, size: Size): void {
    if (!isSize(size.cols, size.rows)) {
      client.sendError(new HeimdallError('SESSION_SIZE_INVALID', `${size.cols}x${size.rows} is not a terminal size`))
      return
    }
    this.#applySize(this.#size.ask(client, size))
    this.#chooseWhoAnswers()
  }

  kill(): void {
    this.#parts.log.write('info', 'session', 'kill asked for by a client')
    this.terminate('a client of the socket')
  }

  detach(client: Connection): void {
    for (const viewer of this.#viewers()) if (viewer !== client) viewer.sendAway()
  }

  colors(colors: Colors): void {
    this.#screen.colors(colors)
  }

  async rename(to: string): Promise<Buffer> {
    const { log, name, listenAt } = this.#parts
    const checkAlive = (): void => {
      if (this.#end !== undefined) throw new HeimdallError('SESSION_ENDED', `session ${name.id} has ended`)
    }
    checkAlive()
    const before = name.id
    await name.change(to, { listenAt, checkAlive })
    log.write('info', 'session', `renamed from ${before} to ${name.id}`)
    this.#announcer.announce()
    return await this.info()
  }

  report(report: Report): void {
    this.#waiting.report(report)
    this.#announcer.announce()
  }

  gone(client: Connection): void {
    if (client.subscriber !== undefined) this.#fanOut.remove(client.subscriber)
    this.#applySize(this.#size.leave(client))
    this.#chooseWhoAnswers()
  }

  // -- what the terminal brings

  #read(bytes: number): void {
    if (this.#end !== undefined) return
    this.#output.commit(bytes)
    const gathered = this.#output.end - this.#flushedTo
    // Small output at once, so that an echo is not late. A kernel that hands out a page at a time would make a flood
    // of small writes: there, what a millisecond brings goes out together.
    if (
      bytes < SMALL_READ_BYTES ||
      // Before it is more than a frame: the rest would be a small one.
      gathered > OUTPUT_FRAME_BYTES_MAX - READ_BYTES ||
      this.#clock.monoMs() - this.#flushedMs >= GATHER_MS
    )
      this.#flush()
    else
      this.#gathering ??= this.#clock.after(GATHER_MS, () => {
        this.#gathering = undefined
        this.#flush()
      })
  }

  #flush(): void {
    const from = this.#flushedTo
    if (from === this.#output.end) return
    this.#flushedTo = this.#output.end
    this.#fanOut.flush()
    const nowMs = this.#clock.monoMs()
    this.#flushedMs = nowMs
    this.#lastOutputMs = nowMs
    this.#classifier.record(this.#flushedTo - from, nowMs)
    for (const slice of this.#output.slices(from, this.#flushedTo)) {
      this.#osc.scan(slice)
      this.#parts.recording?.output(slice)
    }
    this.#screen.advance()
    this.#kept.advance()
    this.#activity.happened()
    this.#announcer.announce()
  }

  #ended(code: number, signal: number): void {
    this.#flush()
    const nowMs = this.#clock.monoMs()
    const end: SessionEnd = {
      code: signal > 0 ? 128 + signal : code,
      signal: signal > 0 ? signal : null,
      reason: this.ending.by === undefined ? 'exit' : 'kill',
    }
    this.#end = end
    this.ending.childEnded()
    this.#watching.cancel()
    this.#classifier.end(nowMs)
    this.#waiting.end()
    this.#input.close()
    this.#announcer.announce()
    try {
      this.#kept.save()
      this.#parts.onEnd(end)
    } finally {
      this.#fanOut.finish(end.code)
      for (const client of this.#parts.clients()) if (client.isKeeper) this.#tellEnd(client, end)
    }
  }

  #tellEnd(keeper: Connection, { code }: SessionEnd): void {
    keeper.send([encodeExit(code)])
    keeper.socket.end()
  }

  // -- what follows

  #viewers(): Connection[] {
    return [...this.#parts.clients()].filter((client) => client.isViewer)
  }

  /** Of the terminals that are given the output as it is, the one that was there first answers; without any, the session does. */
  #chooseWhoAnswers(): void {
    this.#flush()
    this.#answerer = [...this.#parts.clients()].find((client) => client.answers)
    this.#screen.answering(this.#answerer === undefined)
  }

  #applySize(size: Size | undefined): void {
    if (size === undefined || this.#end !== undefined) return
    this.#pty.resize(size.cols, size.rows)
    this.#screen.resize(size)
    this.#parts.recording?.resize(size)
    this.#announcer.announce()
  }

  #state(): StateEvent {
    const nowMs = this.#clock.monoMs()
    const { name, sinceMs } = this.#classifier.state(nowMs)
    return {
      state: name,
      state_ms: Math.floor(nowMs - sinceMs),
      needs_input: this.#waiting.needsInput,
      ...this.#size.current,
      title: this.#waiting.title,
      id: this.#parts.name.id,
    }
  }
}
