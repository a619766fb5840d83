// Whether a person is waited for, who says so, and on what evidence. Pure.
import { PROGRAM_PARTS_MAX } from '../../limits.ts'
import type { NeedsInput } from '../../wire/payloads.ts'
import type { ScreenQuestion } from '../screen/terminal-questions.ts'

const UNKNOWN: NeedsInput = { value: false, source: 'none', evidence: null }
/** Until it is seen what the program makes of it. */
const TYPED: NeedsInput = { value: false, source: 'none', evidence: 'somebody typed' }

/**
 * A call (a hook, a notification) is made once; a status, a title and the screen stand until the program changes them.
 * The latest call counts before what stands, and a program that says itself when it waits before its screen.
 *
 * Who types, or a hook that says so, answers all of it. What then still stands when the program has had time to react
 * was not answered: `settle` raises it again.
 */
export class NeedsInputState {
  /** The latest word that nobody is waited for. */
  #denied: NeedsInput = UNKNOWN
  #called: NeedsInput | undefined
  /** There was a question on the screen since the call: when it goes, the call is over too. */
  #isCallOnScreen = false
  /** Parts of the program that say that they wait; the program itself is the part without a name. */
  readonly #blocked = new Map<string, string>()
  #saysItWorks = false
  #title: string | undefined
  #seen: ScreenQuestion | undefined
  #isAnswered = false
  /** What the screen asked when it was answered; it may stay there as text. */
  #answeredText: string | undefined
  /** Who typed the answer, until the next question. */
  #answeredBy: string | undefined
  #current: NeedsInput = UNKNOWN

  /** The same object for as long as nothing changes. */
  get current(): NeedsInput {
    const now = this.#work()
    if (now.value) this.#answeredBy = undefined
    const next = this.#answeredBy === undefined ? now : { ...now, by: this.#answeredBy }
    const { value, source, evidence, by } = this.#current
    if (next.value !== value || next.source !== source || next.evidence !== evidence || next.by !== by)
      this.#current = next
    return this.#current
  }

  /** Something stands that asks, whether or not it counts as answered. */
  get isAsking(): boolean {
    return this.#called !== undefined || this.#standing() !== undefined
  }

  call(source: 'hook' | 'osc', evidence: string | null): void {
    this.#called = { value: true, source, evidence }
    this.#isCallOnScreen = this.#seen !== undefined
  }

  /** Whoever called says that this is answered, and nothing of what the program does. */
  takeBack(evidence: string | null): void {
    if (this.#called?.evidence === evidence) this.#called = undefined
  }

  /** Nobody is waited for, says a hook or a display of work. The screen may know better. */
  deny(source: 'hook' | 'osc', evidence: string | null): void {
    this.#called = undefined
    this.#denied = { value: false, source, evidence }
  }

  /** Such a word no longer holds. */
  undeny(): void {
    this.#denied = UNKNOWN
  }

  /** What a program says of itself, or of a part of it. */
  status(part: string, state: 'blocked' | 'working' | 'other', evidence: string): void {
    this.#blocked.delete(part)
    if (state === 'blocked') this.#blocked.set(part, evidence)
    const [oldest] = this.#blocked.keys()
    if (this.#blocked.size > PROGRAM_PARTS_MAX && oldest !== undefined) this.#blocked.delete(oldest)
    if (part === '') {
      this.#saysItWorks = state === 'working'
      this.#called = undefined
      this.#denied = state === 'working' ? { value: false, source: 'osc', evidence } : UNKNOWN
    }
    this.#isAnswered = false
  }

  /** The evidence in a title that asks; nothing for any other title. */
  title(evidence: string | undefined): void {
    if (evidence !== undefined && this.#title === undefined) this.#isAnswered = false
    this.#title = evidence
  }

  see(question: ScreenQuestion | undefined): void {
    this.#seen = question
    if (question !== undefined) {
      this.#isCallOnScreen = true
      return
    }
    this.#answeredText = undefined
    if (!this.#isCallOnScreen) return
    this.#called = undefined
    this.#isCallOnScreen = false
  }

  answered(by?: string): void {
    this.#answeredBy = by ?? this.#answeredBy
    this.#called = undefined
    this.#isAnswered = true
    this.#answeredText = this.#seen?.text ?? this.#answeredText
  }

  /** Time to react is over: what stands now, asks. */
  settle(): void {
    this.#isAnswered = false
  }

  end(): void {
    this.#denied = UNKNOWN
    this.#called = undefined
    this.#blocked.clear()
    this.#saysItWorks = false
    this.#title = undefined
    this.#seen = undefined
  }

  #work(): NeedsInput {
    if (this.#called !== undefined) return this.#called
    if (!this.#isAnswered) return this.#standing() ?? this.#denied
    return this.#denied === UNKNOWN ? TYPED : this.#denied
  }

  #standing(): NeedsInput | undefined {
    const blocked = this.#blocked.size === 0 ? undefined : [...this.#blocked.values()].at(-1)
    if (blocked !== undefined) return { value: true, source: 'osc', evidence: blocked }
    if (this.#saysItWorks) return undefined
    if (this.#title !== undefined) return { value: true, source: 'osc', evidence: this.#title }
    if (this.#seen === undefined || this.#isOnlyText(this.#seen)) return undefined
    return { value: true, source: 'screen', evidence: this.#seen.text }
  }

  /** Answered, with the answer behind it, and left where it was. */
  #isOnlyText({ text, isOpen }: ScreenQuestion): boolean {
    return !isOpen && this.#answeredText !== undefined && text.startsWith(this.#answeredText)
  }
}
