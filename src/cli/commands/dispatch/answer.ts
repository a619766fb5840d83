// heimdall dispatch answer: a person's word to what the worker of a task asks.
import { answerTask } from '../../../dispatch/questions.ts'
import { showTask } from '../../../dispatch/tasks.ts'
import type { Run } from '../../command.ts'
import { withRoom } from '../../coordination-door.ts'
import { readInput } from '../../input-file.ts'
import type { dispatchAnswer } from '../../table/dispatch.ts'
import { summaryRecord } from './task-record.ts'

export const run: Run<typeof dispatchAnswer> = (context, { args }) =>
  withRoom(context, async (room) => {
    const text =
      args.text === undefined || args.text === '-'
        ? (await readInput(context, '-')).toString('utf8').replace(/\n$/, '')
        : args.text
    await answerTask(room, args.task, text)
    return { data: summaryRecord(showTask(room, args.task)), text: `${args.task} goes on with that` }
  })
