// Calls of which a human is asked: the question is recorded, the call is held for a moment, and goes on when the answer is there.
import { type Clock, type Timer, within } from '../../clock.ts'
import { HeimdallError, isSystemError } from '../../errors.ts'
import { ASK_HELD_MAX, ASK_LOOK_IDLE_MS, ASK_LOOK_MS, ASK_OPEN_MAX, NOTICE_CLOSE_MS } from '../../limits.ts'
import type { QueuedEvent } from '../../events/event-lines.ts'
import type { EventText } from '../../events/event-text.ts'
import type { Redact } from '../../events/redact.ts'
import type { Decision } from '../../policy/types.ts'
import { type AskedCall, questionId } from '../../runs/approvals.ts'
import type { EventWriter } from '../../runs/event-writer.ts'
import { momentOf } from '../../runs/run-moment.ts'
import type { SoloQuestions } from '../../runs/solo-questions.ts'
import { callText } from './call-text.ts'
import type { CallWords } from './call-words.ts'
import type { JudgedCall, ResolvedCall } from './judged-call.ts'
import type { IdKey, MessageId } from '../messages/message-id.ts'
import type { SessionNotice } from './session-notice.ts'

/** A request that waits for a human, with its line as it came. */
export interface HeldCall {
  readonly id: MessageId
  readonly judged: JudgedCall
  readonly line: Buffer
}

/** Judges a held call again, and holds it no longer. */
export type Release = (held: HeldCall) => void

interface Held extends HeldCall {
  readonly timer: Timer
  readonly release: Release
}

export interface AskingOptions {
  readonly serverName: string
  readonly runId: string
  readonly events: EventWriter
  readonly text: EventText
  readonly words: CallWords
  /** Of a shim alone. */
  readonly soloQuestions: SoloQuestions | null
  /** Stores what a human reads of a call where the question has it cut. */
  readonly keepWhole: (id: string, text: string) => void
  readonly clock: Clock
  readonly redact: Redact
  /** For the arguments, which pass. */
  readonly previews: Redact
  readonly notice: SessionNotice
  readonly note: (line: string) => void
}

const EMPTY = Buffer.from('{}')

export class Asking {
  readonly #options: AskingOptions
  readonly #held: Held[] = []
  #look: Timer | null = null
  #isNoticed = false

  constructor(options: AskingOptions) {
    this.#options = options
  }

  /** The call as a human is shown it, who answers for what is seen. */
  callOf({ call, args }: Pick<ResolvedCall, 'call' | 'args'>): AskedCall {
    const { serverName, words } = this.#options
    const { hash, streamHash } = args
    // What has no canonical form goes by its bytes: an answer for one spelling must not pass for another.
    const byBytes = streamHash === undefined ? '' : `bytes:${streamHash}`
    return { serverName, toolName: words.shownTool(call.toolName), argsHash: hash === '' ? byBytes : hash }
  }

  /** Records the question of a call that was decided so, unless the same one is open; the record must be locked. */
  ask(resolved: ResolvedCall, { ask, rule_id: ruleId }: Decision): { readonly id: string } | { readonly why: string } {
    const { events, runId, redact, notice } = this.#options
    if (ask === undefined || ruleId === null) return { why: 'the rule does not ask' }
    if (events.isFailing) return { why: 'questions cannot be recorded at present' }
    const asked = this.callOf(resolved)
    const id = questionId(runId, { ruleId, ruleHash: ask.rule_hash }, asked)
    const question = redact(ask.question)
    const { open } = events.fold.approvals
    if (!open.some((one) => one.id === id)) {
      if (open.length >= ASK_OPEN_MAX) return { why: `${open.length} questions are open already` }
      const { rule_hash, wait_ms } = ask
      const put = { id, rule_id: ruleId, rule_hash, question, wait_ms, args_hash: asked.argsHash }
      if (!this.#published(resolved, put)) return { why: 'questions cannot be recorded at present' }
    }
    this.#isNoticed = true
    notice.needsInput('approvals', `${question} (heimdall approve ${id})`)
    this.#lookSoon()
    return { id }
  }

  #published(
    { callId, call, args }: ResolvedCall,
    put: Omit<Parameters<EventText['approvalRequested']>[1], 'args_preview'>,
  ): boolean {
    const { events, text, words, previews } = this.#options
    const bytes = call.argsBytes?.length === 0 ? EMPTY : call.argsBytes
    const { whole, short } = callText(bytes, previews, `heimdall approve --show ${put.id}`)
    const question = text.approvalRequested(words.namesOf(callId, call, args), { ...put, args_preview: short })
    events.fold.count(question)
    // When the record is not locked any more.
    if (whole !== short) queueMicrotask(() => this.#tried(() => this.#options.keepWhole(put.id, whole)))
    return this.#toldAlone(question)
  }

  /** A call asks again, or goes by an answer. */
  decided(decision: QueuedEvent): void {
    this.#toldAlone(decision)
  }

  /** What those who answer a shim alone must know. */
  #toldAlone(event: QueuedEvent): boolean {
    return this.#tried(() => this.#options.soloQuestions?.publish(event))
  }

  /** A question that cannot be stored is no reason to end the shim. */
  #tried(act: () => void): boolean {
    try {
      act()
      return true
    } catch (error) {
      if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      this.#options.note(`questions to a human cannot be recorded: ${error.message}`)
      return false
    }
  }

  /** Whether a call that was decided so can wait. */
  mayHold({ ask }: Decision): boolean {
    return (ask?.wait_ms ?? 0) > 0 && this.#held.length < ASK_HELD_MAX
  }

  /** Keeps the line until a human answers or the wait is over. */
  hold(judged: JudgedCall, id: MessageId, line: Buffer, release: Release): void {
    const timer = this.#options.clock.after(judged.decision.ask?.wait_ms ?? 0, () => this.#letGo(held))
    const held: Held = { id, judged, line: Buffer.from(line), timer, release }
    this.#held.push(held)
    this.#lookSoon()
  }

  /** The client has given the call up. */
  cancelled(key: IdKey): JudgedCall | undefined {
    const held = this.#held.find(({ id }) => id.key === key)
    if (held === undefined) return undefined
    this.#drop(held)
    this.#withdraw(held.judged)
    return held.judged
  }

  /** An approval of a call that was cancelled must not be there for its repetition. */
  #withdraw({ approvalId: id, decision: { rule_id: ruleId } }: JudgedCall): void {
    const { events, text } = this.#options
    // The same call, made twice, still waits once.
    if (id === undefined || ruleId === null || this.#held.some(({ judged }) => judged.approvalId === id)) return
    if (events.room('other', 1) === 'none') return
    const withdrawn = text.approvalWithdrawn({ id, rule_id: ruleId })
    events.fold.count(withdrawn)
    this.#toldAlone(withdrawn)
    events.added()
    this.#lookSoon()
  }

  /** The client has left, or the run is over: no call waits any more. */
  letAllGo(): void {
    for (const held of this.#held.slice()) this.#letGo(held)
  }

  /** Calls that are held are held no longer, and are not judged again. */
  takeAll(): readonly HeldCall[] {
    const all = this.#held.slice()
    for (const held of all) this.#drop(held)
    return all
  }

  /** Resolves when the session knows that no human is asked any more, or does not listen. */
  async close(): Promise<void> {
    const { clock, notice } = this.#options
    if (this.#look !== null) this.#read()
    this.#look?.cancel()
    for (const { timer } of this.#held) timer.cancel()
    if (this.#isNoticed) notice.settled('approvals')
    await within(clock, NOTICE_CLOSE_MS, notice.said())
  }

  #letGo(held: Held): void {
    this.#drop(held)
    held.release(held)
  }

  #drop(held: Held): void {
    held.timer.cancel()
    this.#held.splice(this.#held.indexOf(held), 1)
  }

  #lookSoon(): void {
    this.#look?.cancel()
    const ms = this.#held.length > 0 ? ASK_LOOK_MS : ASK_LOOK_IDLE_MS
    this.#look = this.#options.clock.after(ms, () => this.#lookNow(), { background: true })
  }

  #lookNow(): void {
    this.#look = null
    const { notice, events } = this.#options
    this.#read()
    for (const held of this.#held.filter((one) => this.#isAnswered(one))) this.#letGo(held)
    const isOpen = events.fold.approvals.open.length > 0
    if (!isOpen && this.#isNoticed) {
      this.#isNoticed = false
      notice.settled('approvals')
    }
    if (this.#held.length > 0 || isOpen) this.#lookSoon()
  }

  #read(): void {
    this.#options.events.refresh()
    this.readAlone()
  }

  /** What was answered to a shim alone. Answers of a run are in its record, which is read before a call is decided. */
  readAlone(): void {
    const { events, text, soloQuestions } = this.#options
    let news: ReturnType<SoloQuestions['news']> = []
    this.#tried(() => (news = soloQuestions?.news() ?? []))
    for (const event of news) {
      if (events.room('other', 1) === 'none') return
      events.fold.count(text.approvalDecided(event))
      events.added()
    }
  }

  #isAnswered({ judged }: HeldCall): boolean {
    const { events, clock } = this.#options
    const { rule_id, ask } = judged.decision
    const rule = { ruleId: rule_id ?? '', ruleHash: ask?.rule_hash ?? '' }
    return events.fold.approvals.find([rule], this.callOf(judged), momentOf(clock)).byRule.has(rule.ruleId)
  }
}
