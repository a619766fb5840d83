// What an agent did after a call: its next ones in the run, and how each follows from what was decided.
import { canonicalHash } from '../../canonical/canonical.ts'
import { HeimdallError } from '../../errors.ts'
import { CALLS_AFTER } from '../../limits.ts'
import { type IndexedCall, callFacts, objectIn } from './call-facts.ts'
import type { EntryLines, EventObject } from './entry-lines.ts'
import type { RunIndex } from './run-index.ts'
import { type IndexEntry, search } from './search.ts'

export interface NextCall extends IndexedCall {
  readonly follows: 'took_suggestion' | 'same_arguments' | 'same_tool' | 'other_tool'
}

export const FOLLOWS: Readonly<Record<NextCall['follows'], string>> = {
  took_suggestion: 'took the suggested arguments',
  same_arguments: 'made the same call again',
  same_tool: 'called it with other arguments',
  other_tool: 'called another tool',
}

export function nextCalls(
  { index, lines }: { readonly index: RunIndex; readonly lines: EntryLines },
  entry: IndexEntry,
  call: IndexedCall,
  decision: EventObject | undefined,
  limit = CALLS_AFTER,
): NextCall[] {
  const { runId: run, agent } = entry
  const later = search(index, { run, ...(agent === null ? {} : { agent }), after: entry, order: 'oldest', limit })
  const suggested = objectIn(objectIn(decision, 'hint'), 'suggested_args')
  const suggestedHash = suggested === undefined ? null : hashOf(suggested)
  return later.map((one) => {
    const facts = callFacts(one, lines.eventsOf(one))
    return { ...facts, follows: followsBy(call, facts, suggestedHash) }
  })
}

/** Null for what has no canonical form, and so cannot have been the arguments of a call. */
function hashOf(suggested: EventObject): string | null {
  try {
    return canonicalHash(JSON.stringify(suggested))
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return null
  }
}

function followsBy(call: IndexedCall, next: IndexedCall, suggestedHash: string | null): NextCall['follows'] {
  if (next.server_name !== call.server_name || next.tool_name !== call.tool_name) return 'other_tool'
  if (next.args_hash !== null && next.args_hash === suggestedHash) return 'took_suggestion'
  return next.args_hash === call.args_hash ? 'same_arguments' : 'same_tool'
}
