// Tasks and workers as the page shows them: the queue, what each has cost, and why a worker gets the next one.
import type { Coordination } from '../../coordination/coordination.ts'
import { iso } from '../../coordination/moment.ts'
import type { Reader, Task } from '../../coordination/store.ts'
import { readNeeds, type Needs } from '../../dispatch/needs.ts'
import { isDispatched } from '../../dispatch/parking.ts'
import type { Candidate, WorkerVerdict } from '../../dispatch/routing.ts'
import { explainTask, showTask } from '../../dispatch/tasks.ts'
import { candidates } from '../../dispatch/workers.ts'
import { HeimdallError } from '../../errors.ts'
import { DISPATCH_ATTEMPTS_MAX } from '../../limits.ts'
import type { RoutingReply, TaskRow, TasksReply } from '../contract.ts'

export function tasksNow(room: Coordination): Omit<TasksReply, 'at'> {
  return room.store.read((rows) => ({
    tasks: rows
      .tasks({})
      .map((task) => taskRow(room, rows, task))
      .toReversed(),
    workers: workersIn(rows),
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

function taskRow(room: Coordination, rows: Reader, task: Task): TaskRow {
  const { dispatch } = task
  const shown = isDispatched(task) ? showTask(room, task.taskId) : undefined
  const attempt = shown?.attempts.at(-1)
  const isPlacing = attempt?.state === 'sent' && task.state === 'in_progress'
  return {
    task_id: task.taskId,
    title: task.title,
    priority: shown?.contract.task.priority ?? null,
    state: isPlacing ? 'placing' : TASK_STATES[task.state],
    worker: attempt?.workerId ?? (task.owner === null ? null : (rows.agent(task.owner)?.agentId ?? task.owner)),
    attempt: dispatch?.attempts ?? null,
    attempts_max: dispatch === null ? null : DISPATCH_ATTEMPTS_MAX,
    tokens_spent: shown === undefined ? null : shown.reservations.reduce((sum, { settled }) => sum + (settled ?? 0), 0),
    tokens_budget: dispatch?.tokenBudget ?? null,
    deadline: dispatch === null || dispatch.deadlineMs === null ? null : iso(dispatch.deadlineMs),
    started_at: iso(task.startedMs),
    ended_at: task.endedMs === null ? null : iso(task.endedMs),
    summary: task.summary ?? whyIn(dispatch?.reason ?? null),
  }
}

const whyIn = (reason: string | null): string | null =>
  reason === null ? null : (JSON.parse(reason) as { why: string }).why

function workersIn(rows: Reader): TasksReply['workers'] {
  const known = new Map(rows.workers().map((worker) => [worker.workerId, worker]))
  return candidates(rows).map(({ workerId, state, profile, active }) => ({
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

/** Who would get it, check by check. One that an agent took by itself was never routed. */
export function routingOf(room: Coordination, taskId: string): RoutingReply {
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
    all: new Map(candidates(rows).map((one) => [one.workerId, one])),
    probed: rows.workers().map(({ renewed }) => renewed.wallMs),
  }))
  const able = verdicts.filter(({ score }) => score !== null).length
  return {
    task_id: taskId,
    probed_at: probed.length === 0 ? null : announcedAt(Math.max(...probed)),
    summary:
      verdicts.length === 0
        ? 'no worker is known: heimdall worker start'
        : `${able} of ${verdicts.length} workers can do it${chosen === undefined ? '' : `; ${chosen} would get it: cheapest tier that suits, then nearest, then freest`}`,
    workers: verdicts.map((verdict) => workerOf(verdict, needs, all.get(verdict.workerId), chosen)),
  }
}

function workerOf(
  { workerId, lacks, score }: WorkerVerdict,
  needs: Needs,
  candidate: Candidate | undefined,
  chosen: string | undefined,
): RoutingReply['workers'][number] {
  return {
    worker: workerId,
    checks: candidate === undefined ? [] : checksOf(lacks, needs, candidate),
    score: score === null ? null : { tier: score[0], is_near: score[1] === 0, load: score[2] },
    is_chosen: workerId === chosen,
    answer: workerId === chosen ? 'Gets it' : score === null ? `Cannot: ${lacks[0]?.text ?? ''}` : 'Could',
  }
}

type Check = RoutingReply['workers'][number]['checks'][number]

/** The same questions that routing asks, each with what the worker has. */
function checksOf(lacks: WorkerVerdict['lacks'], needs: Needs, { state, profile, active, near }: Candidate): Check[] {
  const check = (name: string, codes: readonly string[], text: string): Check => {
    const lack = lacks.find(({ code }) => codes.includes(code))
    return { name, passes: lack === undefined, text: lack?.text ?? text }
  }
  return [
    check('Takes tasks', ['gone', 'draining', 'not_named', 'tried', 'plain'], state),
    ...(needs.mcp.length === 0
      ? []
      : [check(`MCP ${needs.mcp.join(', ')}`, ['mcp_unknown', 'mcp_unavailable'], 'ok, probed')]),
    ...(needs.tools.length === 0 ? [] : [check('Tools', ['tool_missing'], needs.tools.join(', '))]),
    check(needs.tier === null ? 'Tier' : `Tier ≥ ${needs.tier}`, ['model_tier'], profile.worker.model_tier),
    check('Window', ['context_too_small'], `${profile.worker.context_window} tokens`),
    check(
      'Clean tree',
      ['repo_dirty'],
      profile.worktrees ? 'makes worktrees' : profile.session.repo_state.clean ? 'clean' : 'not needed',
    ),
    check('Free places', ['max_concurrent'], `${active} of ${profile.max_concurrent} taken`),
    { name: 'Near', passes: true, text: near > 0 ? `holds ${near} near it` : 'holds nothing near' },
  ]
}
