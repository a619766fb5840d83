// heimdall symbol import: many symbols at once, all of them or none.
import { importSymbols, parseImport } from '../../../briefing/symbols.ts'
import type { Run } from '../../command.ts'
import type { symbolImport } from '../../table/briefing.ts'
import { readInput } from '../../input-file.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof symbolImport> = async (context, { args }) => {
  const entries = parseImport(await readInput(context, args.file))
  await importSymbols(planningOf(context), entries)
  return { data: { count: entries.size }, text: `imported ${entries.size} symbols` }
}
