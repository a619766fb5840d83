// heimdall task list: tasks in progress, and who has them.
import { findAgent } from '../../../coordination/change.ts'
import { iso } from '../../../coordination/moment.ts'
import type { Task } from '../../../coordination/store.ts'
import { listTasks } from '../../../coordination/tasks.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { taskList } from '../../table/coordination.ts'
import { withRoomToRead } from '../../coordination-door.ts'
import { record } from './task-record.ts'

export const run: Run<typeof taskList> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const tasks = listTasks(room, flags.all === true ? {} : { state: 'in_progress' })
      const owner = ({ owner: haid }: Task): string =>
        haid === null ? '-' : room.store.read((rows) => findAgent(rows, haid)?.agentId ?? haid)
      const rows = tasks.map((task) => [task.taskId, task.state, owner(task), iso(task.startedMs), task.title])
      const table = renderTable(context.style, ['TASK', 'STATE', 'OWNER', 'STARTED', 'TITLE'], rows)
      return { data: tasks.map(record), text: rows.length === 0 ? 'no task is in progress' : table }
    },
    () => ({ data: [], text: 'no task is in progress' }),
  )
