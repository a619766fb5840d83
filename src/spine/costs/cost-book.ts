// What the models of a run have cost: each message booked once, however often it is read, by whichever watcher.
import type { TokenCounts } from '../../token-counts.ts'
import type { Transcript } from '../../hosts/usage/transcript-places.ts'
import { PRICES_DATE, usdOf } from '../../hosts/usage/prices.ts'
import {
  COUNTS,
  isNothing,
  type MessageUsage,
  minusTokens,
  NO_TOKENS,
  plusTokens,
  type SessionTotal,
  type TranscriptFacts,
} from '../../hosts/usage/usage.ts'
import type { ModelUsage, UsageTotal } from '../../runs/owned-run.ts'

/** Where a message was found. */
interface Found {
  readonly transcript: Transcript
  readonly facts: TranscriptFacts
}

interface Entry {
  readonly model: string | null
  readonly tokens: TokenCounts
}

/** A session by its own count, and what its messages have told of it. */
interface SessionCount {
  /** Sums of all messages, for each model. */
  readonly told: Map<string, TokenCounts>
  /** Sums of those from before the run. */
  readonly before: Map<string, TokenCounts>
  atStart: SessionTotal | undefined
  now: SessionTotal | undefined
  found: Found
}

/** In place of the id of a message. */
const UNREAD = 'lines that were not understood'

export class CostBook {
  readonly #sinceMs: number
  readonly #put: (usage: ModelUsage) => void
  readonly #entries = new Map<string, Entry>()
  /** What each message told last, also those from before the run. */
  readonly #told = new Map<string, TokenCounts>()
  readonly #sessions = new Map<string, SessionCount>()
  #total: UsageTotal = { messages: 0, tokens: NO_TOKENS, usd: 0, unpriced: [], unread: 0, prices: PRICES_DATE }

  #saidUnread = 0

  /** Messages from before `sinceMs` are another run's: a session can be resumed. */
  constructor(sinceMs: number, put: (usage: ModelUsage) => void) {
    this.#sinceMs = sinceMs
    this.#put = put
  }

  get total(): UsageTotal {
    return this.#total
  }

  /** A booking that stands in the record already. */
  restore({ host, message_id: id, model, tokens, total }: ModelUsage): void {
    const key = `${host} ${id}`
    this.#entries.set(key, { model, tokens: plusTokens(this.#entries.get(key)?.tokens ?? NO_TOKENS, tokens) })
    this.#total = total
    this.#saidUnread = total.unread
  }

  /** Lines that could not be understood, so far. They are in no sum, and the sums say so. */
  unread(count: number): void {
    if (count > this.#total.unread) this.#total = { ...this.#total, unread: count }
  }

  message(usage: MessageUsage, found: Found): void {
    const key = `${found.transcript.host} ${usage.id}`
    const isOlder = usage.atMs !== null && usage.atMs < this.#sinceMs && !this.#entries.has(key)
    this.#tell(usage, found, isOlder, this.#told.get(key) ?? NO_TOKENS)
    this.#told.set(key, usage.tokens)
    if (!isOlder) this.#book(usage, found)
  }

  /** `atMs`: when the line before it was written; the line itself does not say. */
  count(total: SessionTotal, found: Found, atMs: number | null): void {
    const session = this.#session(found)
    if (atMs !== null && atMs < this.#sinceMs) session.atStart = total
    session.now = total
    session.found = found
  }

  /** What hosts have counted beyond their messages: titles, summaries. Asked when all transcripts were read to their ends. */
  settle(): void {
    for (const { told, before, atStart, now, found } of this.#sessions.values())
      for (const [model, all] of now?.totals ?? []) {
        const untold = atLeastNothing(minusTokens(all, told.get(model) ?? NO_TOKENS))
        const then = minusTokens(atStart?.totals.get(model) ?? NO_TOKENS, before.get(model) ?? NO_TOKENS)
        const tokens = atLeastNothing(minusTokens(untold, atLeastNothing(then)))
        const id = `${sessionOf(found) ?? ''} ${model} beside its messages`
        const key = `${found.transcript.host} ${id}`
        if (isNothing(tokens) && !this.#entries.has(key)) continue
        this.#book({ id, model, atMs: null, tokens }, found)
      }
  }

  /** A booking of nothing, where lines were not understood and no sum has said so yet. */
  sayUnread(found: Found): void {
    if (this.#total.unread === this.#saidUnread) return
    this.#enter({ id: UNREAD, model: null, atMs: null, tokens: NO_TOKENS }, found, { usd: 0, isCorrection: false })
  }

  #session(found: Found): SessionCount {
    const key = `${found.transcript.host} ${sessionOf(found) ?? ''}`
    const known = this.#sessions.get(key)
    if (known !== undefined) return known
    const session = { told: new Map(), before: new Map(), atStart: undefined, now: undefined, found }
    this.#sessions.set(key, session)
    return session
  }

  /** For the count of the session: each message with what it told last. */
  #tell({ model, tokens }: MessageUsage, found: Found, isOlder: boolean, had: TokenCounts): void {
    if (model === null) return
    const { told, before } = this.#session(found)
    const more = minusTokens(tokens, had)
    told.set(model, plusTokens(told.get(model) ?? NO_TOKENS, more))
    if (isOlder) before.set(model, plusTokens(before.get(model) ?? NO_TOKENS, more))
  }

  #book({ id, model, atMs, tokens }: MessageUsage, { transcript, facts }: Found): void {
    const had = this.#entries.get(`${transcript.host} ${id}`)
    const more = minusTokens(tokens, had?.tokens ?? NO_TOKENS)
    if (had !== undefined && isNothing(more)) return
    this.#entries.set(`${transcript.host} ${id}`, { model, tokens })
    const usd = usdOf(model, tokens)
    const moreUsd = usd === undefined ? undefined : usd - (had === undefined ? 0 : (usdOf(had.model, had.tokens) ?? 0))
    this.#total = this.#plus(model, more, moreUsd, had === undefined)
    this.#enter(
      { id, model, atMs, tokens: more },
      { transcript, facts },
      { usd: moreUsd, isCorrection: had !== undefined },
    )
  }

  #enter(
    { id, model, atMs, tokens }: MessageUsage,
    { transcript, facts }: Found,
    { usd, isCorrection }: { readonly usd: number | undefined; readonly isCorrection: boolean },
  ): void {
    this.#saidUnread = this.#total.unread
    this.#put({
      source: 'runtime',
      host: transcript.host,
      host_version: facts.version,
      host_session: sessionOf({ transcript, facts }),
      is_subagent: isSubagent(transcript, facts),
      message_id: id,
      model,
      said_at: atMs === null ? null : new Date(atMs).toISOString(),
      tokens,
      usd: usd === undefined ? null : rounded(usd),
      is_correction: isCorrection,
      total: this.#total,
    })
  }

  #plus(model: string | null, more: TokenCounts, usd: number | undefined, isNew: boolean): UsageTotal {
    const { messages, tokens, usd: sum, unpriced } = this.#total
    const name = model ?? 'unknown'
    return {
      ...this.#total,
      messages: messages + (isNew ? 1 : 0),
      tokens: plusTokens(tokens, more),
      usd: rounded(sum + (usd ?? 0)),
      unpriced: usd !== undefined || unpriced.includes(name) ? unpriced : [...unpriced, name],
    }
  }
}

/** A subagent's file lies with its session's, whose name it has from its place. */
export const sessionOf = ({ transcript, facts }: Found): string | null => transcript.session ?? facts.session

const atLeastNothing = (tokens: TokenCounts): TokenCounts =>
  COUNTS.some((name) => tokens[name] < 0)
    ? (Object.fromEntries(COUNTS.map((name) => [name, Math.max(0, tokens[name])])) as unknown as TokenCounts)
    : tokens

/** A billionth of a dollar is less than any token costs. */
const rounded = (usd: number): number => Math.round(usd * 1e9) / 1e9

/** By its place; and Codex's have a thread of their own in their parent's session. */
const isSubagent = ({ path, session }: Transcript, facts: TranscriptFacts): boolean =>
  facts.isSubagent || (session !== null && !path.endsWith(`${session}.jsonl`))
