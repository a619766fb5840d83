// An event as one line for people.
import { type EventObject } from '../../../runs/index/entry-lines.ts'
import { numberIn, objectIn, textIn } from '../../../runs/index/call-facts.ts'

/** Unescaped: whoever prints it takes care of what a terminal obeys. */
export function eventLine(event: EventObject): string {
  const time = textIn(event, 'ts') ?? '-'
  const who = textIn(event, 'agent_id') ?? '-'
  return [time, textIn(event, 'run_id') ?? '-', who, whatOf(event)].join('  ')
}

function whatOf(event: EventObject): string {
  const type = textIn(event, 'type') ?? '?'
  const call = objectIn(event, 'call')
  const tool = call === undefined ? '' : `${textIn(call, 'server_name') ?? '?'}/${textIn(call, 'tool_name') ?? '?'}`
  switch (type) {
    case 'run_start': {
      const run = objectIn(event, 'run')
      return `run begins, ${textIn(run, 'mode') ?? '?'}, policy ${textIn(objectIn(run, 'policy'), 'policy_id') ?? '?'}`
    }
    case 'run_end': {
      const run = objectIn(event, 'run')
      const summary = objectIn(run, 'summary')
      return `run ends, ${textIn(run, 'status') ?? '?'}, ${numberIn(summary, 'calls_total') ?? '?'} calls, ${numberIn(summary, 'calls_blocked') ?? '?'} blocked`
    }
    case 'tool_call_start':
      return [`${tool} called`, textIn(objectIn(call, 'preview'), 'args_preview')]
        .filter((part) => part !== null)
        .join(' ')
    case 'tool_call_decision':
      return `${tool} ${decisionOf(objectIn(event, 'decision'))}`
    case 'tool_call_end':
      return `${tool} ${endOf(event)}`
    default:
      return `${type}${tool === '' ? '' : ` ${tool}`} ${restOf(event)}`
  }
}

function decisionOf(decision: EventObject | undefined): string {
  const action = textIn(decision, 'action') ?? '?'
  if (action === 'ALLOW') return action
  const rule = textIn(decision, 'rule_id')
  const isWatched = decision?.['enforced'] === false
  return [
    `${action}${isWatched ? ' (watched)' : ''}`,
    rule === null ? null : `by ${rule}:`,
    textIn(objectIn(decision, 'explain'), 'summary'),
  ]
    .filter((part) => part !== null)
    .join(' ')
}

function endOf(event: EventObject): string {
  const latency = numberIn(event, 'latency_ms')
  const error = textIn(objectIn(event, 'error'), 'message')
  return [textIn(event, 'status') ?? '?', latency === null ? null : `in ${latency} ms`, error]
    .filter((part) => part !== null)
    .join(' ')
}

const ENVELOPE = new Set([
  'v',
  'type',
  'ts',
  'run_id',
  'agent_id',
  'client',
  'env',
  'source',
  'principal',
  'workload',
  'haid',
  'session_id',
  'call',
])

function restOf(event: EventObject): string {
  return JSON.stringify(Object.fromEntries(Object.entries(event).filter(([key]) => !ENVELOPE.has(key))))
}
