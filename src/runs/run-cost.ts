// What the models of a run have cost, from its record: every booking names the sum, so the last one is enough.
import fs from 'node:fs'
import type { ModelUsage, UsageTotal } from '../events/types.ts'
import { RECORD_LINE_BYTES_MAX } from '../limits.ts'
import type { TokenCounts } from '../token-counts.ts'
import { withRecord } from './read-fold.ts'
import { RecordReader } from './record-reader.ts'
import { parseObject } from './recorded-event.ts'

const NEWLINE = 0x0a
const MARK = '"type":"model_usage"'

/** All bookings of a run, in their order. */
export function bookedUsage(runDir: string): ModelUsage[] {
  return bookings(runDir).map(({ usage }) => usage)
}

/** The sum of what was booked since then; undefined where nothing was. Titles and summaries have no time of their own and count when they were booked. */
export function usedSince(runDir: string, sinceMs: number): UsageTotal | undefined {
  let sum: UsageTotal | undefined
  for (const { usage, atMs } of bookings(runDir)) {
    const saidMs = usage.said_at === null ? atMs : Date.parse(usage.said_at)
    if (!(saidMs >= sinceMs)) continue
    const { tokens, usd, model, is_correction: isCorrection, total } = usage
    const had = sum ?? { messages: 0, tokens: NO_TOKENS, usd: 0, unpriced: [] }
    sum = {
      messages: had.messages + (isCorrection || isNone(tokens) ? 0 : 1),
      tokens: plus(had.tokens, tokens),
      usd: had.usd + (usd ?? 0),
      unpriced: usd !== null || isNone(tokens) ? had.unpriced : [...new Set([...had.unpriced, model ?? 'unknown'])],
      unread: total.unread,
      prices: total.prices,
    }
  }
  return sum
}

const NO_TOKENS: TokenCounts = { input: 0, cached: 0, cache_write: 0, cache_write_1h: 0, output: 0, reasoning: 0 }

const isNone = ({ input, cached, cache_write: written, output }: TokenCounts): boolean =>
  input + cached + written + output === 0

function plus(a: TokenCounts, b: TokenCounts): TokenCounts {
  const names = Object.keys(NO_TOKENS) as (keyof TokenCounts)[]
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as TokenCounts
}

function bookings(runDir: string): { readonly usage: ModelUsage; readonly atMs: number }[] {
  const found: { usage: ModelUsage; atMs: number }[] = []
  const reader = new RecordReader(runDir)
  try {
    for (const { event, text } of reader.rest()) {
      if (event.type !== 'model_usage') continue
      const usage = usageIn(text)
      if (usage !== undefined) found.push({ usage, atMs: Date.parse(String(event.ts)) })
    }
    return found
  } finally {
    reader.close()
  }
}

/** The sum as it was booked last; nothing where no model of the run was heard of. Read from the end: records are long. */
export function costOf(runDir: string): UsageTotal | undefined {
  return withRecord(runDir, lastTotalIn)
}

function lastTotalIn(fd: number): UsageTotal | undefined {
  const block = Buffer.alloc(2 * RECORD_LINE_BYTES_MAX)
  for (let end = fs.fstatSync(fd).size; end > 0;) {
    const start = Math.max(0, end - block.length)
    const bytes = block.subarray(0, fs.readSync(fd, block, 0, end - start, start))
    const total = lastIn(bytes)
    if (total !== undefined) return total
    // A line that begins in one block and ends in the other is whole in the next.
    const next = start === 0 ? 0 : start + bytes.indexOf(NEWLINE) + 1
    if (next >= end) return undefined
    end = next
  }
  return undefined
}

function lastIn(bytes: Buffer): UsageTotal | undefined {
  for (let at = bytes.lastIndexOf(MARK); at !== -1; at = at === 0 ? -1 : bytes.lastIndexOf(MARK, at - 1)) {
    const from = bytes.lastIndexOf(NEWLINE, at) + 1
    const end = bytes.indexOf(NEWLINE, at)
    const usage = end === -1 ? undefined : usageIn(bytes.toString('utf8', from, end))
    if (usage !== undefined) return usage.total
  }
  return undefined
}

function usageIn(text: string): ModelUsage | undefined {
  const event: { readonly type?: unknown; readonly usage?: Partial<ModelUsage> } | undefined = parseObject(text)
  const { usage } = event ?? {}
  if (event?.type !== 'model_usage' || usage?.total === undefined || usage.tokens === undefined) return undefined
  return typeof usage.message_id === 'string' ? (usage as ModelUsage) : undefined
}
