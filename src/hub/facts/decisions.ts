// Decisions: calls by what is known of them, how many of each there are, and one of them whole with what the agent did next.
import { iso } from '../../coordination/moment.ts'
import { HeimdallError } from '../../errors.ts'
import { HUB_ROWS_MAX } from '../../limits.ts'
import { callFacts, objectIn, textIn } from '../../runs/index/call-facts.ts'
import { FOLLOWS, nextCalls } from '../../runs/index/next-calls.ts'
import { type IndexEntry, search, type Search } from '../../runs/index/search.ts'
import { decisionWord, type Call, type CallReply, type DecisionsReply, type DecisionWord } from '../contract.ts'
import type { z } from 'zod'
import type { decisionsQuery } from '../contract.ts'
import type { OpenBook } from './call-book.ts'
import { callOf, decisionOf, decisionWordOf } from './calls.ts'
import type { RunsOfProject } from './run-project.ts'

type Query = z.infer<typeof decisionsQuery>

/** How many are looked at to find those of one project among those of all. */
const LOOKED_AT_MAX = 20_000

export function decisions(book: OpenBook, runs: RunsOfProject, query: Query): Omit<DecisionsReply, 'at'> {
  const wanted = searchOf(query)
  const found: IndexEntry[] = []
  let after = placeIn(query.before)
  let looked = 0
  let isEnd = false
  while (found.length < query.limit && looked < LOOKED_AT_MAX && !isEnd) {
    const some = search(book.index, { ...wanted, after, limit: query.limit })
    looked += some.length
    isEnd = some.length < query.limit
    const last = some.at(-1)
    if (last !== undefined) after = { id: last.id, atMs: last.atMs }
    found.push(...some.filter((entry) => runs.has(entry.record) && isUndecidedOrNot(entry, query.decision)))
  }
  const shown = found.slice(0, query.limit)
  const last = shown.at(-1)
  const { counts, sinceMs } = countsOf(book, runs, { ...query, decision: undefined })
  const later = new Set<string>()
  return {
    since: query.since ?? (sinceMs === undefined ? null : iso(sinceMs)),
    counts,
    calls: shown.map((entry) => {
      const next = nextOf(book, entry) ?? wentOn(book, entry, later.has(entry.runId))
      later.add(entry.runId)
      return callOf(entry, book, next)
    }),
    next: last === undefined || (isEnd && shown.length === found.length) ? null : `${last.atMs}.${last.id}`,
  }
}

function searchOf({ agent, run, rule, decision, text, since, until }: Query): Search {
  return {
    agent,
    run,
    rule,
    text,
    decision: decision === undefined ? undefined : decisionOf(decision),
    sinceMs: since === undefined ? undefined : Date.parse(since),
    untilMs: until === undefined ? undefined : Date.parse(until),
    order: 'newest',
  }
}

const isUndecidedOrNot = ({ decision }: IndexEntry, wanted: DecisionWord | undefined): boolean =>
  wanted !== 'undecided' || decision === null

function placeIn(before: string | undefined): Search['after'] {
  const [, atMs, id] = /^(\d{1,16})\.(\d{1,16})$/.exec(before ?? '') ?? []
  return atMs === undefined || id === undefined ? undefined : { atMs: Number(atMs), id: Number(id) }
}

/** With the time of the oldest that is counted. */
function countsOf(
  book: OpenBook,
  runs: RunsOfProject,
  query: Query,
): { readonly counts: DecisionsReply['counts']; readonly sinceMs: number | undefined } {
  const counts = Object.fromEntries(decisionWord.options.map((word) => [word, 0])) as Record<DecisionWord, number>
  let sinceMs: number | undefined
  for (const { record, decision, atMs } of search(book.index, { ...searchOf(query), limit: LOOKED_AT_MAX })) {
    if (!runs.has(record)) continue
    counts[decisionWordOf(decision)] += 1
    sinceMs = atMs
  }
  return { counts, sinceMs }
}

/** Of one that was allowed: whether its run has called anything since, or is over. */
function wentOn({ index }: OpenBook, { runId: run, atMs }: IndexEntry, isKnown: boolean): Call['next'] {
  const isOn = isKnown || search(index, { run, sinceMs: atMs + 1, order: 'oldest', limit: 1 }).length > 0
  const said = { at: null, after_ms: null, call_id: null }
  if (isOn) return { ...said, text: 'went on', source: 'later calls of the same run' }
  const isOver = search(index, { run, type: 'run_end', order: 'newest', limit: 1 }).length > 0
  return isOver ? { ...said, text: 'the run ended', source: 'the record of the run' } : null
}

/** From the calls that came after it in the same run. Of one that was allowed nobody asks. */
function nextOf(book: OpenBook, entry: IndexEntry): Call['next'] {
  const word = decisionWordOf(entry.decision)
  if (word === 'allowed' || word === 'undecided') return null
  const events = book.lines.eventsOf(entry)
  const [next] = nextCalls(book, entry, callFacts(entry, events), objectIn(events.decision, 'decision'), 1)
  if (next === undefined)
    return {
      text: 'no call since',
      at: null,
      after_ms: null,
      call_id: null,
      source: 'the record of the run',
    }
  return {
    text:
      next.follows === 'other_tool'
        ? `called ${next.server_name ?? ''} ${next.tool_name ?? ''}`
        : FOLLOWS[next.follows],
    at: next.ts,
    after_ms: Math.max(0, Date.parse(next.ts) - entry.atMs),
    call_id: next.call_id,
    source: 'the next call of this agent in the record',
  }
}

export function oneCall(book: OpenBook, runs: RunsOfProject, run: string, callId: string): CallReply {
  const all = search(book.index, { run, callId, type: 'all', order: 'oldest' })
  const entry = all.findLast(({ type, record }) => type === 'tool_call' && runs.has(record))
  if (entry === undefined) throw new HeimdallError('CALL_NOT_FOUND', 'no call of this id is on record')
  const events = book.lines.eventsOf(entry)
  const facts = callFacts(entry, events)
  const decision = objectIn(events.decision, 'decision')
  const hint = objectIn(decision, 'hint')
  const policy = objectIn(decision, 'policy')
  const next = nextOf(book, entry)
  const following =
    next?.call_id === undefined || next.call_id === null
      ? undefined
      : search(book.index, { run, callId: next.call_id, order: 'newest', limit: 1 })[0]
  return {
    call: callOf(entry, book, next),
    number: facts.seq,
    args: parsed(facts.args_preview),
    summary: facts.summary,
    severity: facts.severity,
    hint:
      hint === undefined
        ? null
        : {
            text: facts.hint_text ?? '',
            suggested_args: hint['suggested_args'] ?? null,
            retry_advice: textIn(hint, 'retry_advice'),
          },
    result: facts.result_preview,
    policy:
      policy === undefined
        ? null
        : {
            name: textIn(policy, 'policy_id') ?? '',
            version: textIn(policy, 'policy_version') ?? '',
            mode: modeOf(book, run, textIn(policy, 'policy_hash')),
          },
    next: following === undefined ? null : callOf(following, book),
    command: `heimdall events show ${callId} --run ${run}`,
  }
}

/** As the run said when it began, or when its policy changed; a decision names only the policy. */
function modeOf(book: OpenBook, run: string, hash: string | null): string | null {
  for (const type of ['run_start', 'policy_loaded'])
    for (const entry of search(book.index, { run, type, order: 'oldest', limit: HUB_ROWS_MAX })) {
      const { first } = book.lines.eventsOf(entry)
      const said = type === 'run_start' ? objectIn(first, 'run') : first
      if (textIn(objectIn(said, 'policy'), 'policy_hash') === hash) return textIn(said, 'mode')
    }
  return null
}

/** A preview is cut, and then it is text. */
function parsed(preview: string | null): unknown {
  if (preview === null) return null
  try {
    return JSON.parse(preview)
  } catch (error) {
    if (error instanceof SyntaxError) return preview
    throw error
  }
}
