// A recorded call as replay takes it: what the record proves, and what it leaves open.
import type { CallResult, Decision, Subject } from '../types.ts'

export type RecordedDecision = Pick<Decision, 'action' | 'rule_id' | 'reason_code' | 'enforced'>

export interface RecordedCall {
  readonly callId: string
  readonly server: string
  readonly tool: string
  /** Of a request that is no tool call. */
  readonly method: string | null
  /** When it was written down, a moment after it was judged. */
  readonly atMs: number
  readonly subject: Subject
  /** `unseen`: the record shows not all of them. */
  readonly args: Readonly<Record<string, unknown>> | 'uninspectable' | 'ambiguous' | 'unseen'
  /** Empty where they have no canonical form. */
  readonly argsHash: string
  /** Names of tools are redacted too, and then nobody knows which rules speak of it. */
  readonly isNameHidden: boolean
  readonly decision: RecordedDecision
  readonly policyHash: string
}

/** `unseen`: it was refused then, or cancelled: how it would have gone, or went on, is not in the record. */
export type RecordedResult = CallResult | 'unseen'

/** A question that a person was asked. */
export interface RecordedQuestion {
  readonly id: string
  readonly ruleId: string
  /** Of the rule as it stood; null in records that do not have it. */
  readonly ruleHash: string | null
  readonly server: string
  readonly tool: string
  readonly argsHash: string
}

export interface RecordedAnswer {
  readonly id: string
  readonly ruleId: string
  readonly answer: 'allow' | 'deny'
  /** `once`, or until when. */
  readonly untilMs: number | 'once'
  readonly isOfRule: boolean
}

/**
 * What the shim decides without any policy: messages that cannot be read as one call, and more calls than it keeps.
 * Every policy has them, and nothing is counted.
 */
const OF_THE_SHIM: ReadonlySet<string> = new Set(['MALFORMED_CALL', 'BATCH_REFUSED', 'TOO_MANY_CALLS'])

export function isOfTheShim({ rule_id, reason_code }: RecordedDecision): boolean {
  return rule_id === null && OF_THE_SHIM.has(reason_code)
}

/** Whether the same was decided; a question that could not be put is a question, and what passes passes in every mode. */
export function isSameDecision(a: RecordedDecision, b: RecordedDecision): boolean {
  const isSameMode = a.enforced === b.enforced || a.action === 'ALLOW'
  return a.action === b.action && a.rule_id === b.rule_id && isSameMode && reasonOf(a) === reasonOf(b)
}

function reasonOf({ reason_code }: RecordedDecision): string {
  return reason_code === 'APPROVAL_UNAVAILABLE' ? 'APPROVAL_REQUIRED' : reason_code
}

/** Whether the call went, or goes, to the server. */
export function isPassed({ action, enforced }: RecordedDecision): boolean {
  return action === 'ALLOW' || !enforced
}
