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
export function page<T>(all: readonly T[], options: PageOptions<T>): Page<T> {
  return pageOf(all, options, (item) => item)
}

/** The same for items that are made one by one, only as many as fit. */
export function pageOf<T, U>(
  all: readonly T[],
  { cursor, maxTokens, keyOf }: PageOptions<T>,
  make: (item: T) => U,
): Page<U> {
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
  const items: U[] = []
  const texts: string[] = []
  let bytes = 0
  let tokens: number | undefined
  for (const item of rest) {
    const made = make(item)
    const text = JSON.stringify(made)
    bytes += Buffer.byteLength(text)
    texts.push(text)
    // A token is at least a byte, so what is this small fits without counting: the tokenizer takes long to load.
    if (bytes > budget) {
      tokens = tokens === undefined ? sum(texts) : tokens + measure(text).tokens
      if (tokens > budget && items.length > 0) break
    }
    items.push(made)
  }
  const last = rest[items.length - 1]
  const left = rest.length - items.length
  return { items, next: left > 0 && last !== undefined ? { next_cursor: keyOf(last), left } : {} }
}

const sum = (texts: readonly string[]): number => texts.reduce((total, text) => total + measure(text).tokens, 0)
