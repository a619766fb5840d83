// heimdall gate to-message: a gate's report as a message that refers to it.
import { gateMessage } from '../../../briefing/gate.ts'
import type { Run } from '../../command.ts'
import type { gateToMessage } from '../../table/briefing.ts'
import { logCost, planningOf } from '../../planning-of.ts'

export const run: Run<typeof gateToMessage> = async (context, { flags }) => {
  const planning = planningOf(context)
  const msgId = flags['msg-id']
  const report = context.resolve(flags.report)
  const message = gateMessage(planning, { report, from: flags.from, msgId, wave: flags.wave })
  const text = JSON.stringify(message)
  await logCost(context, planning, { role: flags.role, kind: message.type, msgId }, text)
  return { data: message, seedJson: message, text }
}
