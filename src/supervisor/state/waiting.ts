// What is known of a session's wait for a person, put together: signals, hooks, the screen, and who has typed since.
import type { Clock, Timer } from '../../clock.ts'
import { ANSWER_SETTLE_MS, READER_LOOKS_MS } from '../../limits.ts'
import type { NeedsInput, Report } from '../../wire/payloads.ts'
import { NeedsInputState } from './needs-input.ts'
import { readSignal } from './osc-signals.ts'
import type { ScreenQuestion } from '../screen/terminal-questions.ts'
import { TypingReader } from '../streams/typing.ts'

export interface WaitingParts {
  readonly clock: Clock
  /** What the screen asks now. */
  readonly look: () => Promise<ScreenQuestion | undefined>
  /** Whether the program reads its terminal now. */
  readonly isReading: () => boolean
  /** Something changed with nobody's call. */
  readonly onChange: () => void
}

/** Return, line feed, and what gives a line up: Ctrl-C, Ctrl-D, Ctrl-U. */
const ENDS_LINE = new Set([0x0d, 0x0a, 0x03, 0x04, 0x15])

export class Waiting {
  readonly #parts: WaitingParts
  readonly #state = new NeedsInputState()
  readonly #typing = new WeakMap<object, TypingReader>()
  #title = ''
  #sinceMs: number | undefined
  #settling: Timer | undefined
  #isEnding = false
  /** A line that somebody has begun to type and not sent: what it ends with is theirs. */
  #isTyping = false
  /** What may be a question, and how often it was looked whether anybody reads an answer. */
  #guess = { text: '', looks: 0 }
  #lookAgain: Timer | undefined

  constructor(parts: WaitingParts) {
    this.#parts = parts
  }

  get needsInput(): NeedsInput {
    const { current } = this.#state
    // Asked for at each change: another question on top of one that stands does not begin the wait anew.
    if (!current.value) this.#sinceMs = undefined
    else this.#sinceMs ??= this.#parts.clock.monoMs()
    return current
  }

  /** Since when a person is waited for. */
  get sinceMs(): number | undefined {
    return this.needsInput.value ? this.#sinceMs : undefined
  }

  get title(): string {
    return this.#title
  }

  /** An operating system command in the output. */
  signal(code: number, text: string): void {
    const signal = readSignal(code, text)
    if (this.#isEnding && signal?.is !== 'title') return
    switch (signal?.is) {
      case 'asking':
        this.#state.call('osc', signal.evidence)
        return
      case 'working':
        this.#state.deny('osc', signal.evidence)
        return
      case 'silent':
        this.#state.undeny()
        return
      case 'status':
        this.#state.status(signal.part, signal.state, signal.evidence)
        return
      case 'title':
        this.#title = signal.title
        if (!this.#isEnding) this.#state.title(signal.asks)
        return
      case undefined:
    }
  }

  report({ needs_input: needsInput, evidence, takes_back: takesBack }: Report): void {
    if (this.#isEnding) return
    if (needsInput) {
      this.#state.call('hook', evidence ?? null)
      return
    }
    if (takesBack === true) {
      this.#state.takeBack(evidence ?? null)
      return
    }
    this.#answered()
    this.#state.deny('hook', evidence ?? null)
  }

  /**
   * Input of a client: what its terminal sends by itself answers nothing. True when somebody typed; `who` is asked only
   * when that answers something.
   */
  input(client: object, bytes: Buffer, who: () => string | undefined = () => undefined): boolean {
    const isTyped = this.#readerOf(client).read(bytes)
    if (isTyped) {
      this.#isTyping = !ENDS_LINE.has(bytes.at(-1) ?? 0)
      if (!this.#isEnding) this.#answered(who)
    }
    return isTyped
  }

  see(question: ScreenQuestion | undefined): void {
    if (this.#isEnding) return
    const isUnproven = question?.isGuess === true && !this.#isProven(question)
    if (!isUnproven) this.#guess = { text: '', looks: 0 }
    this.#state.see(isUnproven ? undefined : question)
    this.#parts.onChange()
  }

  /** A program may write its question well before it reads: it is looked again for a while. */
  #isProven({ text }: ScreenQuestion): boolean {
    this.#lookAgain?.cancel()
    this.#lookAgain = undefined
    if (this.#isTyping) return false
    if (this.#parts.isReading()) return true
    if (this.#guess.text !== text) this.#guess = { text, looks: 0 }
    const waitMs = READER_LOOKS_MS[this.#guess.looks]
    this.#guess.looks += 1
    if (waitMs !== undefined)
      this.#lookAgain = this.#parts.clock.after(
        waitMs,
        () => void this.#parts.look().then((question) => this.see(question)),
        { background: true },
      )
    return false
  }

  /** What a program does on its way out, clearing its screen or saying that it is idle, answers nothing and asks nothing. */
  ending(): void {
    this.#isEnding = true
    this.#settling?.cancel()
    this.#settling = undefined
    this.#lookAgain?.cancel()
  }

  end(): void {
    this.ending()
    this.#state.end()
  }

  #readerOf(client: object): TypingReader {
    const known = this.#typing.get(client)
    if (known !== undefined) return known
    const reader = new TypingReader()
    this.#typing.set(client, reader)
    return reader
  }

  #answered(who: () => string | undefined = () => undefined): void {
    if (!this.#state.isAsking && this.#settling === undefined) return
    this.#state.answered(this.#settling === undefined ? who() : undefined)
    this.#settling?.cancel()
    this.#settling = this.#parts.clock.after(ANSWER_SETTLE_MS, () => void this.#settle(), { background: true })
  }

  async #settle(): Promise<void> {
    const timer = this.#settling
    const question = await this.#parts.look()
    // Somebody typed on, or the session ended, meanwhile.
    if (timer !== this.#settling) return
    this.#settling = undefined
    this.#state.settle()
    this.see(question)
  }
}
