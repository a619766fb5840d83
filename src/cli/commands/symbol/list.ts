// heimdall symbol list: the whole table, one row per symbol.
import { row } from '../../../storage/columns.ts'
import { listSymbols } from '../../../briefing/symbols.ts'
import type { Run } from '../../command.ts'
import type { symbolList } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof symbolList> = async (context) => {
  const entries = [...listSymbols(planningOf(context))]
  return {
    data: { symbols: entries.map(([id, value]) => ({ id, value })) },
    text: entries.map(([id, value]) => row(id, value)).join('\n'),
  }
}
