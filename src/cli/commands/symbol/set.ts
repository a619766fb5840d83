// heimdall symbol set: gives a path, criterion or invariant a short id.
import { setSymbol } from '../../../briefing/symbols.ts'
import type { Run } from '../../command.ts'
import type { symbolSet } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof symbolSet> = async (context, { args }) => {
  await setSymbol(planningOf(context), args.id, args.value)
  return { data: { id: args.id, value: args.value }, text: `${args.id} = ${args.value}` }
}
