// Refused calls of an agent as rows of its conversation: which call, by which rule, and what the agent did next.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Call, ConversationRow } from '../../../src/hub/contract.ts'
import { argumentsLine } from '../components/format.ts'
import { decisionWord } from '../components/words.ts'
import { latestCallsQuery } from '../data/queries.ts'

/** The complete list is on the Decisions screen. */
const REFUSALS_MAX = 50

export function useRefusals(agent: string): readonly ConversationRow[] {
  const refused = useQuery(latestCallsQuery(agent, REFUSALS_MAX, 'refused_with_hint'))
  const blocked = useQuery(latestCallsQuery(agent, REFUSALS_MAX, 'blocked'))
  return useMemo(
    () => [...(refused.data?.calls ?? []), ...(blocked.data?.calls ?? [])].map(rowOf),
    [refused.data, blocked.data],
  )
}

function rowOf(call: Call): ConversationRow {
  const ref = `${call.run_id}/${call.call_id}`
  const why = [call.rule === null ? null : `rule ${call.rule}`, call.reason].filter((part) => part !== null).join(': ')
  const then = call.next === null ? null : `then ${call.next.text}`
  return {
    row_id: ref,
    at: call.at,
    kind: 'decision',
    label: decisionWord(call).word,
    actor: call.agent_id,
    actor_kind: 'agent',
    to: null,
    task: null,
    scope: null,
    text: `${call.server ?? ''} · ${call.tool ?? ''} ${argumentsLine(call.args)}`,
    detail: [why, then].filter((part) => part !== null && part !== '').join('; ') || null,
    note: null,
    liveness: null,
    event_type: 'call',
    event_id: ref,
  }
}
