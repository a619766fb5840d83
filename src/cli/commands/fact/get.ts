// heimdall fact get: one fact, if it is fresh enough.
import { getFact } from '../../../briefing/blackboard.ts'
import type { Run } from '../../command.ts'
import type { factGet } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof factGet> = async (context, { flags, args }) => {
  const { key, value, by = null, ts = null } = getFact(planningOf(context), args.key, flags['max-age'])
  return { data: { key, value, by, ts }, text: value }
}
