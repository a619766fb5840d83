// Which fields of an event go into a span, and under which name: those of the GenAI and MCP semantic conventions of OpenTelemetry where they have one, `heimdall.*` where they have none.
import type { EventObject } from '../index/entry-lines.ts'
import type { Attributes } from './span.ts'

/** Path into an event, and the name of the attribute. */
type Fields = Readonly<Record<string, string>>

/** Whose run it is. */
export const RESOURCE: Fields = {
  env: 'deployment.environment.name',
  'source.host_id': 'host.id',
}

export const OF_RUN: Fields = {
  run_id: 'gen_ai.conversation.id',
  agent_id: 'gen_ai.agent.name',
  haid: 'gen_ai.agent.id',
  client: 'heimdall.client',
  session_id: 'heimdall.session.id',
  principal: 'heimdall.principal',
  'run.segment': 'heimdall.run.segment',
  'run.mode': 'heimdall.policy.mode',
  'run.policy.policy_id': 'heimdall.policy.id',
  'run.policy.policy_version': 'heimdall.policy.version',
  'run.policy.policy_hash': 'heimdall.policy.hash',
  'run.meta.program': 'heimdall.run.program',
  'run.meta.task': 'heimdall.run.task',
  'run.meta.commit': 'vcs.ref.head.revision',
  'run.meta.branch': 'vcs.ref.head.name',
}

export const OF_RUN_END: Fields = {
  'run.status': 'heimdall.run.status',
  'run.summary.calls_total': 'heimdall.run.calls.total',
  'run.summary.calls_allowed': 'heimdall.run.calls.allowed',
  'run.summary.calls_blocked': 'heimdall.run.calls.blocked',
  'run.summary.calls_throttled': 'heimdall.run.calls.throttled',
  'run.summary.errors_total': 'heimdall.run.calls.errors',
  'run.summary.events_lost': 'heimdall.run.events_lost',
}

export const OF_CALL: Fields = {
  run_id: 'gen_ai.conversation.id',
  agent_id: 'gen_ai.agent.name',
  'call.call_id': 'gen_ai.tool.call.id',
  'call.server_name': 'heimdall.server.name',
  'call.seq': 'heimdall.call.seq',
  'call.args_hash': 'heimdall.call.args_hash',
  'call.bytes_in': 'heimdall.call.bytes_in',
  'call.tags': 'heimdall.call.tags',
}

export const OF_CALL_END: Fields = {
  status: 'heimdall.call.status',
  bytes_out: 'heimdall.call.bytes_out',
  'error.class': 'heimdall.call.error_class',
}

export const OF_DECISION: Fields = {
  'decision.action': 'heimdall.decision.action',
  'decision.rule_id': 'heimdall.decision.rule_id',
  'decision.explain.reason_code': 'heimdall.decision.reason_code',
  'decision.severity': 'heimdall.decision.severity',
  'decision.enforced': 'heimdall.decision.enforced',
  'decision.backoff_ms': 'heimdall.decision.backoff_ms',
  'decision.hint.hint_kind': 'heimdall.decision.hint_kind',
  'decision.policy.policy_id': 'heimdall.policy.id',
  'decision.policy.policy_version': 'heimdall.policy.version',
  'decision.policy.policy_hash': 'heimdall.policy.hash',
}

export const OF_COUNTER: Fields = {
  rule_id: 'heimdall.counter.rule_id',
  counter: 'heimdall.counter.name',
  before: 'heimdall.counter.before',
  after: 'heimdall.counter.after',
  limit: 'heimdall.counter.limit',
}

export const OF_WAIT: Fields = {
  'wait.source': 'heimdall.wait.source',
  'wait.answer': 'heimdall.wait.answer',
  'wait.waited_ms': 'heimdall.wait.waited_ms',
}

/** What agents, servers and screens said, in their own words, as far as the record has it: only when it was asked for. */
export const PREVIEWS = {
  call: { 'call.preview.args_preview': 'gen_ai.tool.call.arguments' },
  end: { 'preview.result_preview': 'gen_ai.tool.call.result' },
  decision: {
    'decision.explain.summary': 'heimdall.decision.summary',
    'decision.hint.hint_text': 'heimdall.decision.hint_text',
    'decision.hint.suggested_args': 'heimdall.decision.suggested_args',
  },
  wait: { 'wait.evidence': 'heimdall.wait.evidence' },
} as const satisfies Readonly<Record<string, Fields>>

const PIN_FIELDS: Fields = { 'pins.server_name': 'heimdall.server.name', 'pins.severity': 'heimdall.pins.severity' }

/** Other events, which stand in the span of their call or run. Of a type that is not here only the name is told. */
const FIELDS_OF_EVENTS: Readonly<Record<string, Fields>> = {
  policy_loaded: {
    'policy.policy_id': 'heimdall.policy.id',
    'policy.policy_version': 'heimdall.policy.version',
    'policy.policy_hash': 'heimdall.policy.hash',
    mode: 'heimdall.policy.mode',
    ok: 'heimdall.policy.ok',
  },
  hint_issued: { 'hint.hint_kind': 'heimdall.decision.hint_kind' },
  breaker_trip: { 'breaker.rule_id': 'heimdall.decision.rule_id' },
  secret_injection: {
    'secret.inject_as': 'heimdall.secret.inject_as',
    'secret.source': 'heimdall.secret.source',
    'secret.success': 'heimdall.secret.success',
  },
  secret_exposed: { 'secret.inject_as': 'heimdall.secret.inject_as', 'secret.source': 'heimdall.secret.source' },
  approval_requested: { 'approval.id': 'heimdall.approval.id', 'approval.rule_id': 'heimdall.decision.rule_id' },
  approval_decided: {
    'approval.id': 'heimdall.approval.id',
    'approval.rule_id': 'heimdall.decision.rule_id',
    'approval.answer': 'heimdall.approval.answer',
    'approval.lasts': 'heimdall.approval.lasts',
    'approval.scope': 'heimdall.approval.scope',
  },
  tools_pinned: PIN_FIELDS,
  tools_changed: PIN_FIELDS,
  tools_approved: PIN_FIELDS,
  files_changed: { 'changes.total': 'heimdall.files.total', 'changes.commits': 'heimdall.files.commits' },
  session_end: {
    'session.exit_code': 'process.exit.code',
    'session.reason': 'heimdall.session.reason',
    'session.waits': 'heimdall.session.waits',
    'session.waited_ms': 'heimdall.session.waited_ms',
  },
}

/** A map, since a record can hold anything, also a type that every object has. */
export const OF_EVENT: ReadonlyMap<string, Fields> = new Map(Object.entries(FIELDS_OF_EVENTS))

/** A record can hold anything: what is missing, or is not what an attribute may be, is left out. */
export function attributesOf(event: EventObject, ...tables: readonly Fields[]): Attributes {
  const attributes: Record<string, Attributes[string]> = {}
  for (const table of tables)
    for (const [path, name] of Object.entries(table)) {
      const value = attributeValue(at(event, path))
      if (value !== undefined) attributes[name] = value
    }
  return attributes
}

function at(event: EventObject, path: string): unknown {
  let value: unknown = event
  for (const key of path.split('.'))
    value = typeof value === 'object' && value !== null ? (value as EventObject)[key] : undefined
  return value
}

function attributeValue(value: unknown): Attributes[string] | undefined {
  if (value === '' || value === null || value === undefined) return undefined
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : JSON.stringify(value)
}
