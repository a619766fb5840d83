// Runs, those that go on and those of yesterday, and the timeline of one: calls, decisions, waits, notes and claims on one axis.
import { basename } from 'node:path'
import type { Coordination } from '../../coordination/coordination.ts'
import { iso } from '../../coordination/moment.ts'
import { HUB_ROWS_MAX, HUB_TIMELINE_CALLS_AT_ONCE, HUB_TIMELINE_CALLS_MAX } from '../../limits.ts'
import { objectIn, textIn, numberIn } from '../../runs/index/call-facts.ts'
import { type IndexEntry, search } from '../../runs/index/search.ts'
import { factsOf, type RunFacts } from '../../runs/run-facts.ts'
import { runFolders } from '../../runs/run-folder.ts'
import { decisionWord, type DecisionWord, type RunRow, type TimelineSpan, type TimelineReply } from '../contract.ts'
import type { OpenBook } from './call-book.ts'
import { CallSpans } from './call-spans.ts'
import { decisionWordOf } from './calls.ts'
import { rowsOf } from './conversation.ts'
import { folderOf } from './recorded-run.ts'
import { firstEvent, type RunsOfProject } from './run-project.ts'
import { usageBars } from './usage-bars.ts'
import { spentOf } from './cards.ts'
import { costOf } from '../../spine/fleet/model-cost.ts'

/** What a run is for, by what its agent has begun in it. */
type TaskOf = (agent: string | null, startMs: number, endMs: number) => string | null

/** Those that changed last first. */
export function runsOf(
  book: OpenBook,
  runsDir: string,
  runs: RunsOfProject,
  { limit, nowMs, room }: { readonly limit: number; readonly nowMs: number; readonly room: Coordination | undefined },
): RunRow[] {
  const taskOf = tasksBegun(room)
  const found: RunRow[] = []
  for (const folder of runFolders(runsDir).runs) {
    if (found.length >= limit) break
    if (!runs.has(basename(folder.runDir))) continue
    const facts = factsOf(folder)
    if (facts.run_id === null) continue
    const summary = summaryOf(folder.runDir, facts, { waited: waitedIn(waitsOf(book, facts.run_id), nowMs), taskOf })
    found.push(summary)
  }
  return found
}

interface Waited {
  readonly count: number
  readonly ms: number
}

function summaryOf(
  runDir: string,
  facts: RunFacts,
  more: { waited: Waited; taskOf: TaskOf; decisions?: Record<DecisionWord, number> },
): RunRow {
  const { calls } = facts
  const start = startIn(runDir)
  const startedAt = facts.started_at ?? facts.changed_at
  const endMs = facts.state === 'ended' ? Date.parse(facts.changed_at) : Number.POSITIVE_INFINITY
  return {
    run_id: facts.run_id ?? '',
    agent_id: facts.agent_id,
    task: start.task ?? more.taskOf(facts.agent_id, Date.parse(startedAt), endMs),
    status: facts.state === 'ended' ? facts.status : facts.state,
    mode: start.mode,
    started_at: startedAt,
    ended_at: facts.state === 'ended' ? facts.changed_at : null,
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

const waitedIn = (waits: readonly WaitSpan[], nowMs: number): Waited => ({
  count: waits.length,
  ms: waits.reduce((sum, { fromMs: from, toMs: to }) => sum + Math.max(0, (to ?? nowMs) - from), 0),
})

/** The last task that an agent began between two times. */
function tasksBegun(room: Coordination | undefined): TaskOf {
  if (room === undefined) return () => null
  const begun = room.store.read((rows) => rows.events({ types: ['TASK_START'], last: HUB_ROWS_MAX * 4 }))
  return (agent, startMs, endMs) => {
    const last = begun.findLast(
      ({ actor, wallMs }) => agent !== null && actor === agent && wallMs >= startMs && wallMs <= endMs,
    )
    const title = last?.payload['title']
    return typeof title === 'string' ? title : (last?.task ?? null)
  }
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

export function timeline(
  book: OpenBook,
  runsDir: string,
  runId: string,
  range: Range,
  nowMs: number,
  room: Coordination | undefined,
): Omit<TimelineReply, 'at'> {
  const folder = folderOf(runsDir, runId)
  const facts = factsOf(folder)
  const startMs = Date.parse(facts.started_at ?? facts.changed_at)
  const endMs = facts.state === 'ended' ? Date.parse(facts.changed_at) : nowMs
  const fromMs = range.fromMs ?? startMs
  const toMs = range.toMs ?? endMs
  const { spans: calls, decisions, looked } = callsIn(book, runId, fromMs, toMs)
  const waits = waitsOf(book, runId)
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

interface WaitSpan {
  readonly id: string
  readonly fromMs: number
  readonly toMs: number | null
  readonly text: string
}

/** From what the keeper has booked: each start with its end. */
function waitsOf(book: OpenBook, run: string): WaitSpan[] {
  const of = (type: string): IndexEntry[] => search(book.index, { run, type, order: 'oldest', limit: HUB_ROWS_MAX })
  const bodyOf = (entry: IndexEntry): ReturnType<typeof objectIn> => objectIn(book.lines.eventsOf(entry).first, 'wait')
  const ends = new Map(
    of('wait_end').map((entry) => [textIn(bodyOf(entry), 'wait_id'), { entry, body: bodyOf(entry) }]),
  )
  return of('wait_start').map((entry) => {
    const body = bodyOf(entry)
    const id = textIn(body, 'wait_id') ?? ''
    const end = ends.get(id)
    const waitedMs = numberIn(end?.body, 'waited_ms')
    return {
      id,
      fromMs: entry.atMs,
      toMs: end === undefined ? null : waitedMs === null ? end.entry.atMs : entry.atMs + waitedMs,
      text: textIn(body, 'evidence') ?? 'waits for you',
    }
  })
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
  for (const { id, fromMs, toMs, text } of waits) {
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
        label: row.kind === 'note' && row.to !== null ? `${row.label} ${row.to}` : row.label,
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
