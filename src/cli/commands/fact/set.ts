// heimdall fact set: writes a fact on the blackboard, with who set it and when.
import { setFact } from '../../../briefing/blackboard.ts'
import type { Run } from '../../command.ts'
import type { factSet } from '../../table/briefing.ts'
import { authorOf, planningOf } from '../../planning-of.ts'

export const run: Run<typeof factSet> = async (context, { flags, args }) => {
  const by = authorOf(context, flags.by)
  await setFact(planningOf(context), args.key, args.value, by)
  return { data: { key: args.key, value: args.value, by }, text: `${args.key} = ${args.value}` }
}
