// Waits that are over: when, after how long, and how that came. From what keepers and shims have put on record.
import { HUB_ANSWERED_MS, HUB_ROWS_MAX } from '../../limits.ts'
import { numberIn, objectIn, textIn } from '../../runs/index/call-facts.ts'
import { type IndexEntry, search } from '../../runs/index/search.ts'
import { kindOf } from '../../spine/fleet/wait-kind.ts'
import { oneLine } from '../../spine/fleet/plain-words.ts'
import type { AnsweredWait, WaitsReply } from '../contract.ts'
import type { OpenBook } from './call-book.ts'
import type { RunsOfProject } from './run-project.ts'
import { kindWord } from './wait-cards.ts'

type Answered = Pick<WaitsReply, 'answered' | 'answered_count' | 'answered_since' | 'median_answer_ms'>

export const NOTHING_ANSWERED: Answered = {
  answered: [],
  answered_count: 0,
  answered_since: null,
  median_answer_ms: null,
}

/** Of a working day; the newest first. */
export function answeredWaits(book: OpenBook, runs: RunsOfProject, nowMs: number): Answered {
  const sinceMs = nowMs - HUB_ANSWERED_MS
  const of = (type: string): IndexEntry[] =>
    search(book.index, { type, sinceMs, order: 'newest', limit: HUB_ROWS_MAX }).filter(({ record }) => runs.has(record))
  const all = [
    ...of('wait_end').map((entry) => endedWait(book, entry)),
    ...of('approval_decided').map((entry) => decided(book, entry)),
  ].toSorted((a, b) => (a.at < b.at ? 1 : -1))
  const times = all.flatMap(({ waited_ms: ms }) => ms ?? []).toSorted((a, b) => a - b)
  return {
    answered: all.slice(0, SHOWN),
    answered_count: all.length,
    answered_since: all.length === 0 ? null : new Date(sinceMs).toISOString(),
    median_answer_ms: times[Math.floor(times.length / 2)] ?? null,
  }
}

const SHOWN = 50

function endedWait(book: OpenBook, entry: IndexEntry): AnsweredWait {
  const body = objectIn(book.lines.eventsOf(entry).first, 'wait')
  return {
    wait_id: textIn(body, 'wait_id') ?? '',
    agent_id: entry.agent ?? '',
    kind: kindWord(kindOf(textIn(body, 'evidence'))),
    outcome: outcomeOf(textIn(body, 'answer') ?? '', textIn(body, 'answered_by')),
    at: new Date(entry.atMs).toISOString(),
    waited_ms: numberIn(body, 'waited_ms'),
  }
}

/** In the words of whoever kept the run, read as a sentence about the agent. */
function outcomeOf(answer: string, by: string | null): string {
  if (by !== null) return oneLine(`${answer.charAt(0).toUpperCase()}${answer.slice(1)}, by ${by}`)
  switch (answer) {
    case 'somebody typed':
      return 'Somebody typed into its session'
    case 'it asked something else':
      return 'Asked something else'
    case '':
    case 'it went on':
      return 'Went on by itself'
    default:
      return oneLine(`Went on, seen by ${answer}`)
  }
}

function decided(book: OpenBook, entry: IndexEntry): AnsweredWait {
  const body = objectIn(book.lines.eventsOf(entry).first, 'approval')
  const isAllowed = textIn(body, 'answer') === 'allow'
  return {
    wait_id: textIn(body, 'id') ?? '',
    agent_id: entry.agent ?? '',
    kind: 'permission',
    outcome: oneLine(
      `${isAllowed ? 'Allowed' : 'Denied'}, ${textIn(body, 'lasts') ?? ''}, by ${textIn(body, 'decided_by') ?? ''}`,
    ),
    at: new Date(entry.atMs).toISOString(),
    waited_ms: null,
  }
}
