// Waits that are over: when, after how long, how that came, and how many of them were answered. From what the watcher and shims have recorded.
import { HUB_ANSWERED_MS, HUB_ROWS_MAX } from '../../limits.ts'
import { numberIn, objectIn, textIn } from '../../runs/index/call-facts.ts'
import { type IndexEntry, search } from '../../runs/index/search.ts'
import { oneLine } from '../../spine/fleet/plain-words.ts'
import { kindOf } from '../../spine/fleet/wait-kind.ts'
import type { AnsweredWait, WaitsReply } from '../contract.ts'
import type { OpenBook } from './call-book.ts'
import { becameOf } from './became-of.ts'
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
  const answered = all.filter(({ is_answer: isAnswer }) => isAnswer)
  const times = answered.flatMap(({ waited_ms: ms }) => ms ?? []).toSorted((a, b) => a - b)
  return {
    answered: all.slice(0, SHOWN),
    answered_count: answered.length,
    answered_since: answered.length === 0 ? null : new Date(sinceMs).toISOString(),
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
    ...becameOf({
      answer: textIn(body, 'answer') ?? '',
      by: textIn(body, 'answered_by'),
      endedBy: textIn(body, 'ended_by'),
    }),
    at: new Date(entry.atMs).toISOString(),
    waited_ms: numberIn(body, 'waited_ms'),
  }
}

function decided(book: OpenBook, entry: IndexEntry): AnsweredWait {
  const body = objectIn(book.lines.eventsOf(entry).first, 'approval')
  const isAllowed = textIn(body, 'answer') === 'allow'
  return {
    wait_id: textIn(body, 'id') ?? '',
    agent_id: entry.agent ?? '',
    kind: 'permission',
    is_answer: true,
    outcome: oneLine(
      `${isAllowed ? 'Allowed' : 'Denied'}, ${textIn(body, 'lasts') ?? ''}, by ${textIn(body, 'decided_by') ?? ''}`,
    ),
    at: new Date(entry.atMs).toISOString(),
    waited_ms: null,
  }
}
