// Tasks as JSON records and as text, of both kinds: dispatched to a worker, or started by an agent itself.
import type { Coordination } from '../../coordination/coordination.ts'
import { iso } from '../../coordination/moment.ts'
import type { Task } from '../../coordination/store.ts'
import type { TaskResult } from '../../dispatch/messages.ts'
import { lastResult, readReason, workOf } from '../../dispatch/parking.ts'
import { reviewOf } from '../../dispatch/review.ts'
import { type ShownTask, showTask } from '../../dispatch/tasks.ts'
import { escapeText } from '../../ids.ts'
import { quoted } from '../../quoted.ts'

const timeOf = (ms: number | null): string | null => (ms === null ? null : iso(ms))

export const AGENT_RECORD = 'task_id, kind (agent), state, title, owner (HAID), started_at, ended_at, summary'

export const agentRecord = (task: Task): Record<string, unknown> => ({
  task_id: task.taskId,
  kind: task.dispatch === null ? 'agent' : 'dispatched',
  state: task.state,
  title: task.title,
  owner: task.owner,
  started_at: iso(task.startedMs),
  ended_at: timeOf(task.endedMs),
  summary: task.summary,
})

export const RECORD =
  'task_id, kind (dispatched), state (queued, parked, in_progress, triage, done, partial, failed or canceled), title, ' +
  'owner (HAID of the agent that works on it), worker, priority, attempts, failures, token_budget, tokens_settled (by ' +
  'ended attempts), tokens_reserved (by running attempts), deadline, reason (why it waits, or how it ended), review ' +
  '(ready, proposed, merged, discarded or null), pr (address of its pull request, or null), retry (the command that ' +
  'sends it again), sent_at, ended_at'

export function record(shown: ShownTask): Record<string, unknown> {
  const { task, contract, attempts, reservations } = shown
  const { dispatch, state, taskId } = task
  const reason = readReason(task)
  return {
    task_id: taskId,
    kind: 'dispatched',
    state,
    title: task.title,
    owner: task.owner,
    worker: attempts.at(-1)?.workerId ?? null,
    priority: contract.task.priority,
    attempts: dispatch.attempts,
    failures: dispatch.failures,
    token_budget: dispatch.tokenBudget,
    tokens_settled: reservations.reduce((sum, { settled }) => sum + (settled ?? 0), 0),
    tokens_reserved: reservations.reduce((sum, { settled, reserved }) => sum + (settled === null ? reserved : 0), 0),
    deadline: timeOf(dispatch.deadlineMs),
    reason: reason?.why ?? null,
    review: reviewOf(shown),
    pr: reason?.review?.pr ?? null,
    retry: state === 'failed' || state === 'triage' ? `heimdall task retry ${quoted(taskId)}` : null,
    sent_at: iso(task.startedMs),
    ended_at: timeOf(task.endedMs),
  }
}

export const WHOLE_RECORD = `${RECORD}, contract (TASK_DISPATCH), list (attempts: number, worker, state, remote_id, times, result, late), result (the last TASK_RESULT, or null)`

export const wholeRecord = (shown: ShownTask): Record<string, unknown> => ({
  ...record(shown),
  contract: shown.contract,
  list: shown.attempts.map((one) => ({
    attempt: one.number,
    worker: one.workerId,
    state: one.state,
    remote_id: one.remoteId,
    sent_at: iso(one.sentMs),
    accepted_at: timeOf(one.acceptedMs),
    ended_at: timeOf(one.endedMs),
    result: parsed(one.result),
    late: one.isLate,
  })),
  result: lastResult(shown.attempts) ?? null,
})

const parsed = (text: string | null): TaskResult | null => (text === null ? null : (JSON.parse(text) as TaskResult))

/** The state in words; what becomes of its work goes before how it ended. */
export function stateText(shown: ShownTask): string {
  const review = reviewOf(shown)
  return review === null ? stateWords(shown.task.state) : REVIEWS[review]
}

const REVIEWS = {
  ready: 'ready for review',
  proposed: 'in a pull request',
  merged: 'merged',
  discarded: 'discarded',
} as const

export const stateWords = (state: Task['state']): string => STATES[state] ?? state

const STATES: Readonly<Partial<Record<Task['state'], string>>> = {
  in_progress: 'in progress',
  triage: 'waiting for a human',
  canceled: 'cancelled',
}

/** The title, and why it waits or how it failed. */
export function aboutTask({ task }: ShownTask): string {
  const why = readReason(task)?.why
  return why === undefined || why === task.state || ['done', 'cancelled'].includes(why)
    ? task.title
    : `${task.title}: ${why}`
}

function spentText({ tokens_spent: tokens, usage }: TaskResult): string[] {
  if (tokens === null) return []
  const counts = [
    ...(usage?.turns === undefined ? [] : [`${usage.turns} turns`]),
    ...(usage?.tool_calls === undefined ? [] : [`${usage.tool_calls} tool calls`]),
    `${tokens} tokens (${usage?.source ?? 'unknown'})`,
    ...(typeof usage?.cost_usd_est === 'number' ? [`about $${usage.cost_usd_est.toFixed(2)}`] : []),
  ]
  return [`  ${counts.join(', ')}`]
}

/** What a human does with it now. */
function commandsFor(shown: ShownTask): [command: string, what: string][] {
  const id = quoted(shown.task.taskId)
  const asks = shown.task.state === 'in_progress' ? readReason(shown.task)?.asks : undefined
  if (asks !== undefined)
    return asks.isAuth
      ? [['heimdall approve', 'where the worker runs, allows it']]
      : [[`heimdall task answer ${id} ${asks.partial?.needs === 'tokens' ? '4000' : 'TEXT'}`, 'answers the question']]
  const review = reviewOf(shown)
  const { retry } = record(shown)
  return [
    ...(review === 'ready' || review === 'proposed'
      ? ([
          [`heimdall task diff ${id}`, 'shows the changes'],
          [`heimdall task merge ${id}`, 'merges them into your branch'],
          [`heimdall task reply ${id} TEXT`, 'continues with the same agent'],
          [`heimdall task discard ${id}`, 'removes them'],
        ] as [string, string][])
      : []),
    ...(typeof retry === 'string' ? ([[retry, 'sends it again']] as [string, string][]) : []),
  ]
}

export function taskText(db: Coordination, taskId: string): string {
  const shown = showTask(db, taskId)
  const result = lastResult(shown.attempts)
  const reply = typeof result?.reply === 'string' ? result.reply : JSON.stringify(result?.reply ?? null, null, 2)
  const work = workOf(shown.attempts)
  const { pr } = record(shown)
  const commands = commandsFor(shown)
  const width = Math.max(0, ...commands.map(([command]) => command.length))
  const lines = [
    `${taskId} is ${stateText(shown)}: ${aboutTask(shown)}`,
    ...shown.attempts.map(
      (one) => `  attempt ${one.number} at ${one.workerId}: ${one.state}${one.isLate ? ', too late' : ''}`,
    ),
    ...(result === undefined ? [] : spentText(result)),
    ...(work === undefined ? [] : [`  branch ${work.branch}`, `  worktree ${work.worktree}`]),
    ...(typeof pr === 'string' ? [`  pull request ${pr}`] : []),
    ...(result?.artifacts.files_changed ?? []).map((path) => `  changed ${path}`),
    ...(result?.next_steps ?? []).map((step) => `  next: ${step}`),
    ...(reply === '' || reply === 'null' ? [] : ['', reply]),
    ...(commands.length === 0 ? [] : ['', ...commands.map(([command, what]) => `  ${command.padEnd(width)}  ${what}`)]),
  ]
  // Titles, names, paths, reasons and the reply come from workers and peers.
  return escapeText(lines.join('\n'))
}
