// heimdall dispatch show: one dispatched task with its attempts and its result.
import { notDispatched, showTask } from '../../../dispatch/tasks.ts'
import type { Run } from '../../command.ts'
import { withRoomToRead } from '../../coordination-door.ts'
import type { dispatchShow } from '../../table/dispatch.ts'
import { taskText, wholeRecord } from './task-record.ts'

export const run: Run<typeof dispatchShow> = (context, { args }) =>
  withRoomToRead(
    context,
    (room) => ({ data: wholeRecord(showTask(room, args.task)), text: taskText(room, args.task) }),
    () => {
      throw notDispatched(args.task)
    },
  )
