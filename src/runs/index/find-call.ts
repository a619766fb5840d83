// Finds recorded calls by id or by the beginning of an id, with the decision on each and the counters it was made with.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { INDEX_CATCH_UP_MS } from '../../limits.ts'
import { recordPath } from '../run-log.ts'
import { callFacts, type IndexedCall, objectIn } from './call-facts.ts'
import { catchUp } from './catch-up.ts'
import { EntryLines, type EventObject } from './entry-lines.ts'
import { indexPath, openIndexToRead, type RunIndex } from './run-index.ts'
import { search } from './search.ts'

export interface DecidedCall {
  readonly call: IndexedCall
  /** As recorded; null where the decision is not in the record. */
  readonly decision: EventObject | null
}

interface Runs {
  readonly runsDir: string
  readonly clock: Clock
  readonly note: (line: string) => void
}

/** The call with this id, else calls whose ids begin with it, at most `limit`. */
export async function findCalls({ runsDir, clock, note }: Runs, id: string, limit: number): Promise<DecidedCall[]> {
  if (!existsSync(runsDir)) return []
  try {
    await catchUp({ runsDir, clock, note, forMs: INDEX_CATCH_UP_MS })
  } catch (error) {
    if (!(error instanceof HeimdallError) || !['STORE_FULL', 'STORE_UNREADABLE'].includes(error.code)) throw error
    note(`warning: the run index cannot be brought up to date: ${error.message}`)
  }
  const index = openIndexToRead(indexPath(runsDir))
  if (index === undefined) return []
  const lines = new EntryLines((record) => recordPath(join(runsDir, record)))
  try {
    const exact = callIn(index, lines, id)
    if (exact !== undefined) return [exact]
    return idsBeginningWith(index, id, limit).flatMap((one) => callIn(index, lines, one) ?? [])
  } finally {
    lines.close()
    index.close()
  }
}

function callIn(index: RunIndex, lines: EntryLines, callId: string): DecidedCall | undefined {
  const entry = search(index, { callId, type: 'all', order: 'oldest' }).findLast(({ type }) => type === 'tool_call')
  if (entry === undefined) return undefined
  const events = lines.eventsOf(entry)
  return { call: callFacts(entry, events), decision: objectIn(events.decision, 'decision') ?? null }
}

function idsBeginningWith(index: RunIndex, prefix: string, limit: number): string[] {
  // As a range, so that the index on ids serves it; no id has a character past the last code point.
  const sql = 'SELECT DISTINCT call_id FROM entries WHERE call_id >= ? AND call_id < ? ORDER BY call_id LIMIT ?'
  const rows = index.db.prepare(sql).all(prefix, `${prefix}\u{10FFFF}`, limit) as { call_id: string }[]
  return rows.map(({ call_id }) => call_id)
}
