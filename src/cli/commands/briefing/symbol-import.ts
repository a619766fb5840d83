// heimdall symbol import: many symbols at once, all of them or none.
import { resolve } from 'node:path'
import { importSymbols, parseImport } from '../../../briefing/symbols.ts'
import { HeimdallError } from '../../../errors.ts'
import { IMPORT_BYTES_MAX } from '../../../limits.ts'
import { readFileIfThere } from '../../../storage/atomic-file.ts'
import type { Run } from '../../command.ts'
import { readAll } from '../../stdin.ts'
import type { symbolImport } from '../../table/briefing.ts'
import { planningOf } from './planning.ts'

export const run: Run<typeof symbolImport> = async (context, { args }) => {
  const isStdin = args.file === undefined || args.file === '-'
  const bytes = isStdin
    ? await readAll(context.stdin, IMPORT_BYTES_MAX)
    : readFileIfThere(resolve(context.cwd, args.file))
  if (bytes === undefined) throw new HeimdallError('USAGE', `there is no file ${args.file ?? ''}`)
  const entries = parseImport(bytes)
  await importSymbols(planningOf(context), entries)
  return { data: { count: entries.size }, text: `imported ${entries.size} symbols` }
}
