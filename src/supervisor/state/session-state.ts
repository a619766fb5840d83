// What is known of a session at a moment: how busy it is, whether it waits for somebody, its size and title; and who is told.
import type { Clock } from '../../clock.ts'
import { STATES } from '../../wire/frames.ts'
import type { Report, Size, StateEvent, Status } from '../../wire/messages.ts'
import type { SessionOptions } from '../../wire/session-options.ts'
import { Activity } from './activity.ts'
import { Announcer } from './announcer.ts'
import { type Classifier, createClassifier } from './classifier.ts'
import type { Connection } from '../streams/connection.ts'
import type { Question } from '../screen/terminal-questions.ts'
import { SizePolicy } from '../screen/size.ts'
import { Waiting } from './waiting.ts'

export interface SessionStateParts {
  readonly options: SessionOptions
  readonly clock: Clock
  readonly clients: () => ReadonlySet<Connection>
  /** A session may be renamed. */
  readonly id: () => string
  /** What the screen asks now. */
  readonly look: () => Promise<Question | undefined>
}

export class SessionState {
  readonly #parts: SessionStateParts
  readonly #clock: Clock
  readonly #size: SizePolicy<Connection>
  readonly #classifier: Classifier
  readonly #waiting: Waiting
  readonly #announcer: Announcer
  readonly #activity: Activity
  #lastOutputMs: number

  constructor(parts: SessionStateParts) {
    const { options, clock, clients, look } = parts
    this.#parts = parts
    this.#clock = clock
    this.#lastOutputMs = clock.monoMs()
    this.#size = new SizePolicy({ cols: options.cols, rows: options.rows }, options.pinnedSize)
    this.#classifier = createClassifier(options.classifier, this.#lastOutputMs)
    this.#announcer = new Announcer({ clock, classifier: this.#classifier, clients, state: () => this.current })
    this.#activity = new Activity(clock, clients)
    this.#waiting = new Waiting({ clock, look, onChange: () => this.announce() })
  }

  get current(): StateEvent {
    const nowMs = this.#clock.monoMs()
    const { name, sinceMs } = this.#classifier.state(nowMs)
    return {
      state: name,
      state_ms: Math.floor(nowMs - sinceMs),
      needs_input: this.#waiting.needsInput,
      ...this.shown,
      id: this.#parts.id(),
    }
  }

  /** The same in the seed's words, but for whom it is about. */
  get status(): Pick<Status, 'idleMs' | 'state' | 'stateMs'> {
    const nowMs = this.#clock.monoMs()
    const { name, sinceMs } = this.#classifier.state(nowMs)
    return { idleMs: nowMs - this.#lastOutputMs, state: STATES[name], stateMs: nowMs - sinceMs }
  }

  get shown(): Size & { readonly title: string } {
    return { ...this.#size.current, title: this.#waiting.title }
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

  input(client: Connection, bytes: Buffer): void {
    this.#waiting.input(client, bytes)
    this.#activity.happened()
    this.announce()
  }

  signal(code: number, text: string): void {
    this.#waiting.signal(code, text)
  }

  see(question: Question | undefined): void {
    this.#waiting.see(question)
  }

  report(report: Report): void {
    this.#waiting.report(report)
    this.announce()
  }

  /** The size that the session has from now on, when it is another one. */
  askSize(client: Connection, size: Size): Size | undefined {
    return this.#size.ask(client, size)
  }

  leave(client: Connection): Size | undefined {
    return this.#size.leave(client)
  }

  end(): void {
    this.#classifier.end(this.#clock.monoMs())
    this.#waiting.end()
  }

  close(): void {
    this.#announcer.close()
  }
}
