// What an agent is told when a call is not let through (seed 004, contract C): a JSON-RPC error, or the same as a tool result.
import { PACK_VERSION } from '../../events/types.ts'
import type { Action, Decision } from '../../policy/types.ts'
import type { ClientInfo } from './client-info.ts'
import type { CallGate } from './call-gate.ts'
import type { JudgedCall } from './judged-call.ts'

type Refusal = Exclude<Action, 'ALLOW'>

/** Seed 004 §3.2.1; and where MCP has since reserved that range for itself, what stands in its place. */
export const ERROR_CODES = {
  handshake: { BLOCK: -32_081, THROTTLE: -32_082, REJECT_WITH_HINT: -32_083, TERMINATE_RUN: -32_084 },
  stateless: { BLOCK: -31_081, THROTTLE: -31_082, REJECT_WITH_HINT: -31_083, TERMINATE_RUN: -31_084 },
} as const satisfies Record<string, Record<Refusal, number>>

/** Of MCP: up to 2025-11-25 a handshake comes first; from 2026-07-28 on each request says who it is from. */
export type Generation = keyof typeof ERROR_CODES

/** `tool_result` is for hosts that hide JSON-RPC errors from the model. */
export type DenyAs = 'error' | 'tool_result'

export interface Answering {
  readonly gate: CallGate
  readonly client: ClientInfo
  readonly runId: string
  readonly denyAs: DenyAs
}

/** What a call that is not forwarded is refused as: one that policy allowed was met by the end of the run. */
function refusalOf({ action }: Decision): Refusal {
  return action === 'ALLOW' ? 'TERMINATE_RUN' : action
}

/** The code of a refusal, as the generation of the client wants it. */
export function refusalCode(judged: JudgedCall, { client }: Answering): number {
  return ERROR_CODES[client.generationOf(judged.call.meta)][refusalOf(judged.decision)]
}

/** One line, without its newline. */
export function denial(judged: JudgedCall, idRaw: string, answering: Answering): string {
  const { gate } = answering
  const message = refusalText(gate.words.shown(judged), judged.names)
  const data = { subluminal: subluminal(judged, answering) }
  // Hosts that see structuredContent drop the text, or refuse the whole when it does not fit the tool's schema.
  const body =
    answering.denyAs === 'error'
      ? { error: { code: refusalCode(judged, answering), message, data } }
      : { result: { content: [{ type: 'text', text: message }], isError: true, _meta: data } }
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
  const decision = gate.words.shown(judged)
  const { call_id, server_name, tool_name, args_hash } = judged.names
  return {
    v: PACK_VERSION,
    code: ERROR_CODES.handshake[refusalOf(decision)],
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

const WHAT: Readonly<Record<Refusal, string>> = {
  BLOCK: 'was refused',
  REJECT_WITH_HINT: 'was refused',
  THROTTLE: 'was held back',
  TERMINATE_RUN: 'was refused and the run is ended',
}

/** Hosts show the model only the message, so everything that helps it to go on is in it: what was refused, why, what to do instead. */
export function refusalText(
  decision: Decision,
  names: { readonly tool_name: string; readonly server_name: string },
): string {
  const { action, reason_code, rule_id, summary, backoff_ms, hint, terminate } = decision
  const refusal = refusalOf(decision)
  const said = [sentence(`The call of ${names.tool_name} on ${names.server_name} ${WHAT[refusal]}: ${summary}`)]
  if (terminate !== undefined && terminate.terminate_message !== summary)
    said.push(sentence(`The run: ${terminate.terminate_message}`))
  if (hint !== undefined) {
    if (hint.hint_text !== summary) said.push(sentence(`Instead: ${hint.hint_text}`))
    if (hint.suggested_args !== null) said.push(`Call it with these arguments: ${JSON.stringify(hint.suggested_args)}.`)
    if (hint.retry_advice !== null) said.push(sentence(`Advice: ${hint.retry_advice}`))
  }
  if (backoff_ms !== undefined) said.push(`Wait ${backoff_ms} ms, then send the same call again.`)
  else if (refusal === 'BLOCK') said.push('Sending it again will not help.')
  else if (refusal === 'TERMINATE_RUN') said.push('No further call will be made; stop here.')
  return `${said.join(' ')} (${action} ${reason_code}${rule_id === null ? '' : `, rule ${rule_id}`})`
}

/** Words of a policy's author stay as they are, up to the full stop. */
function sentence(text: string): string {
  const trimmed = text.trim()
  return /[.!?:]$/.test(trimmed) ? trimmed : `${trimmed}.`
}
