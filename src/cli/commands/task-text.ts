// Tasks as JSON records and as text, of both kinds: dispatched to a worker, or started by an agent itself.
import type { Coordination } from '../../coordination/coordination.ts'
import { iso } from '../../coordination/moment.ts'
import type { Task } from '../../coordination/store.ts'
import type { TaskResult } from '../../dispatch/messages.ts'
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
  'ended attempts), tokens_reserved (by running attempts), deadline, reason (why it waits, or how it ended), retry (the ' +
  'command that sends it again), sent_at, ended_at'

export function record({ task, contract, attempts, reservations }: ShownTask): Record<string, unknown> {
  const { dispatch, state, taskId } = task
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
    reason: dispatch.reason === null ? null : (JSON.parse(dispatch.reason) as { why: string }).why,
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
  result: lastResult(shown),
})

const parsed = (text: string | null): TaskResult | null => (text === null ? null : (JSON.parse(text) as TaskResult))

const lastResult = ({ attempts }: ShownTask): TaskResult | null =>
  parsed(attempts.findLast(({ result }) => result !== null)?.result ?? null)

export function taskText(db: Coordination, taskId: string): string {
  const shown = showTask(db, taskId)
  const { reason, retry } = record(shown)
  const result = lastResult(shown)
  const reply = typeof result?.reply === 'string' ? result.reply : JSON.stringify(result?.reply ?? null, null, 2)
  const lines = [
    `${taskId} is ${shown.task.state}${typeof reason === 'string' && reason !== shown.task.state ? `: ${reason}` : ''}`,
    ...shown.attempts.map(
      (one) => `  attempt ${one.number} at ${one.workerId}: ${one.state}${one.isLate ? ', too late' : ''}`,
    ),
    ...(result === null || result.tokens_spent === null
      ? []
      : [`  ${result.tokens_spent} tokens (${result.usage?.source ?? 'unknown'})`]),
    ...(result?.artifacts.files_changed ?? []).map((path) => `  changed ${path}`),
    ...(result?.next_steps ?? []).map((step) => `  next: ${step}`),
    ...(typeof retry === 'string' ? [`  to send it again: ${retry}`] : []),
    ...(reply === '' || reply === 'null' ? [] : ['', reply]),
  ]
  // Titles, names, paths, reasons and the reply come from workers and peers.
  return escapeText(lines.join('\n'))
}
