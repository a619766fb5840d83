// heimdall tokens baseline: the cost without this protocol, the number to beat.
import { declareBaseline, measureBaseline } from '../../../briefing/baselines.ts'
import { measure } from '../../../briefing/tokens.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { tokensBaseline } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'
import { textToCount } from './text-to-count.ts'

export const run: Run<typeof tokensBaseline> = async (context, { flags }) => {
  if (flags.tokens === 0)
    throw new HeimdallError('INVALID_ARGS', 'a baseline of 0 tokens is nothing to compare with', {
      hint: 'give what the task costs without this protocol, or a text to count: --file',
    })
  const text = await textToCount(context, flags)
  const planning = planningOf(context)
  const measured = text === undefined ? undefined : measure(text, flags.tokenizer)
  const tokens = measured?.tokens ?? flags.tokens ?? 0
  if (measured === undefined) await declareBaseline(planning, flags.role, tokens)
  else await measureBaseline(planning, flags.role, measured)
  return {
    data: { role: flags.role, tokens, source: measured === undefined ? 'declared' : 'counted' },
    text: `baseline ${flags.role} = ${tokens} (v1)`,
  }
}
