// heimdall capsule hydrate: the capsules and everything they depend on, dependencies first, nothing else.
import { hydrate } from '../../../briefing/capsules.ts'
import type { Run } from '../../command.ts'
import type { capsuleHydrate } from '../../table/briefing.ts'
import { logCost, newMessageId, planningOf } from '../../planning-of.ts'

export const run: Run<typeof capsuleHydrate> = async (context, { flags, args }) => {
  const planning = planningOf(context)
  const body = hydrate(planning, args.ids)
  const msgId = flags['msg-id'] ?? newMessageId(context, 'h')
  await logCost(context, planning, { role: flags.role, kind: 'hydration', msgId }, body)
  return { data: { body }, text: body.replace(/\n$/, '') }
}
