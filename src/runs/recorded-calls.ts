// Calls as a record tells of them: beginning and decision put together, with arguments only where the record proves that it shows them whole.
import { canonicalHash } from '../canonical/canonical.ts'
import { HeimdallError } from '../errors.ts'
import { REDACTED } from '../events/redact.ts'
import type { Workload } from '../events/types.ts'
import { MAX_INSPECT_BYTES, REPLAY_OPEN_MAX } from '../limits.ts'

export type RecordedArgs = Readonly<Record<string, unknown>> | 'uninspectable' | 'ambiguous' | 'unseen'

interface CallOfRecord {
  readonly what: 'call'
  readonly callId: string
  readonly seq: number | null
  readonly server: string
  readonly tool: string
  readonly method: string | null
  readonly atMs: number
  readonly subject: {
    readonly env: string
    readonly agent_id: string
    readonly client: string
    readonly workload?: Workload
  }
  readonly args: RecordedArgs
  readonly argsHash: string
  readonly isNameHidden: boolean
  readonly decision: {
    readonly action: 'ALLOW' | 'BLOCK' | 'THROTTLE' | 'REJECT_WITH_HINT' | 'TERMINATE_RUN'
    readonly rule_id: string | null
    readonly reason_code: string
    readonly enforced: boolean
  }
  readonly policy: { readonly policy_id: string; readonly policy_version: string; readonly policy_hash: string }
}

export type OfRecord = { readonly runId: string } & (
  | CallOfRecord
  | {
      readonly what: 'end'
      readonly callId: string
      readonly atMs: number
      readonly result: 'done' | 'failed' | 'unknown' | 'unseen'
    }
  | {
      readonly what: 'question'
      readonly id: string
      readonly ruleId: string
      readonly ruleHash: string | null
      readonly server: string
      readonly tool: string
      readonly argsHash: string
    }
  | {
      readonly what: 'answer'
      readonly id: string
      readonly ruleId: string
      readonly answer: 'allow' | 'deny'
      readonly untilMs: number | 'once'
      readonly isOfRule: boolean
    }
)

type Fields = Readonly<Record<string, unknown>>

interface Begun {
  readonly args: RecordedArgs
  readonly method: string | null
  readonly seq: number | null
}

/** Reads one event after the other. What is no part of a call is passed over; what is not whole is counted. */
export class RecordedCalls {
  readonly #begun = new Map<string, Begun>()
  #dropped = 0

  /** Beginnings of which no decision came. */
  get undecided(): number {
    return this.#begun.size + this.#dropped
  }

  /** Null for events of no interest; `malformed` where one lacks what it must have. */
  read(event: Fields): OfRecord | null | 'malformed' {
    const runId = text(event['run_id'])
    const atMs = Date.parse(String(event['ts']))
    const call = fields(event['call'])
    switch (event['type']) {
      case 'tool_call_start':
        return this.#begin(runId, call, fields(call['preview']))
      case 'tool_call_decision':
        return Number.isNaN(atMs) ? 'malformed' : this.#decided(runId, atMs, event, call)
      case 'tool_call_end': {
        const callId = text(call['call_id'])
        if (runId === '' || callId === '' || Number.isNaN(atMs)) return 'malformed'
        return { runId, what: 'end', callId, atMs, result: resultOf(event) }
      }
      case 'approval_requested':
        return questionOf(runId, call, fields(event['approval']))
      case 'approval_decided':
        return answerOf(runId, atMs, fields(event['approval']))
      default:
        return null
    }
  }

  #begin(runId: string, call: Fields, preview: Fields): null | 'malformed' {
    const callId = text(call['call_id'])
    if (runId === '' || callId === '') return 'malformed'
    if (this.#begun.size >= REPLAY_OPEN_MAX) {
      const [oldest] = this.#begun.keys()
      if (oldest !== undefined) this.#begun.delete(oldest)
      this.#dropped += 1
    }
    const bytesIn = typeof call['bytes_in'] === 'number' ? call['bytes_in'] : 0
    this.#begun.set(`${runId}\0${callId}`, {
      args: argsOf(preview, text(call['args_hash']), bytesIn),
      method: typeof call['method'] === 'string' ? call['method'] : null,
      seq: typeof call['seq'] === 'number' ? call['seq'] : null,
    })
    return null
  }

  #decided(runId: string, atMs: number, event: Fields, call: Fields): OfRecord | 'malformed' {
    const said = fields(event['decision'])
    const callId = text(call['call_id'])
    const key = `${runId}\0${callId}`
    // Of a file that was cut the beginning may be gone: the names stand in the decision too, the arguments do not.
    const begun = this.#begun.get(key) ?? { args: 'unseen', method: null, seq: null }
    this.#begun.delete(key)
    const { action, rule_id: ruleId } = said
    if (runId === '' || callId === '' || !isAction(action)) return 'malformed'
    const tool = text(call['tool_name'])
    const policy = fields(said['policy'])
    const workload = event['workload']
    return {
      runId,
      what: 'call',
      callId,
      ...begun,
      server: text(call['server_name']),
      tool,
      atMs,
      subject: {
        env: text(event['env']),
        agent_id: text(event['agent_id']),
        client: text(event['client']),
        ...(typeof workload === 'object' && workload !== null ? { workload } : {}),
      },
      argsHash: text(call['args_hash']),
      isNameHidden: tool.includes(REDACTED),
      decision: {
        action,
        rule_id: typeof ruleId === 'string' ? ruleId : null,
        reason_code: text(fields(said['explain'])['reason_code']),
        enforced: said['enforced'] !== false,
      },
      policy: {
        policy_id: text(policy['policy_id']),
        policy_version: text(policy['policy_version']),
        policy_hash: text(policy['policy_hash']),
      },
    }
  }
}

/**
 * A preview is redacted and may be cut. That it shows the arguments whole is proved by their hash; without a hash there
 * was a reason, which a whole preview still shows.
 */
function argsOf(preview: Fields, hash: string, bytesIn: number): RecordedArgs {
  const shown = preview['args_preview']
  if (typeof shown !== 'string') return hash === '' && bytesIn > MAX_INSPECT_BYTES ? 'uninspectable' : 'unseen'
  if (preview['truncated'] !== false) return 'unseen'
  // A call without arguments is shown as nothing.
  const json = shown === '' ? '{}' : shown
  try {
    return canonicalHash(json) === hash ? (JSON.parse(json) as Record<string, unknown>) : 'unseen'
  } catch (error) {
    if (!(error instanceof HeimdallError && error.code.startsWith('JSON_'))) throw error
    if (hash !== '' || json.includes(REDACTED)) return 'unseen'
    return error.code === 'JSON_DUPLICATE_KEY' ? 'ambiguous' : 'uninspectable'
  }
}

/** An error of the server's is one of this call; of a call without answer nobody knows whether it was done. */
function resultOf(event: Fields): 'done' | 'failed' | 'unknown' | 'unseen' {
  if (event['status'] === 'OK') return 'done'
  if (event['status'] === 'CANCELLED') return 'unseen'
  const errorClass = fields(event['error'])['class']
  if (errorClass === 'policy_block') return 'unseen'
  return errorClass === 'upstream_error' ? 'failed' : 'unknown'
}

function questionOf(runId: string, call: Fields, approval: Fields): OfRecord | 'malformed' {
  const id = text(approval['id'])
  const ruleId = text(approval['rule_id'])
  if (runId === '' || id === '' || ruleId === '') return 'malformed'
  return {
    runId,
    what: 'question',
    id,
    ruleId,
    ruleHash: typeof approval['rule_hash'] === 'string' ? approval['rule_hash'] : null,
    server: text(call['server_name']),
    tool: text(call['tool_name']),
    argsHash: text(call['args_hash']),
  }
}

function answerOf(runId: string, atMs: number, approval: Fields): OfRecord | 'malformed' {
  const { answer, lasts, scope } = approval
  const id = text(approval['id'])
  if (runId === '' || id === '' || (answer !== 'allow' && answer !== 'deny') || Number.isNaN(atMs)) return 'malformed'
  const ms = /^(\d+) ms$/.exec(text(lasts))?.[1]
  const untilMs = ms !== undefined ? atMs + Number(ms) : lasts === 'run' ? Infinity : 'once'
  return { runId, what: 'answer', id, ruleId: text(approval['rule_id']), answer, untilMs, isOfRule: scope === 'rule' }
}

const ACTIONS: readonly unknown[] = ['ALLOW', 'BLOCK', 'THROTTLE', 'REJECT_WITH_HINT', 'TERMINATE_RUN']

function isAction(value: unknown): value is CallOfRecord['decision']['action'] {
  return ACTIONS.includes(value)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
