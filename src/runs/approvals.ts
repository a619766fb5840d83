// What humans are asked and have answered in one run, as a fold over the events that say so.
import { createHash } from 'node:crypto'
import type { EventBody } from '../events/event-lines.ts'
import { ASK_ANSWERED_KEPT, ASK_ANSWERS_MAX, ASK_OPEN_MAX } from '../limits.ts'
import type { RecordedEvent } from './recorded-event.ts'
import { type BootMoment, fieldsOf } from './run-totals.ts'

export type PersonAnswer = 'allow' | 'deny'

/** A rule that asks: an answer for another text of it is none for this one. */
export interface AskingRule {
  readonly ruleId: string
  readonly ruleHash: string
}

/** A call as a human answers for it: the tool of a server, with these arguments. */
export interface AskedCall {
  readonly serverName: string
  readonly toolName: string
  /** Of the arguments; empty where they were not read whole, and then only the whole rule can be answered for. */
  readonly argsHash: string
}

/** A question, as commands list it. */
export interface Request {
  readonly id: string
  readonly run_id: string
  readonly rule_id: string
  readonly rule_hash: string
  readonly server_name: string
  readonly tool_name: string
  readonly args_hash: string
  readonly args_preview: string
  readonly question: string
  readonly agent_id: string
  readonly asked_at: string
  readonly times: number
  readonly answer: PersonAnswer | null
  readonly answered_by: string | null
  readonly answered_at: string | null
  readonly lasts: string | null
  readonly of_rule: boolean | null
  /** When the run ended before there was an answer. */
  readonly closed_at: string | null
}

/** How long an answer holds. */
export type Lasts = { readonly kind: 'once' } | { readonly kind: 'run' } | { readonly kind: 'for'; readonly ms: number }

/** An answer that calls may go by. */
export interface StandingAnswer {
  /** Of the question. */
  readonly id: string
  readonly rule_id: string
  readonly rule_hash: string
  /** Null: every call of the rule. */
  readonly call: string | null
  readonly answer: PersonAnswer
  readonly message: string | null
  readonly is_once: boolean
  readonly until: BootMoment | null
}

/** Answers that a call may go by; the id is that of the question. */
export interface FoundAnswers {
  readonly byRule: ReadonlyMap<string, PersonAnswer | { readonly denial: string }>
  readonly ids: ReadonlyMap<string, string>
}

/** The same question has the same id. Short enough to type, too long for an agent to make two that meet. */
export function questionId(runId: string, { ruleId, ruleHash }: AskingRule, call: AskedCall): string {
  const text = `${runId}\n${ruleId}\n${ruleHash}\n${callKey(call)}`
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

const callKey = ({ serverName, toolName, argsHash }: AskedCall): string =>
  JSON.stringify([serverName, toolName, argsHash])

export const isOpen = ({ answer, closed_at: closed }: Request): boolean => answer === null && closed === null

/** Immutable lists, so that a turn that cannot be recorded goes back to those before it. */
export class Approvals {
  questions: readonly Request[] = []
  answers: readonly StandingAnswer[] = []

  get open(): readonly Request[] {
    return this.questions.filter(isOpen)
  }

  /** The newest answer for each of the rules. */
  find(rules: readonly AskingRule[], call: AskedCall, { bootId, monoMs }: BootMoment): FoundAnswers {
    const byRule = new Map<string, PersonAnswer | { readonly denial: string }>()
    const ids = new Map<string, string>()
    for (const { ruleId, ruleHash } of rules) {
      const found = this.answers.findLast(
        ({ rule_id, rule_hash, call: of, until }) =>
          rule_id === ruleId &&
          rule_hash === ruleHash &&
          (of === null || (call.argsHash !== '' && of === callKey(call))) &&
          (until === null || (until.bootId === bootId && until.monoMs > monoMs)),
      )
      if (found === undefined) continue
      byRule.set(ruleId, found.answer === 'deny' && found.message !== null ? { denial: found.message } : found.answer)
      ids.set(ruleId, found.id)
    }
    return { byRule, ids }
  }

  /** Enters an event; `who` is its envelope. */
  enter(type: unknown, body: RecordedEvent | EventBody, who: RecordedEvent, ts: string): void {
    if (type === 'approval_requested') this.#ask(fieldsOf(body['approval']), fieldsOf(body['call']), who, ts)
    else if (type === 'approval_decided') this.#answer(fieldsOf(body['approval']), ts)
    else if (type === 'approval_withdrawn') this.#withdraw(fieldsOf(body['approval']))
    else if (type === 'tool_call_decision') this.#decided(fieldsOf(body['decision']))
    else if (type === 'run_end' && this.questions.some(isOpen))
      this.questions = this.questions.map((one) => (isOpen(one) ? { ...one, closed_at: ts } : one))
  }

  #ask(
    { id, rule_id, rule_hash, question, args_hash, args_preview }: Readonly<Record<string, unknown>>,
    { server_name, tool_name }: Readonly<Record<string, unknown>>,
    { run_id, agent_id }: RecordedEvent,
    ts: string,
  ): void {
    if (typeof id !== 'string' || this.questions.some((one) => one.id === id && isOpen(one))) return
    const asked: Request = {
      id,
      run_id: text(run_id),
      rule_id: text(rule_id),
      rule_hash: text(rule_hash),
      server_name: text(server_name),
      tool_name: text(tool_name),
      args_hash: text(args_hash),
      args_preview: text(args_preview),
      question: text(question),
      agent_id: text(agent_id),
      asked_at: ts,
      times: 0,
      answer: null,
      answered_by: null,
      answered_at: null,
      lasts: null,
      of_rule: null,
      closed_at: null,
    }
    const others = this.questions.filter((one) => one.id !== id)
    const closed = others.filter((one) => !isOpen(one))
    const forgotten = new Set(closed.slice(0, Math.max(0, closed.length - ASK_ANSWERED_KEPT)))
    // More open ones than any shim asks come from a line that no shim has written.
    this.questions = [...others.filter((one) => !forgotten.has(one)), asked].slice(-ASK_ANSWERED_KEPT - ASK_OPEN_MAX)
  }

  #answer(given: Readonly<Record<string, unknown>>, ts: string): void {
    const { id, rule_id, rule_hash, answer, decided_by, lasts, scope, message, until } = given
    if (typeof id !== 'string' || (answer !== 'allow' && answer !== 'deny')) return
    const asked = this.questions.find((one) => one.id === id)
    // An answer "once" is for one call: a second one to the same question would allow another.
    if (asked === undefined || (lasts === 'once' && !isOpen(asked))) return
    const ofRule = scope === 'rule'
    const { monoMs, bootId } = fieldsOf(until)
    const standing: StandingAnswer = {
      id,
      rule_id: text(rule_id),
      rule_hash: text(rule_hash),
      call: ofRule ? null : callKey(askedCall(asked)),
      answer,
      message: typeof message === 'string' ? message : null,
      is_once: lasts === 'once',
      until: typeof monoMs === 'number' && typeof bootId === 'string' ? { monoMs, bootId } : null,
    }
    // A question is answered by one answer at a time; what was said before for the same calls does not come back.
    this.answers = [...this.answers.filter((one) => !isReplaced(one, standing)), standing].slice(-ASK_ANSWERS_MAX)
    const isSettled = (one: Request): boolean =>
      ofRule && !standing.is_once ? one.rule_id === rule_id && one.rule_hash === rule_hash : one.id === id
    this.questions = this.questions.map((one) =>
      one.answer === null && isSettled(one)
        ? {
            ...one,
            answer,
            answered_by: text(decided_by),
            answered_at: ts,
            lasts: text(lasts),
            of_rule: ofRule,
          }
        : one,
    )
  }

  /** The call was cancelled: its question goes, with an answer for once that came meanwhile. */
  #withdraw({ id }: Readonly<Record<string, unknown>>): void {
    this.answers = this.answers.filter((one) => one.id !== id || !one.is_once)
    this.questions = this.questions.filter((one) => one.id !== id || (one.answer !== null && one.lasts !== 'once'))
  }

  #decided({ approval_id: id, explain }: Readonly<Record<string, unknown>>): void {
    if (typeof id !== 'string') return
    if (fieldsOf(explain)['reason_code'] === 'APPROVAL_REQUIRED')
      this.questions = this.questions.map((one) =>
        one.id === id && isOpen(one) ? { ...one, times: one.times + 1 } : one,
      )
    else this.answers = this.answers.filter((one) => one.id !== id || !one.is_once)
  }
}

export const askedCall = ({ server_name, tool_name, args_hash }: Request): AskedCall => ({
  serverName: server_name,
  toolName: tool_name,
  argsHash: args_hash,
})

/** Answers stay in the order in which they were given, and the newest counts. */
function isReplaced(one: StandingAnswer, by: StandingAnswer): boolean {
  return one.rule_id === by.rule_id && one.rule_hash === by.rule_hash && one.call === by.call && !by.is_once
}

export const lastsText = (lasts: Lasts): string => (lasts.kind === 'for' ? `${lasts.ms} ms` : lasts.kind)

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
