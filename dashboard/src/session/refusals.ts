// Calls of an agent that were refused, as rows of its conversation: what, by which rule, and what it did then.
import { useMemo } from 'react'
import type { Call, ConversationRow, DecisionsReply } from '../../../src/hub/contract.ts'
import { useHub, useOnLog } from '../live/hooks.ts'
import { argumentsLine } from '../parts/format.ts'
import { decisionWord } from '../parts/words.ts'

/** The last ones: a conversation is no record. */
const LAST = 50

export function useRefusals(agent: string): readonly ConversationRow[] {
  const refused = useHub<DecisionsReply>('decisions', { agent, decision: 'refused_with_hint', limit: LAST })
  const blocked = useHub<DecisionsReply>('decisions', { agent, decision: 'blocked', limit: LAST })
  useOnLog(
    ({ calls }) => calls.some(({ agent_id }) => agent_id === agent),
    () => {
      refused.reload()
      blocked.reload()
    },
  )
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
