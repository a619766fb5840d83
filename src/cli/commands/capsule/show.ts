// heimdall capsule show: one capsule as it is on disk.
import { showCapsule } from '../../../briefing/capsules.ts'
import type { Run } from '../../command.ts'
import type { capsuleShow } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof capsuleShow> = async (context, { args }) => {
  const body = showCapsule(planningOf(context), args.id)
  return { data: { id: args.id, body }, text: body.replace(/\n$/, '') }
}
