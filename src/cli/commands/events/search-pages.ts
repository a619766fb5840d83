// What an export is made of: everything that a search finds, some at a time.
import { EXPORT_PAGE } from '../../../limits.ts'
import { type IndexEntry, search, type Search } from '../../../runs/index/search.ts'
import type { Records } from './records.ts'

/** What only calls have leaves the other events out. */
export function typeFor(flags: Readonly<Record<string, unknown>>): string | undefined {
  const ofCalls = ['server', 'tool', 'decision', 'rule', 'reason', 'status', 'text']
  return ofCalls.some((name) => flags[name] !== undefined) ? undefined : 'all'
}

/** What goes to a slow reader need not be in memory. */
export function* pages({ index }: Records, wanted: Search): Generator<readonly IndexEntry[]> {
  for (let after: IndexEntry | undefined; ;) {
    const page = search(index, { ...wanted, after, limit: EXPORT_PAGE })
    if (page.length === 0) return
    yield page
    after = page.at(-1)
  }
}
