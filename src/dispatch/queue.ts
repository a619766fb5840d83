// The rank of a task in the queue: the time by which it should have begun. It never changes, so nobody starves.
import { DISPATCH_PATIENCE_MS } from '../limits.ts'
import type { Priority } from './messages.ts'

/**
 * Earliest due first. An urgent task is due at once, others after the patience of their priority, all of them no later
 * than half-way to their deadline: a low task that has waited for its hour goes before an urgent one that has just come.
 */
export function dueMs(task: {
  readonly priority: Priority
  readonly deadlineMs: number | null
  readonly sentMs: number
}): number {
  const patience = DISPATCH_PATIENCE_MS[task.priority]
  const half = task.deadlineMs === null ? patience : Math.max(0, (task.deadlineMs - task.sentMs) / 2)
  return Math.round(task.sentMs + Math.min(patience, half))
}
