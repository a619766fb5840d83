// heimdall capsule list: the ids of all capsules.
import { listCapsules } from '../../../briefing/capsules.ts'
import type { Run } from '../../command.ts'
import type { capsuleList } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof capsuleList> = async (context) => {
  const capsules = listCapsules(planningOf(context))
  return { data: { capsules }, text: capsules.join('\n') }
}
