// heimdall task …: who works on what, and what came of it.
import { findAgent } from '../../../coordination/gate.ts'
import { iso } from '../../../coordination/moment.ts'
import type { Task } from '../../../coordination/store.ts'
import { endTask, listTasks, startTask } from '../../../coordination/tasks.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { taskDone, taskList, taskStart } from '../../table/coordination.ts'
import { actorFor, withRoom, withRoomToRead } from './room.ts'

export const start: Run<typeof taskStart> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const task = await startTask(room, await actorFor(context, room, flags.agent), {
      taskId: args.task,
      title: flags.title ?? args.task,
    })
    return { data: record(task), text: `${task.taskId} is in progress` }
  })

export const done: Run<typeof taskDone> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const state = flags.failed === true ? 'failed' : 'done'
    const task = await endTask(room, await actorFor(context, room, flags.agent), {
      taskId: args.task,
      state,
      summary: flags.summary,
    })
    return { data: record(task), text: `${task.taskId} is ${task.state}` }
  })

export const list: Run<typeof taskList> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const tasks = listTasks(room, flags.all === true ? {} : { state: 'in_progress' })
      const owner = (task: Task): string =>
        room.store.read((rows) => findAgent(rows, task.owner)?.agentId ?? task.owner)
      const rows = tasks.map((task) => [task.taskId, task.state, owner(task), iso(task.startedMs), task.title])
      const table = renderTable(context.style, ['TASK', 'STATE', 'OWNER', 'STARTED', 'TITLE'], rows)
      return { data: tasks.map(record), text: rows.length === 0 ? 'no task is in progress' : table }
    },
    () => ({ data: [], text: 'no task is in progress' }),
  )

function record(task: Task): Record<string, unknown> {
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
