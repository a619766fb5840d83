// heimdall symbol get: what a symbol stands for; with --reverse, which symbol stands for it.
import { findSymbolOf, lookUpSymbol } from '../../../briefing/symbols.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { symbolGet } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

// oxlint-disable-next-line typescript/require-await -- every command is asynchronous
export const run: Run<typeof symbolGet> = async (context, { flags, args }) => {
  const planning = planningOf(context)
  if (flags.reverse !== undefined) {
    const id = findSymbolOf(planning, flags.reverse)
    return { data: { id, value: flags.reverse }, text: id }
  }
  if (args.id === undefined) throw new HeimdallError('USAGE', 'ID is missing', { hint: `${context.calledAs} --help` })
  const value = lookUpSymbol(planning, args.id)
  return { data: { id: args.id, value }, text: value }
}
