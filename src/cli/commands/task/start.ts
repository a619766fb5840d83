// heimdall task start: say that you work on a task.
import { startTask } from '../../../coordination/tasks.ts'
import { redacted } from '../../../runs/redacted.ts'
import type { Run } from '../../command.ts'
import type { taskStart } from '../../table/coordination.ts'
import { actorFor, withRoom } from '../../coordination-door.ts'
import { record } from './task-record.ts'

export const run: Run<typeof taskStart> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const task = await startTask(room, await actorFor(context, room, flags.agent), {
      taskId: redacted(args.task),
      title: redacted(flags.title ?? args.task),
    })
    return { data: record(task), text: `${task.taskId} is in progress` }
  })
