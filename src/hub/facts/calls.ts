// Calls and what was decided of them, in the words of the contract.
import { callFacts, objectIn, textIn } from '../../runs/index/call-facts.ts'
import type { EventObject } from '../../runs/index/entry-lines.ts'
import type { IndexEntry } from '../../runs/index/search.ts'
import type { Call, DecisionWord } from '../contract.ts'
import type { OpenBook } from './call-book.ts'

const WORDS: Readonly<Record<string, DecisionWord>> = {
  ALLOW: 'allowed',
  REJECT_WITH_HINT: 'refused_with_hint',
  THROTTLE: 'throttled',
  BLOCK: 'blocked',
  TERMINATE_RUN: 'run_ended',
}

export const decisionWordOf = (decision: string | null): DecisionWord => WORDS[decision ?? ''] ?? 'undecided'

/** The word of a decision, as the record writes it. */
export function decisionOf(word: DecisionWord): string | undefined {
  return Object.keys(WORDS).find((name) => WORDS[name] === word)
}

export function callOf(entry: IndexEntry, { lines }: Pick<OpenBook, 'lines'>, next: Call['next'] = null): Call {
  const events = lines.eventsOf(entry)
  const facts = callFacts(entry, events)
  return {
    run_id: entry.runId,
    call_id: entry.callId ?? '',
    at: facts.ts,
    agent_id: facts.agent_id,
    server: facts.server_name,
    tool: facts.tool_name,
    args: facts.args_preview ?? '',
    decision: decisionWordOf(facts.decision),
    enforced: facts.enforced ?? true,
    rule: facts.rule_id,
    reason: facts.summary ?? facts.reason_code,
    counters: countersOf(objectIn(events.decision, 'decision')),
    status: facts.status,
    latency_ms: facts.latency_ms,
    next,
  }
}

function countersOf(decision: EventObject | undefined): Call['counters'] {
  const counters = decision?.['counters']
  if (!Array.isArray(counters)) return []
  return counters.map((one: EventObject) => ({
    name: `${textIn(one, 'counter') ?? ''} of ${textIn(one, 'rule_id') ?? ''}`,
    before: Number(one['before']),
    after: Number(one['after']),
    limit: typeof one['limit'] === 'number' ? one['limit'] : null,
  }))
}
