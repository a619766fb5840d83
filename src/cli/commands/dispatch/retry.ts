// heimdall dispatch retry: a person's word puts a task back into the queue.
import { retryTask, showTask } from '../../../dispatch/tasks.ts'
import type { Run } from '../../command.ts'
import { withRoom } from '../../coordination-door.ts'
import type { dispatchRetry } from '../../table/dispatch.ts'
import { summaryRecord } from './task-record.ts'

export const run: Run<typeof dispatchRetry> = (context, { args, flags }) =>
  withRoom(context, async (room) => {
    const { state } = await retryTask(room, args.task, flags.budget)
    return { data: summaryRecord(showTask(room, args.task)), text: `${args.task} is ${state}` }
  })
