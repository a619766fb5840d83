// heimdall dispatch cancel: take a task out of the queue, or have it ended at its worker.
import { cancelTask, showTask } from '../../../dispatch/tasks.ts'
import type { Run } from '../../command.ts'
import { withRoom } from '../../coordination-door.ts'
import type { dispatchCancel } from '../../table/dispatch.ts'
import { summaryRecord } from './task-record.ts'

export const run: Run<typeof dispatchCancel> = (context, { args, flags }) =>
  withRoom(context, async (room) => {
    const { state } = await cancelTask(room, args.task, flags.reason)
    return {
      data: summaryRecord(showTask(room, args.task)),
      text: state === 'canceled' ? `${args.task} is cancelled` : `${args.task} is being ended at its worker`,
    }
  })
