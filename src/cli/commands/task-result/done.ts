// heimdall task-result done: the capsule of a finished task and the message about it, in one step.
import { finishTask } from '../../../briefing/task-result.ts'
import { HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import type { Run } from '../../command.ts'
import type { taskResultDone } from '../../table/briefing.ts'
import { listOf, logCost, newMessageId, planningOf } from '../../planning-of.ts'

export const run: Run<typeof taskResultDone> = async (context, { flags }) => {
  const planning = planningOf(context)
  const msgId = flags['msg-id'] ?? newMessageId(context, 'tr')
  const criteria = listOf(flags.criteria).map((entry) => {
    if (/^\d{1,9}$/.test(entry)) return Number(entry)
    throw new HeimdallError('USAGE', `--criteria takes whole numbers such as 1,2,4; got ${printable(entry)}`)
  })
  const message = finishTask(planning, {
    ...flags,
    msgId,
    criteria,
    depends: listOf(flags.depends),
  })
  const text = JSON.stringify(message)
  await logCost(context, planning, { role: flags.role, kind: message.type, msgId }, text)
  return { data: message, seedJson: message, text }
}
