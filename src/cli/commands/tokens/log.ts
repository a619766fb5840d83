// heimdall tokens log: writes down what a message cost, counted from its text or declared by the caller.
import { logDeclared, logText } from '../../../briefing/token-ledger.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { tokensLog } from '../../table/briefing.ts'
import { planningOf, runIdOf } from '../../planning-of.ts'
import { textToCount } from './text-to-count.ts'

export const run: Run<typeof tokensLog> = async (context, { flags }) => {
  const entry = { role: flags.role, kind: flags.kind, msgId: flags['msg-id'], runId: flags.run ?? runIdOf(context) }
  if ((flags.cached ?? 0) > (flags.tokens ?? 0))
    throw new HeimdallError('USAGE', `--cached ${flags.cached} is more than --tokens ${flags.tokens ?? 0}`)
  const text = await textToCount(context, flags)
  const planning = planningOf(context)
  const row =
    text === undefined
      ? await logDeclared(planning, entry, {
          tokens: flags.tokens ?? 0,
          cachedTokens: flags.cached,
          tokenizer: flags.tokenizer,
        })
      : await logText(planning, entry, text, { tokenizer: flags.tokenizer })
  if (row === undefined)
    return { data: null, text: `already logged ${flags['msg-id']}: this run has measured it before` }
  return { data: row, text: `logged ${row.role}/${row.kind}=${row.tokens}` }
}
