// heimdall symbol reverse: the first symbol that stands for a value.
import { findSymbolOf } from '../../../briefing/symbols.ts'
import type { Run } from '../../command.ts'
import type { symbolReverse } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof symbolReverse> = async (context, { args }) => {
  const id = findSymbolOf(planningOf(context), args.value)
  return { data: { id, value: args.value }, text: id }
}
