// A call on its way: as an adapter hands it over, with what is known of it before it is decided, and decided.
import type { WriteScope } from '../../coordination/claims/writes.ts'
import type { CallOrigin } from '../../coordination/who/caller.ts'
import type { CallNames } from '../../events/event-text.ts'
import type { Absent, Piece } from '../../events/preview.ts'
import type { CallError, CallStatus, PolicyRef, Transport } from '../../events/types.ts'
import type { RecordedCount } from '../../policy/decide/counted.ts'
import type { Plan, Policy } from '../../policy/decide/plan.ts'
import type { CallEnd, Decision } from '../../policy/types.ts'
import type { CallArguments } from './call-arguments.ts'

/** A call as an adapter hands it over (seed 004 §7.1). */
export interface ToolCall {
  /** Of a request that is no tool call its method. */
  readonly toolName: string
  /** Of a request that is no tool call but that rules name. */
  readonly method?: string | undefined
  /** The `arguments` object as it was sent; null when it is too large to look into. */
  readonly argsBytes: Buffer | null
  readonly bytesIn: number
  readonly transport: Transport
  /** `_meta` of the request, where it has one and is at hand. */
  readonly meta?: Piece | undefined
  /** SHA-256 of the raw message, where it was too large to look into. */
  readonly argsStreamHash?: string
}

/** Free paths that are the writer's as soon as the call is sent on. */
export interface FirstWrite {
  readonly asking: CallOrigin
  readonly scopes: readonly WriteScope[]
}

/** What claims say of a call: refused, or free to be judged by the policy. */
export interface ClaimAnswer {
  readonly refused: Decision | null
  readonly firstWrite: FirstWrite | null
}

export const NOTHING_CLAIMED: ClaimAnswer = { refused: null, firstWrite: null }

/** What may be done where the policy wants a human to be asked. */
export interface AskLimits {
  readonly mayAsk: boolean
  readonly mayHold: boolean
}

/** A call with all that is to be known of it before it is decided. */
export interface ResolvedCall extends AskLimits {
  readonly callId: string
  readonly call: ToolCall
  readonly args: CallArguments
  readonly policy: Policy
  readonly plan: Plan
  /** Refused whatever the policy's rules say: by its form, a pin or a claim. */
  readonly refused: Decision | null
  /** Why the policy cannot be evaluated. */
  readonly problem: string | null
  readonly firstWrite: FirstWrite | null
  readonly startMs: number
}

/** A call that was decided. */
export interface JudgedCall {
  readonly callId: string
  readonly call: ToolCall
  readonly args: CallArguments
  readonly decision: Decision
  /** To be sent on. */
  readonly isForwarded: boolean
  /** To be held for a human's answer; it is in the record only when it was not answered in time. */
  readonly isHeld: boolean
  readonly policy: PolicyRef
  readonly startMs: number
  /** What its end may change; null when that is nothing. */
  readonly end: CallEnd | null
  readonly tags: readonly string[]
  readonly tripped: readonly string[]
  readonly counts: readonly RecordedCount[]
  /** The question that it asks, or whose answer it goes by. */
  readonly approvalId: string | undefined
  readonly firstWrite: FirstWrite | null
  readonly names: CallNames
}

export interface CallOutcome {
  readonly status: CallStatus
  readonly bytesOut: number
  readonly error?: CallError | undefined
  /** The server has said so, and surely of this call. */
  readonly isProven?: boolean
  /** The result as it was sent, for the preview; or why there is none. */
  readonly result: Piece | Absent
  readonly resultStreamHash?: string | undefined
}
