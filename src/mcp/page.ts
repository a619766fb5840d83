// Long lists in pages that cost no more tokens than the reader allows.
import { measure } from '../briefing/tokens.ts'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { MCP_PAGE_TOKENS, MCP_PAGE_TOKENS_MAX } from '../limits.ts'

export interface PageOptions<T> {
  /** The key of the last item that was seen. */
  readonly cursor: string | undefined
  readonly maxTokens: number | undefined
  /** Unique, and it stays with the item: a list that changes between two pages skips and repeats nothing. */
  readonly keyOf: (item: T) => string
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Goes into the result as it is: empty on the last page. */
  readonly next: { readonly next_cursor?: string; readonly left?: number }
}

/** At least one item, so that reading on always gets somewhere. */
export function page<T>(all: readonly T[], { cursor, maxTokens, keyOf }: PageOptions<T>): Page<T> {
  const budget = Math.min(maxTokens ?? MCP_PAGE_TOKENS, MCP_PAGE_TOKENS_MAX)
  const start = cursor === undefined ? 0 : all.findIndex((item) => keyOf(item) === cursor) + 1
  if (cursor !== undefined && start === 0)
    throw new HeimdallError(
      'MCP_ARGUMENTS_INVALID',
      `cursor ${printable(cursor)} is not of this list, or its entry is gone`,
      {
        hint: 'start again without a cursor',
      },
    )
  const rest = all.slice(start)
  const count = fitting(rest, budget)
  const items = rest.slice(0, count)
  const last = items.at(-1)
  const left = rest.length - count
  return { items, next: left > 0 && last !== undefined ? { next_cursor: keyOf(last), left } : {} }
}

function fitting(items: readonly unknown[], budget: number): number {
  const texts = items.map((item) => JSON.stringify(item))
  // A token is at least a byte, so what is this small fits without counting: the tokenizer takes long to load.
  if (texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) <= budget) return items.length
  let spent = 0
  for (const [i, text] of texts.entries()) {
    spent += measure(text).tokens
    if (spent > budget) return Math.max(1, i)
  }
  return items.length
}
