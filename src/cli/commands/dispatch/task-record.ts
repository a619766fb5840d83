// A dispatched task as it is shown.
import { iso } from '../../../coordination/moment.ts'
import type { Coordination } from '../../../coordination/coordination.ts'
import { type ShownTask, showTask } from '../../../dispatch/tasks.ts'
import { escapeText } from '../../../ids.ts'
import { quoted } from '../../../quoted.ts'
import type { TaskResult } from '../../../dispatch/messages.ts'

export function summaryRecord({ task, contract, reservations }: ShownTask): Record<string, unknown> {
  const { dispatch } = task
  return {
    task_id: task.taskId,
    state: task.state,
    title: task.title,
    priority: contract.task.priority,
    attempts: dispatch.attempts,
    failures: dispatch.failures,
    token_budget: dispatch.tokenBudget,
    tokens_settled: reservations.reduce((sum, { settled }) => sum + (settled ?? 0), 0),
    tokens_reserved: reservations.reduce((sum, { settled, reserved }) => sum + (settled === null ? reserved : 0), 0),
    deadline: dispatch.deadlineMs === null ? null : iso(dispatch.deadlineMs),
    reason: dispatch.reason === null ? null : (JSON.parse(dispatch.reason) as { why: string }).why,
    retry: retryCommand(task),
    sent_at: iso(task.startedMs),
    ended_at: task.endedMs === null ? null : iso(task.endedMs),
  }
}

/** For a person: nothing sends it again by itself. */
const retryCommand = ({ taskId, state }: ShownTask['task']): string | null =>
  state === 'failed' || state === 'triage' ? `heimdall dispatch retry ${quoted(taskId)}` : null

export function wholeRecord(shown: ShownTask): Record<string, unknown> {
  return {
    ...summaryRecord(shown),
    contract: shown.contract,
    list: shown.attempts.map((one) => ({
      attempt: one.number,
      worker: one.workerId,
      state: one.state,
      remote_id: one.remoteId,
      sent_at: iso(one.sentMs),
      accepted_at: one.acceptedMs === null ? null : iso(one.acceptedMs),
      ended_at: one.endedMs === null ? null : iso(one.endedMs),
      result: resultOf(one.result),
      late: one.isLate,
    })),
    result: resultOf(shown.attempts.findLast(({ result }) => result !== null)?.result ?? null),
  }
}

const resultOf = (text: string | null): TaskResult | null => (text === null ? null : (JSON.parse(text) as TaskResult))

/** One task in a few lines. */
export function taskText(room: Coordination, taskId: string): string {
  const shown = showTask(room, taskId)
  const { reason, retry } = summaryRecord(shown)
  const result = resultOf(shown.attempts.findLast((one) => one.result !== null)?.result ?? null)
  const reply =
    result === null
      ? ''
      : typeof result.reply === 'string'
        ? result.reply
        : JSON.stringify(result.reply ?? null, null, 2)
  // Titles, names, paths, reasons and the reply are a worker's or a peer's words.
  const lines = [
    `${taskId} is ${shown.task.state}${typeof reason === 'string' && reason !== shown.task.state ? `: ${reason}` : ''}`,
    ...shown.attempts.map(
      (one) => `  attempt ${one.number} at ${one.workerId}: ${one.state}${one.isLate ? ', too late' : ''}`,
    ),
    ...(result?.tokens_spent === null || result === null
      ? []
      : [`  ${result.tokens_spent} tokens (${result.usage?.source ?? 'unknown'})`]),
    ...(result?.artifacts.files_changed ?? []).map((path) => `  changed ${path}`),
    ...(result?.next_steps ?? []).map((step) => `  next: ${step}`),
    ...(typeof retry === 'string' ? [`  to send it again: ${retry}`] : []),
    ...(reply === '' || reply === 'null' ? [] : ['', reply]),
  ]
  return escapeText(lines.join('\n'))
}
