// heimdall symbol rm: takes a symbol out of the table.
import { removeSymbol } from '../../../briefing/symbols.ts'
import type { Run } from '../../command.ts'
import type { symbolRm } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof symbolRm> = async (context, { args }) => {
  await removeSymbol(planningOf(context), args.id)
  return { data: { id: args.id }, text: `removed ${args.id}` }
}
