// heimdall fact del: wipes a fact off the blackboard.
import { deleteFact } from '../../../briefing/blackboard.ts'
import type { Run } from '../../command.ts'
import type { factDel } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof factDel> = async (context, { args }) => {
  const deleted = await deleteFact(planningOf(context), args.key)
  // The seed's own command says the same either way.
  const text = deleted || context.isSeedName ? `deleted ${args.key}` : `${args.key} was not there`
  return { data: { key: args.key, deleted }, text }
}
