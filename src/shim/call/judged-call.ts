// A call from the moment that an adapter hands it over to its end.
import type { WriteScope } from '../../coordination/claims/writes.ts'
import type { CallOrigin } from '../../coordination/who/caller.ts'
import type { CallNames } from '../../events/event-text.ts'
import type { Absent, Piece } from '../../events/preview.ts'
import type { CallError, CallStatus, PolicyRef, Transport } from '../../events/types.ts'
import type { Readings } from '../../policy/decide/readings.ts'
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

/** A call that was judged, from then until its end. */
export interface JudgedCall {
  readonly callId: string
  readonly call: ToolCall
  /** Like the next two, decided anew when it turns out that the first decision cannot be written down. */
  decision: Decision
  isForwarded: boolean
  end: CallEnd | null
  readonly tags: readonly string[]
  readonly tripped: readonly string[]
  readonly policy: PolicyRef
  readonly startMs: number
  readonly counters: Readings
  readonly args: CallArguments
  /** What it claims when it is sent on. */
  readonly firstWrite: FirstWrite | null
  /** As the record names it; made when it is announced. */
  names: CallNames | null
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
