// Runs, those that go on and those of yesterday, and the timeline of one: calls, decisions, waits, notes and claims on one axis.
import { basename } from 'node:path'
import type { Coordination } from '../../coordination/coordination.ts'
import { iso } from '../../coordination/moment.ts'
import { HUB_ROWS_MAX, HUB_TIMELINE_CALLS_AT_ONCE, HUB_TIMELINE_CALLS_MAX } from '../../limits.ts'
import { objectIn, textIn } from '../../runs/index/call-facts.ts'
import { search } from '../../runs/index/search.ts'
import { factsOf, type RunFacts } from '../../runs/run-facts.ts'
import { runFolders } from '../../runs/run-folder.ts'
import {
  type ConversationRow,
  decisionWord,
  type DecisionWord,
  type RunRow,
  type TimelineSpan,
  type TimelineReply,
} from '../contract.ts'
import type { OpenBook } from './call-book.ts'
import { CallSpans } from './call-spans.ts'
import { decisionWordOf } from './calls.ts'
import { rowsOf } from './conversation.ts'
import { folderOf } from './recorded-run.ts'
import { firstEvent } from '../../runs/run-project.ts'
import type { RunsOfProject } from './run-project.ts'
import { usageBars } from './usage-bars.ts'
import { spentOf } from './cards.ts'
import { apart, type RunSpan, type Waited, waitedIn, type WaitSpan, waitsOf } from './run-waits.ts'
import { costOf } from '../../spine/fleet/model-cost.ts'
import type { UnbookedWait } from '../../spine/fleet/unbooked-waits.ts'

/** What a run is for, by what its agent has begun in it. */
type TaskOf = (agent: string | null, startMs: number, endMs: number) => RunTask | null

interface RunTask {
  readonly id: string
  readonly title: string
}

export interface BesideRuns {
  readonly nowMs: number
  readonly room: Coordination | undefined
  /** Waits that stand in the store and in no record. */
  readonly unbooked: readonly UnbookedWait[]
}

interface RunsWish extends BesideRuns {
  readonly limit: number
}

/** Those that changed last first. */
export function runsOf(
  book: OpenBook,
  runsDir: string,
  runs: RunsOfProject,
  { limit, nowMs, room, unbooked }: RunsWish,
): RunRow[] {
  const taskOf = tasksBegun(room)
  const found: RunRow[] = []
  for (const folder of runFolders(runsDir).runs) {
    if (found.length >= limit) break
    if (!runs.has(basename(folder.runDir))) continue
    const facts = factsOf(folder)
    if (facts.run_id === null) continue
    const waits = waitsOf(book, facts.run_id, spanOf(facts, nowMs), unbooked)
    found.push(summaryOf(folder.runDir, facts, { waited: waitedIn(waits, nowMs), taskOf }))
  }
  return found
}

function summaryOf(
  runDir: string,
  facts: RunFacts,
  more: { waited: Waited; taskOf: TaskOf; decisions?: Record<DecisionWord, number> },
): RunRow {
  const { calls } = facts
  const start = startIn(runDir)
  const startedAt = facts.started_at ?? facts.changed_at
  const endMs = isOver(facts) ? Date.parse(facts.changed_at) : Number.POSITIVE_INFINITY
  return {
    run_id: facts.run_id ?? '',
    agent_id: facts.agent_id,
    task: start.task ?? more.taskOf(facts.agent_id, Date.parse(startedAt), endMs)?.title ?? null,
    status: facts.state === 'ended' ? facts.status : facts.state,
    mode: start.mode,
    started_at: startedAt,
    ended_at: isOver(facts) ? facts.changed_at : null,
    calls: calls.total,
    decisions: more.decisions ?? {
      ...none(),
      allowed: calls.allowed,
      blocked: calls.blocked,
      throttled: calls.throttled,
    },
    waited: more.waited,
    tokens: tokensOf(facts),
    session_id: facts.session_id,
  }
}

/** The last task that an agent began between two times. */
function tasksBegun(room: Coordination | undefined): TaskOf {
  if (room === undefined) return () => null
  const begun = room.store.read((rows) => rows.events({ types: ['TASK_START'], last: HUB_ROWS_MAX * 4 }))
  return (agent, startMs, endMs) => {
    const last = begun.findLast(
      ({ actor, wallMs }) => agent !== null && actor === agent && wallMs >= startMs && wallMs <= endMs,
    )
    if (last === undefined || last.task === null) return null
    const title = last.payload['title']
    return { id: last.task, title: typeof title === 'string' ? title : last.task }
  }
}

/** Of a run that is over, as its row among the runs says it. */
export function taskOfRun(room: Coordination | undefined, runDir: string, facts: RunFacts): RunTask | null {
  const { task } = startIn(runDir)
  if (task !== null) return { id: task, title: task }
  const startedAt = facts.started_at ?? facts.changed_at
  return tasksBegun(room)(facts.agent_id, Date.parse(startedAt), Date.parse(facts.changed_at))
}

/** What the first line says that it is for, and under which rule. */
function startIn(runDir: string): { readonly task: string | null; readonly mode: string | null } {
  const run = objectIn(firstEvent(runDir), 'run')
  return { task: textIn(objectIn(run, 'meta'), 'task'), mode: textIn(run, 'mode') }
}

const tokensOf = ({ cost, started_at: since }: RunFacts): RunRow['tokens'] =>
  cost === null ? null : spentOf(costOf(cost), since)

const none = (): Record<DecisionWord, number> =>
  Object.fromEntries(decisionWord.options.map((word) => [word, 0])) as Record<DecisionWord, number>

interface Range {
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
}

/** Nothing more comes of it, whether or not somebody has written its end. */
const isOver = ({ state }: RunFacts): boolean => state === 'ended' || state === 'lost'

/** Whose it is and from when to when: of one that goes on, to now. */
const spanOf = (facts: RunFacts, nowMs: number): RunSpan => ({
  agent: facts.agent_id,
  startMs: Date.parse(facts.started_at ?? facts.changed_at),
  endMs: isOver(facts) ? Date.parse(facts.changed_at) : nowMs,
  isOver: isOver(facts),
})

export function timeline(
  book: OpenBook,
  runsDir: string,
  runId: string,
  range: Range,
  { nowMs, room, unbooked }: BesideRuns,
): Omit<TimelineReply, 'at'> {
  const folder = folderOf(runsDir, runId)
  const facts = factsOf(folder)
  const span = spanOf(facts, nowMs)
  const { startMs, endMs } = span
  const fromMs = range.fromMs ?? startMs
  const toMs = range.toMs ?? endMs
  const { spans: calls, decisions, looked } = callsIn(book, runId, fromMs, toMs)
  const waits = waitsOf(book, runId, span, unbooked)
  const spans = [
    ...stateSpans(waits, startMs, endMs),
    ...calls,
    ...(room === undefined || facts.agent_id === null ? [] : coordinationSpans(room, facts.agent_id, startMs, endMs)),
  ].filter((span) => Date.parse(span.to ?? span.from) >= fromMs && Date.parse(span.from) <= toMs)
  return {
    run: summaryOf(folder.runDir, facts, {
      waited: waitedIn(waits, nowMs),
      taskOf: tasksBegun(room),
      decisions,
    }),
    from: iso(fromMs),
    to: iso(toMs),
    spans,
    left_out: looked < HUB_TIMELINE_CALLS_MAX ? 0 : Math.max(0, facts.calls.total - looked),
    tokens: usageBars(folder.runDir, fromMs, toMs),
    tokens_source: facts.cost === null ? null : 'transcripts of its host',
  }
}

/** Waits, and work in between. */
function stateSpans(waits: readonly WaitSpan[], startMs: number, endMs: number): TimelineSpan[] {
  const span = (kind: string, fromMs: number, toMs: number | null, label: string, ref: string): TimelineSpan => ({
    lane: 'state',
    track: 'state',
    from: iso(fromMs),
    to: toMs === null ? null : iso(toMs),
    kind,
    label,
    ref,
    count: 1,
  })
  const spans: TimelineSpan[] = []
  let atMs = startMs
  for (const { id, fromMs, toMs, text } of apart(waits)) {
    if (fromMs > atMs) spans.push(span('working', atMs, fromMs, 'working', ''))
    spans.push(span('waits', fromMs, toMs, text, id))
    atMs = toMs ?? endMs
  }
  if (endMs > atMs) spans.push(span('working', atMs, endMs, 'working', ''))
  return spans
}

interface CallsIn {
  readonly spans: readonly TimelineSpan[]
  readonly decisions: Record<DecisionWord, number>
  readonly looked: number
}

/** Read in parts, so that a long run takes the memory of its marks and not of its calls. */
function callsIn({ index }: OpenBook, run: string, fromMs: number, toMs: number): CallsIn {
  const marks = new CallSpans(fromMs, toMs)
  const decisions = none()
  const wanted = {
    run,
    sinceMs: fromMs,
    untilMs: toMs + 1,
    order: 'oldest',
    limit: HUB_TIMELINE_CALLS_AT_ONCE,
  } as const
  let looked = 0
  for (let some = search(index, wanted); some.length > 0 && looked < HUB_TIMELINE_CALLS_MAX;) {
    for (const entry of some) {
      marks.add(entry)
      decisions[decisionWordOf(entry.decision)] += 1
    }
    looked += some.length
    const { id, atMs } = some.at(-1) ?? { id: 0, atMs: 0 }
    some = some.length < HUB_TIMELINE_CALLS_AT_ONCE ? [] : search(index, { ...wanted, after: { id, atMs } })
  }
  return { spans: marks.spans(), decisions, looked }
}

/** What it is, to whom, and about what: `Needs input to ivory-lynx: the key expired`. */
function noteLabel({ kind, label, to, text }: ConversationRow): string {
  const whom = kind !== 'note' || to === null ? '' : label.endsWith(' to') ? ` ${to}` : ` to ${to}`
  return `${label}${whom}${text === '' ? '' : `: ${text}`}`
}

function coordinationSpans(room: Coordination, agent: string, startMs: number, endMs: number): TimelineSpan[] {
  return room.store.read((rows) => {
    const isWithin = (ms: number): boolean => ms >= startMs - 60_000 && ms <= endMs
    const events = rows.events({ agent, last: HUB_ROWS_MAX }).filter(({ wallMs }) => isWithin(wallMs))
    const notes = rowsOf(rows, events)
      .filter(({ kind }) => kind === 'note' || kind === 'incursion' || kind === 'resume')
      .map((row): TimelineSpan => ({
        lane: 'note',
        track: 'notes',
        from: row.at,
        to: null,
        kind: row.kind,
        label: noteLabel(row),
        ref: row.row_id,
        count: 1,
      }))
    const holder = rows.agentById(agent)?.haid
    const claims = (holder === undefined ? [] : rows.claims({ holder }))
      .filter(({ createdMs, endedMs }) => createdMs <= endMs && (endedMs ?? endMs) >= startMs)
      .map((claim): TimelineSpan => ({
        lane: 'claim',
        track: claim.scopes.map(({ raw }) => raw).join(' '),
        from: iso(Math.max(claim.createdMs, startMs)),
        to: claim.endedMs === null ? null : iso(claim.endedMs),
        kind: claim.state,
        label: `${claim.scopes.map(({ raw }) => raw).join(' ')} epoch ${claim.epoch}`,
        ref: claim.claimId,
        count: 1,
      }))
    return [...notes, ...claims]
  })
}
