// Calls of which a person is asked: the question is put, the call is held for a moment, and goes on when the answer is there.
import { bootId } from '../../boot-id.ts'
import { type Clock, type Timer, within } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { ASK_HELD_MAX, ASK_LOOK_IDLE_MS, ASK_LOOK_MS, NOTICE_CLOSE_MS } from '../../limits.ts'
import type { CallNames, EventText } from '../../events/event-text.ts'
import type { Redact } from '../../events/redact.ts'
import { isAnswered } from '../../policy/decide/decisions.ts'
import type { Plan } from '../../policy/decide/plan.ts'
import type { Decision } from '../../policy/types.ts'
import {
  type Approvals,
  type AskedCall,
  type BootMoment,
  type FoundAnswers,
  questionId,
  type Request,
} from '../../runs/approvals.ts'
import type { CallArguments } from './call-arguments.ts'
import { callText } from './call-text.ts'
import type { JudgedCall, ToolCall } from './judged-call.ts'
import type { IdKey, MessageId } from '../messages/message-id.ts'
import type { SessionNotice } from './session-notice.ts'

/** A request that waits for a person, with its line as it came. */
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
  readonly agentId: string
  /** Opened with the first question. */
  readonly approvals: () => Approvals
  /** Stores what a human reads of a call where the question has it cut. */
  readonly keepWhole: (id: string, text: string) => void
  readonly clock: Clock
  readonly redact: Redact
  /** For the arguments, which pass. */
  readonly previews: Redact
  readonly notice: SessionNotice
  readonly namesOf: (judged: JudgedCall) => CallNames
  readonly say: (put: (text: EventText) => void) => void
  readonly note: (line: string) => void
}

const EMPTY = Buffer.from('{}')
const NOBODY_SAID: FoundAnswers = { byRule: new Map(), onceIds: new Map() }

export class Asking {
  readonly #options: AskingOptions
  readonly #held: Held[] = []
  #look: Timer | null = null
  #isNoticed = false

  constructor(options: AskingOptions) {
    this.#options = options
  }

  get #now(): BootMoment {
    return { bootId: bootId(), monoMs: this.#options.clock.monoMs() }
  }

  /** What persons have said of a call that a plan asks about. */
  said({ asks }: Plan, call: ToolCall, args: CallArguments): FoundAnswers {
    if (asks.length === 0) return NOBODY_SAID
    return this.#options.approvals().find(asks, this.#callOf(call, args), this.#now)
  }

  /** Uses up an answer that was for once, where the decision goes by it; false when another shim was quicker. */
  use(found: FoundAnswers, decision: Decision): boolean {
    const { rule_id: ruleId } = decision
    const id = ruleId === null || !isAnswered(decision) ? undefined : found.onceIds.get(ruleId)
    return id === undefined || this.#options.approvals().take(id)
  }

  /** Puts the question of a call that was judged so. Returns why nobody was asked, or null. */
  ask(judged: JudgedCall): string | null {
    const { redact, previews, clock, runId, agentId, say, notice, namesOf } = this.#options
    const { ask, rule_id: ruleId } = judged.decision
    if (ask === undefined || ruleId === null) return 'the rule does not ask'
    const question = redact(ask.question)
    const call = this.#callOf(judged.call, judged.args)
    const rule = { ruleId, ruleHash: ask.rule_hash }
    const questioned = questionId(runId, rule, call)
    const { argsBytes } = judged.call
    const shown = callText(
      argsBytes?.length === 0 ? EMPTY : argsBytes,
      previews,
      `heimdall approve --show ${questioned}`,
    )
    const put = {
      ...call,
      ...rule,
      runId,
      agentId,
      question,
      argsPreview: shown.short,
      askedAt: new Date(clock.wallMs()).toISOString(),
    }
    const asked = this.#tried(() => this.#options.approvals().ask(put))
    if (asked === undefined) return 'questions cannot be kept at present'
    if ('isFull' in asked) return `${asked.open} questions are open already`
    const { id, isNew } = asked
    if (isNew && shown.whole !== shown.short) this.#tried(() => this.#options.keepWhole(id, shown.whole))
    if (isNew)
      say((text) =>
        text.approvalRequested(namesOf(judged), {
          id,
          rule_id: ruleId,
          rule_hash: ask.rule_hash,
          question,
          wait_ms: ask.wait_ms,
        }),
      )
    this.#isNoticed = true
    notice.needsInput('approvals', `${question} (heimdall approve ${id})`)
    this.#lookSoon()
    return null
  }

  /** Keeps the line until a person answers or the wait is over; false when there is no room to wait. */
  hold(judged: JudgedCall, id: MessageId, line: Buffer, release: Release): boolean {
    const waitMs = judged.decision.ask?.wait_ms ?? 0
    if (waitMs === 0 || this.#held.length >= ASK_HELD_MAX) return false
    const timer = this.#options.clock.after(waitMs, () => this.#letGo(held))
    const held: Held = { id, judged, line: Buffer.from(line), timer, release }
    this.#held.push(held)
    this.#lookSoon()
    return true
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
  #withdraw({ call, args, decision: { ask, rule_id: ruleId } }: JudgedCall): void {
    const { runId, say } = this.#options
    if (ask === undefined || ruleId === null) return
    const idOf = ({ call: asked, args: given }: Pick<JudgedCall, 'call' | 'args'>): string =>
      questionId(runId, { ruleId, ruleHash: ask.rule_hash }, this.#callOf(asked, given))
    const id = idOf({ call, args })
    // The same call, made twice, still waits once.
    if (this.#held.some(({ judged }) => idOf(judged) === id)) return
    this.#tried(() => this.#options.approvals().withdraw(id))
    say((text) => text.approvalWithdrawn({ id, rule_id: ruleId }))
    this.#lookSoon()
  }

  /** Nobody waits any more: the client has left, or the run is over. */
  letAllGo(): void {
    for (const held of this.#held.slice()) this.#letGo(held)
  }

  /** Calls that are held are held no longer, and nobody judges them again. */
  takeAll(): readonly HeldCall[] {
    const all = this.#held.slice()
    for (const held of all) this.#drop(held)
    return all
  }

  /** Resolves when the session has heard that nobody is asked any more, or does not listen. */
  async close(): Promise<void> {
    const { clock, notice } = this.#options
    if (this.#look !== null) this.#tell(this.#tried(() => this.#options.approvals().takeUntold()) ?? [])
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

  #callOf({ toolName }: ToolCall, { hash, streamHash }: CallArguments): AskedCall {
    const { serverName, redact } = this.#options
    // What has no canonical form goes by its bytes: an answer for one spelling must not pass for another.
    const byBytes = streamHash === undefined ? '' : `bytes:${streamHash}`
    // As the person is shown it, who answers for what is seen.
    return { serverName, toolName: redact(toolName), argsHash: hash === '' ? byBytes : hash }
  }

  #lookSoon(): void {
    this.#look?.cancel()
    const ms = this.#held.length > 0 ? ASK_LOOK_MS : ASK_LOOK_IDLE_MS
    this.#look = this.#options.clock.after(ms, () => this.#lookNow(), { background: true })
  }

  #lookNow(): void {
    this.#look = null
    const { notice } = this.#options
    const seen = this.#tried(() => {
      const approvals = this.#options.approvals()
      return {
        untold: approvals.takeUntold(),
        answered: this.#held.filter((held) => this.#isAnswered(approvals, held)),
        isOpen: approvals.hasOpen,
      }
    })
    this.#tell(seen?.untold ?? [])
    for (const held of seen?.answered ?? []) this.#letGo(held)
    if (seen?.isOpen === false && this.#isNoticed) {
      this.#isNoticed = false
      notice.settled('approvals')
    }
    if (this.#held.length > 0 || seen?.isOpen !== false) this.#lookSoon()
  }

  /** What was answered since anybody last looked goes into the record, once for all shims. */
  #tell(untold: readonly Request[]): void {
    for (const { id, rule_id, answer, answered_by, lasts, of_rule } of untold)
      this.#options.say((text) =>
        text.approvalDecided({
          id,
          rule_id,
          answer,
          decided_by: answered_by,
          lasts,
          scope: of_rule === 1 ? 'rule' : 'call',
        }),
      )
  }

  #isAnswered(approvals: Approvals, { judged }: HeldCall): boolean {
    const { rule_id, ask } = judged.decision
    const rule = { ruleId: rule_id ?? '', ruleHash: ask?.rule_hash ?? '' }
    return approvals.find([rule], this.#callOf(judged.call, judged.args), this.#now).byRule.has(rule.ruleId)
  }

  /** A store that cannot be read now is no reason to end the shim: the call stays unanswered, and is told so in time. */
  #tried<T>(act: () => T): T | undefined {
    try {
      return act()
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.#options.note(`questions to a person cannot be kept: ${error.message}`)
      return undefined
    }
  }
}
