// A task as it is shown.
import { iso } from '../../../coordination/moment.ts'
import type { Task } from '../../../coordination/store.ts'

export function record(task: Task): Record<string, unknown> {
  return {
    task_id: task.taskId,
    state: task.state,
    owner: task.owner,
    title: task.title,
    started_at: iso(task.startedMs),
    ended_at: task.endedMs === null ? null : iso(task.endedMs),
    summary: task.summary,
  }
}
