// What is known of a session at a moment: how busy it is, whether it waits for somebody, its size and title; and who is told.
import type { Clock } from '../../clock.ts'
import type { TerminalCover } from '../../known-secrets/terminal-cover.ts'
import { STATES } from '../../wire/frames.ts'
import type { NeedsInput, Report, Size, StateEvent, Status } from '../../wire/payloads.ts'
import type { SessionOptions } from '../../wire/session-options.ts'
import { Activity } from './activity.ts'
import { Announcer } from './announcer.ts'
import { type Classifier, createClassifier } from './classifier.ts'
import type { ClientConnection } from '../streams/client-connection.ts'
import type { ScreenQuestion } from '../screen/terminal-questions.ts'
import { SizePolicy } from '../screen/size.ts'
import { Waiting } from './waiting.ts'

export interface SessionStateParts {
  readonly options: SessionOptions
  readonly clock: Clock
  readonly clients: () => ReadonlySet<ClientConnection>
  /** A session may be renamed. */
  readonly id: () => string
  /** What is told is also written down, by whoever looks after the session. */
  readonly cover: TerminalCover
  /** What the screen asks now. */
  readonly look: () => Promise<ScreenQuestion | undefined>
  /** Whether the program reads its terminal now. */
  readonly isReading: () => boolean
}

export class SessionState {
  readonly #parts: SessionStateParts
  readonly #clock: Clock
  readonly #size: SizePolicy<ClientConnection>
  readonly #classifier: Classifier
  readonly #waiting: Waiting
  readonly #announcer: Announcer
  readonly #activity: Activity
  #lastOutputMs: number

  constructor(parts: SessionStateParts) {
    const { options, clock, clients, look, isReading } = parts
    this.#parts = parts
    this.#clock = clock
    this.#lastOutputMs = clock.monoMs()
    this.#size = new SizePolicy({ cols: options.cols, rows: options.rows }, options.pinnedSize)
    this.#classifier = createClassifier(options.classifier, this.#lastOutputMs)
    this.#announcer = new Announcer({ clock, classifier: this.#classifier, clients, state: () => this.current })
    this.#activity = new Activity(clock, clients)
    this.#waiting = new Waiting({ clock, look, isReading, onChange: () => this.announce() })
  }

  get current(): StateEvent {
    const nowMs = this.#clock.monoMs()
    const { name, sinceMs } = this.#classifier.state(nowMs)
    const { cols, rows } = this.#size.current
    // Field by field: this is made for every key and its echo, and a spread costs more than all the rest of it.
    return {
      state: name,
      state_ms: Math.floor(nowMs - sinceMs),
      needs_input: this.#needsInput(),
      cols,
      rows,
      title: this.#parts.cover.text(this.#waiting.title),
      id: this.#parts.id(),
    }
  }

  /** For a human. */
  get isWaiting(): boolean {
    return this.#waiting.needsInput.value
  }

  /** The same in the seed's words, but for whom it is about. */
  get status(): Pick<Status, 'idleMs' | 'state' | 'stateMs'> {
    const nowMs = this.#clock.monoMs()
    const { name, sinceMs } = this.#classifier.state(nowMs)
    return { idleMs: nowMs - this.#lastOutputMs, state: STATES[name], stateMs: nowMs - sinceMs }
  }

  /** How long a person has been waited for; null while nobody is. */
  get waitedMs(): number | null {
    const sinceMs = this.#waiting.sinceMs
    return sinceMs === undefined ? null : Math.floor(this.#clock.monoMs() - sinceMs)
  }

  get shown(): Size & { readonly title: string } {
    return { ...this.#size.current, title: this.#parts.cover.text(this.#waiting.title) }
  }

  #needsInput(): NeedsInput {
    const { needsInput } = this.#waiting
    const { cover } = this.#parts
    if (needsInput.evidence === null || cover.size === 0) return needsInput
    return { ...needsInput, evidence: cover.text(needsInput.evidence) }
  }

  /** Tells whoever wants to know what has changed. */
  announce(): void {
    this.#announcer.announce()
  }

  output(bytes: number, nowMs: number): void {
    this.#lastOutputMs = nowMs
    this.#classifier.record(bytes, nowMs)
    this.#activity.happened()
    this.announce()
  }

  /** Whoever types there sees what comes of it, as the size is now. */
  isSizeOf(client: ClientConnection): boolean {
    return this.#size.isOf(client)
  }

  /** Returns the size that the session has from now on, when it is another one. */
  input(client: ClientConnection, bytes: Buffer): Size | undefined {
    const size = this.#waiting.input(client, bytes, () => client.caller?.name ?? 'unidentified')
      ? this.#size.use(client)
      : undefined
    this.#activity.happened()
    this.announce()
    return size
  }

  signal(code: number, text: string): void {
    this.#waiting.signal(code, text)
  }

  see(question: ScreenQuestion | undefined): void {
    this.#waiting.see(question)
  }

  report(report: Report): void {
    this.#waiting.report(report)
    this.announce()
  }

  /** The size that the session has from now on, when it is another one. */
  askSize(client: ClientConnection, size: Size): Size | undefined {
    return this.#size.ask(client, size)
  }

  leave(client: ClientConnection): Size | undefined {
    return this.#size.leave(client)
  }

  /** Somebody has asked for its end. */
  ending(): void {
    this.#waiting.ending()
  }

  end(): void {
    this.#classifier.end(this.#clock.monoMs())
    this.#waiting.end()
  }

  close(): void {
    this.#announcer.close()
  }
}
