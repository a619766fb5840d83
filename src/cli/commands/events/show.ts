// heimdall events show: one call, what was decided and why, and what the agent did next.
import { HeimdallError } from '../../../errors.ts'
import { escapeControls, printable } from '../../../ids.ts'
import { type IndexedCall, callFacts, objectIn, textIn } from '../../../runs/index/call-facts.ts'
import type { EventObject } from '../../../runs/index/entry-lines.ts'
import { FOLLOWS, type NextCall, nextCalls } from '../../../runs/index/next-calls.ts'
import { search } from '../../../runs/index/search.ts'
import type { Run } from '../../command.ts'
import type { eventsShow } from '../../table/events.ts'
import { toolOf } from './call-columns.ts'
import { behindText, refuseUnknownRun, withRecords } from './records.ts'

export const run: Run<typeof eventsShow> = (context, { args, flags }) =>
  withRecords(context, flags, (records) => {
    if (!context.json) for (const text of behindText(records, flags.file !== undefined)) context.note(`note: ${text}`)
    refuseUnknownRun(records, context, flags)
    const all = search(records.index, { callId: args.call, run: flags.run, type: 'all', order: 'oldest' })
    const entry = all.findLast(({ type }) => type === 'tool_call')
    if (entry === undefined)
      throw new HeimdallError('CALL_NOT_FOUND', `no call has the id ${printable(args.call)}`, {
        hint: 'heimdall events query shows those that are there',
      })
    const decision = objectIn(records.lines.eventsOf(entry).decision, 'decision')
    const call = callFacts(entry, records.lines.eventsOf(entry))
    const events = all
      .filter(({ record }) => record === entry.record)
      .flatMap((one) => records.lines.linesOf(one))
      .map((line) => JSON.parse(line) as EventObject)
    const next = nextCalls(records, entry, call, decision)
    return { data: { call, decision: decision ?? null, events, next }, text: textOf(call, decision, events, next) }
  })

function textOf(
  call: IndexedCall,
  decision: EventObject | undefined,
  events: readonly EventObject[],
  next: readonly NextCall[],
): string {
  const hint = objectIn(decision, 'hint')
  const policy = objectIn(decision, 'policy')
  const backoff = decision?.['backoff_ms']
  const rows: (readonly [string, string | null])[] = [
    ['call', `${toolOf(call)}, ${call.call_id}`],
    ['run', `${call.run_id}, call ${call.seq ?? '?'}, at ${call.ts}`],
    ['agent', call.agent_id],
    ['arguments', call.args_preview ?? (call.truncated === true ? 'too large to be shown' : null)],
    [
      'decision',
      call.decision === null
        ? 'not on record'
        : `${call.decision}${call.enforced === false ? ', only watched: the call went on' : ''}`,
    ],
    ['rule', call.rule_id ?? (call.decision === null ? null : 'none')],
    ['reason', call.reason_code === null ? null : `${call.reason_code}: ${call.summary ?? ''}`],
    ...countersOf(decision).map((text) => ['counter', text] as const),
    ['wait', typeof backoff === 'number' ? `${backoff} ms` : null],
    ['hint', call.hint_text],
    [
      'suggested',
      hint?.['suggested_args'] === undefined || hint['suggested_args'] === null
        ? null
        : JSON.stringify(hint['suggested_args']),
    ],
    ['advice', textIn(hint, 'retry_advice')],
    ['ends run', textIn(objectIn(decision, 'terminate'), 'terminate_message')],
    [
      'policy',
      policy === undefined
        ? null
        : `${textIn(policy, 'policy_id') ?? '?'} ${textIn(policy, 'policy_version') ?? ''}, ${textIn(policy, 'policy_hash')?.slice(0, 12) ?? ''}`,
    ],
    ['outcome', outcomeOf(call)],
    ['result', call.result_preview],
    ...events
      .filter(({ type }) => !String(type).startsWith('tool_call_') && type !== 'hint_issued')
      .map((event) => ['also', `${String(event['type'])} at ${textIn(event, 'ts') ?? '?'}`] as const),
    ...(next.length === 0
      ? [['next', 'nothing more of this agent in the run'] as const]
      : next.map((one) => ['next', nextText(one)] as const)),
  ]
  return rows
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name.padEnd(9)} ${escapeControls(value ?? '')}`)
    .join('\n')
}

function countersOf(decision: EventObject | undefined): string[] {
  const counters = decision?.['counters']
  if (!Array.isArray(counters)) return []
  return counters.map(
    (one: EventObject) =>
      `${String(one['counter'])} of ${String(one['rule_id'])}: ${String(one['before'])} before, ${String(one['after'])} after, limit ${String(one['limit'])}`,
  )
}

function outcomeOf({ status, latency_ms, error, bytes_out }: IndexedCall): string {
  if (status === null) return 'not ended, or its end is not on record'
  const message = textIn(error ?? undefined, 'message')
  return `${status} after ${latency_ms ?? '?'} ms, ${bytes_out ?? '?'} bytes${message === null ? '' : `: ${message}`}`
}

function nextText(call: NextCall): string {
  const { ts, follows, decision, status, call_id } = call
  return `${ts}  ${FOLLOWS[follows]}${follows === 'other_tool' ? `, ${toolOf(call)}` : ''}: ${decision ?? '?'} ${status ?? ''}  ${call_id ?? ''}`
}
