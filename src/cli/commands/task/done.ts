// heimdall task done: end a task; writes its page into the ledger.
import { endTask } from '../../../coordination/tasks.ts'
import { redacted } from '../../../runs/redacted.ts'
import type { Run } from '../../command.ts'
import type { taskDone } from '../../table/coordination.ts'
import { actorFor, withRoom } from '../../coordination-door.ts'
import { record } from './task-record.ts'

export const run: Run<typeof taskDone> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const state = flags.failed === true ? 'failed' : 'done'
    const task = await endTask(room, await actorFor(context, room, flags.agent), {
      taskId: redacted(args.task),
      state,
      summary: redacted(flags.summary),
    })
    return { data: record(task), text: `${task.taskId} is ${task.state}` }
  })
