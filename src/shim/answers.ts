// What an agent is told when a call is not let through (seed 004, contract C): a JSON-RPC error, or the same as a tool result.
import { PACK_VERSION } from '../events/types.ts'
import type { Action, Decision } from '../policy/types.ts'
import type { Gate, JudgedCall } from './gate.ts'

/** Seed 004 §3.2.1. */
export const ERROR_CODES: Readonly<Record<Exclude<Action, 'ALLOW'>, number>> = {
  BLOCK: -32_081,
  THROTTLE: -32_082,
  REJECT_WITH_HINT: -32_083,
  TERMINATE_RUN: -32_084,
}

/** `tool_result` is for hosts that hide JSON-RPC errors from the model. */
export type DenyAs = 'error' | 'tool_result'

export interface Answering {
  readonly gate: Gate
  readonly runId: string
  readonly denyAs: DenyAs
}

/** One line, without its newline. */
export function denial(judged: JudgedCall, idRaw: string, answering: Answering): string {
  const decision = answering.gate.shown(judged)
  const action = decision.action === 'ALLOW' ? 'BLOCK' : decision.action
  const message = messageOf(decision)
  const data = { subluminal: subluminal(judged, answering) }
  const body =
    answering.denyAs === 'error'
      ? { error: { code: ERROR_CODES[action], message, data } }
      : { result: { content: [{ type: 'text', text: message }], structuredContent: data, isError: true } }
  return withId(idRaw, body)
}

/** JSON-RPC's own refusal of a message that is none, or that is not to be trusted. */
export function protocolError(
  idRaw: string,
  code: number,
  message: string,
  about?: { readonly judged: JudgedCall; readonly answering: Answering },
): string {
  const data = about === undefined ? {} : { data: { subluminal: subluminal(about.judged, about.answering) } }
  return withId(idRaw, { error: { code, message, ...data } })
}

function withId(idRaw: string, body: object): string {
  // The id goes back byte for byte: a number beyond 2^53 must not come back as another one.
  return `{"jsonrpc":"2.0","id":${idRaw},${JSON.stringify(body).slice(1)}`
}

function subluminal(judged: JudgedCall, { gate, runId }: Answering): object {
  const { policy } = judged
  const decision = gate.shown(judged)
  const { call_id, server_name, tool_name, args_hash } = gate.names(judged)
  return {
    v: PACK_VERSION,
    action: decision.action,
    rule_id: decision.rule_id,
    reason_code: decision.reason_code,
    summary: decision.summary,
    run_id: runId,
    call_id,
    server_name,
    tool_name,
    args_hash,
    policy,
    ...(decision.backoff_ms === undefined
      ? {}
      : {
          backoff_ms: decision.backoff_ms,
          retry_advice: `wait ${decision.backoff_ms} ms, then send the same call again`,
        }),
    ...(decision.hint === undefined ? {} : { hint: decision.hint }),
    ...(decision.terminate === undefined ? {} : { terminate: decision.terminate }),
  }
}

/** Hosts show the model only the message, so everything that helps it to go on is in it. */
function messageOf(decision: Decision): string {
  const parts = [decision.summary]
  if (decision.action === 'THROTTLE' && decision.backoff_ms !== undefined)
    parts.push(`Wait ${decision.backoff_ms} ms, then send the same call again.`)
  if (decision.hint !== undefined) {
    const { hint_text, suggested_args, retry_advice } = decision.hint
    if (hint_text !== decision.summary) parts.push(hint_text)
    if (suggested_args !== null) parts.push(`Suggested arguments: ${JSON.stringify(suggested_args)}`)
    if (retry_advice !== null) parts.push(retry_advice)
  }
  if (decision.terminate !== undefined && decision.terminate.terminate_message !== decision.summary)
    parts.push(decision.terminate.terminate_message)
  parts.push(
    `[${decision.action} ${decision.reason_code}${decision.rule_id === null ? '' : `, rule ${decision.rule_id}`}]`,
  )
  return parts.join(' ')
}
