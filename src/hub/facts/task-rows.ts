// Tasks and workers as the page shows them: the queue, what each has cost, and why a worker gets the next one.
import type { Coordination } from '../../coordination/coordination.ts'
import { iso, type Moment } from '../../coordination/moment.ts'
import type { Reader, Task } from '../../coordination/store.ts'
import { readNeeds, type Needs } from '../../dispatch/needs.ts'
import { contractIn, isDispatched } from '../../dispatch/parking.ts'
import type { Candidate, WorkerVerdict } from '../../dispatch/routing.ts'
import { explainTask } from '../../dispatch/tasks.ts'
import { candidates } from '../../dispatch/workers.ts'
import { HeimdallError } from '../../errors.ts'
import { DISPATCH_ATTEMPTS_MAX } from '../../limits.ts'
import type { RoutingReply, TaskRow, TasksReply } from '../contract.ts'

export function tasksNow(room: Coordination): Omit<TasksReply, 'at'> {
  return room.store.read((rows) => ({
    tasks: rows
      .tasks({})
      .map((task) => taskRow(rows, task))
      .toReversed(),
    workers: workersIn(rows, room.now()),
  }))
}

export const TASK_STATES: Readonly<Record<Task['state'], TaskRow['state']>> = {
  queued: 'queued',
  parked: 'parked',
  in_progress: 'running',
  triage: 'blocked',
  done: 'done',
  partial: 'partial',
  failed: 'failed',
  canceled: 'cancelled',
}

function taskRow(rows: Reader, task: Task): TaskRow {
  const { dispatch } = task
  const isSent = isDispatched(task)
  const attempt = isSent ? rows.attempts({ taskId: task.taskId }).at(-1) : undefined
  const isPlacing = attempt?.state === 'sent' && task.state === 'in_progress'
  return {
    task_id: task.taskId,
    title: task.title,
    priority: (isSent ? contractIn(rows, task.taskId)?.task.priority : undefined) ?? null,
    state: isPlacing ? 'placing' : TASK_STATES[task.state],
    worker: attempt?.workerId ?? (task.owner === null ? null : (rows.agent(task.owner)?.agentId ?? task.owner)),
    attempt: dispatch?.attempts ?? null,
    attempts_max: dispatch === null ? null : DISPATCH_ATTEMPTS_MAX,
    tokens_spent: isSent ? spentOn(rows, task.taskId) : null,
    tokens_budget: dispatch?.tokenBudget ?? null,
    deadline: dispatch === null || dispatch.deadlineMs === null ? null : iso(dispatch.deadlineMs),
    started_at: iso(task.startedMs),
    ended_at: task.endedMs === null ? null : iso(task.endedMs),
    summary: task.summary ?? whyIn(dispatch?.reason ?? null),
  }
}

const spentOn = (rows: Reader, taskId: string): number =>
  rows.tokenReservations(taskId).reduce((sum, { settled }) => sum + (settled ?? 0), 0)

const whyIn = (reason: string | null): string | null =>
  reason === null ? null : (JSON.parse(reason) as { why: string }).why

function workersIn(rows: Reader, now: Moment): TasksReply['workers'] {
  const known = new Map(rows.workers().map((worker) => [worker.workerId, worker]))
  return candidates(rows, now).map(({ workerId, state, profile, active }) => ({
    worker: workerId,
    state,
    model_tier: profile.worker.model_tier,
    active,
    active_max: profile.max_concurrent,
    mcp: Object.entries(profile.mcp_health).map(([server, health]) => ({ server, health })),
    announced_at: announcedAt(known.get(workerId)?.renewed.wallMs),
  }))
}

const announcedAt = (ms: number | undefined): string | null => (ms === undefined || ms === 0 ? null : iso(ms))

/** Who is there to bring tasks and to take them, on this machine. */
export interface DispatchAround {
  readonly workers: number
  readonly isOrchestrated: boolean
}

/** Who would get it, check by check. One that an agent took by itself was never routed. */
export function routingOf(room: Coordination, taskId: string, around: DispatchAround): RoutingReply {
  const task = room.store.read((rows) => rows.task(taskId))
  if (task === undefined) throw new HeimdallError('TASK_NOT_FOUND', 'no task of this id is known here')
  if (!isDispatched(task))
    return {
      task_id: taskId,
      probed_at: null,
      summary: 'an agent took it by itself: it was not dispatched',
      workers: [],
    }
  const needs = readNeeds(task.dispatch.needs)
  const { chosen, verdicts } = explainTask(room, taskId)
  const { all, probed } = room.store.read((rows) => ({
    all: new Map(candidates(rows, room.now()).map((one) => [one.workerId, one])),
    probed: rows.workers().map(({ renewed }) => renewed.wallMs),
  }))
  const able = verdicts.filter(({ score }) => score !== null).length
  const scores = new Map(verdicts.map(({ workerId, score }) => [workerId, score]))
  return {
    task_id: taskId,
    probed_at: probed.length === 0 ? null : announcedAt(Math.max(...probed)),
    summary: summaryOf(able, verdicts.length, task.state === 'queued', around),
    workers: verdicts.map((verdict) => ({
      worker: verdict.workerId,
      checks: checksFor(verdict, needs, all.get(verdict.workerId)),
      score: verdict.score === null ? null : shownScore(verdict.score),
      is_chosen: verdict.workerId === chosen,
      answer: answerOf(verdict, chosen, scores),
    })),
  }
}

function summaryOf(able: number, known: number, isQueued: boolean, around: DispatchAround): string {
  if (known === 0)
    return around.workers === 0
      ? 'no worker is known: heimdall worker start'
      : `${around.workers === 1 ? 'a worker runs' : `${around.workers} workers run`} here and nobody has asked yet what they can do: heimdall worker announce`
  const order = able > 1 ? ': cheapest tier first, then nearest, then freest' : ''
  const held =
    isQueued && able > 0 && !around.isOrchestrated ? '; no orchestrator is running: heimdall worker serve' : ''
  return `${able} of ${known} workers can do it${order}${held}`
}

type Score = NonNullable<WorkerVerdict['score']>

const shownScore = ([tier, far, load]: Score): RoutingReply['workers'][number]['score'] => ({
  tier,
  is_near: far === 0,
  load,
})

/** In the order in which a score decides. */
const BETTER = ['cheaper tier', 'holds paths near it', 'freer', 'first by name'] as const
const WORSE = ['dearer tier', 'holds nothing near it', 'busier', 'as good, later by name'] as const

/** What is wrong stands in full beside it, in the check. */
const SHORT: Readonly<Record<string, string>> = {
  mcp_unknown: 'server not there',
  mcp_unavailable: 'server does not answer',
  tool_missing: 'tool missing',
  model_tier: 'tier too low',
  context_too_small: 'window too small',
  repo_dirty: 'uncommitted changes',
  max_concurrent: 'no free place',
}

/** Why it, or why another: what the first difference is to the best of the others. */
function answerOf(
  { workerId, lacks, score }: WorkerVerdict,
  chosen: string | undefined,
  scores: ReadonlyMap<string, Score | null>,
): string {
  if (score === null) return `Cannot: ${lacks.map(({ code, text }) => SHORT[code] ?? text).join(', ')}`
  const able = [...scores].flatMap(([id, its]) => (its === null || id === workerId ? [] : [{ id, its }]))
  const rival = workerId === chosen ? able[0] : able.find(({ id }) => id === chosen)
  if (rival === undefined) return workerId === chosen ? 'Gets it: it alone can' : 'Could'
  const first = score.findIndex((part, index) => part !== rival.its[index])
  const at = first === -1 ? score.length : first
  return workerId === chosen ? `Gets it: ${BETTER[at]}` : `Could: ${WORSE[at]}`
}

function checksFor(verdict: WorkerVerdict, needs: Needs, candidate: Candidate | undefined): Check[] {
  return candidate === undefined ? [] : checksOf(verdict.lacks, needs, candidate)
}

type Check = RoutingReply['workers'][number]['checks'][number]

/** The same questions that routing asks, each with what the worker has. */
function checksOf(lacks: WorkerVerdict['lacks'], needs: Needs, { state, profile, active, near }: Candidate): Check[] {
  const lackOf = (codes: readonly string[]) => lacks.find(({ code }) => codes.includes(code))
  /** What the worker has; where that alone does not say what is wrong with it, `otherwise`. */
  const check = (name: string, codes: readonly string[], text: string, otherwise = text): Check => {
    const passes = lackOf(codes) === undefined
    return { name, passes, text: passes ? text : otherwise }
  }
  const taking = ['gone', 'draining', 'not_named', 'tried', 'plain']
  const serving = ['mcp_unknown', 'mcp_unavailable']
  const { worker, session, mcp_health: health } = profile
  const servers = needs.mcp.map((server) => health[server] ?? 'none').join(', ')
  return [
    check('Takes tasks', taking, state, lackOf(taking)?.text),
    ...(needs.mcp.length === 0 ? [] : [check(`MCP ${needs.mcp.join(', ')}`, serving, 'ok, probed', servers)]),
    ...(needs.tools.length === 0
      ? []
      : [check('Tools', ['tool_missing'], needs.tools.join(', '), lackOf(['tool_missing'])?.text)]),
    check(needs.tier === null ? 'Tier' : `Tier ≥ ${needs.tier}`, ['model_tier'], worker.model_tier),
    ...(worker.context_window === 0 ? [] : [check('Window', ['context_too_small'], `${worker.context_window} tokens`)]),
    check(
      'Clean tree',
      ['repo_dirty'],
      profile.worktrees ? 'makes worktrees' : session.repo_state.clean ? 'clean' : 'not needed',
      'uncommitted changes',
    ),
    check('Free places', ['max_concurrent'], `${active} of ${profile.max_concurrent} taken`),
    { name: 'Near', passes: true, text: near > 0 ? `holds ${near} near it` : 'holds nothing near' },
  ]
}
