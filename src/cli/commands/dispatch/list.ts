// heimdall dispatch list: dispatched tasks, and how they stand.
import { isOpenTask } from '../../../coordination/tasks.ts'
import { listDispatched, showTask } from '../../../dispatch/tasks.ts'
import type { Run } from '../../command.ts'
import { withRoomToRead } from '../../coordination-door.ts'
import { renderTable } from '../../render/style.ts'
import type { dispatchList } from '../../table/dispatch.ts'
import { summaryRecord } from './task-record.ts'

export const run: Run<typeof dispatchList> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const tasks = listDispatched(room)
        .filter((task) => flags.all === true || isOpenTask(task))
        .map(({ taskId }) => summaryRecord(showTask(room, taskId)))
      const rows = tasks.map((one) =>
        [one['task_id'], one['state'], one['priority'], one['attempts'], one['reason'] ?? one['title']].map(String),
      )
      const table = renderTable(context.style, ['TASK', 'STATE', 'PRIORITY', 'ATTEMPTS', 'ABOUT'], rows)
      return { data: tasks, text: rows.length === 0 ? 'no task is dispatched' : table }
    },
    () => ({ data: [], text: 'no task is dispatched' }),
  )
