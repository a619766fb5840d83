// Whether files may be changed: a word on the command line, or one question to whoever sits at the terminal.
import { HeimdallError } from '../../../errors.ts'
import type { Context } from '../../command.ts'
import { readTypedLine } from '../../stdin.ts'

/** `plan` is shown before the question. By the seed's name nothing is ever asked. */
export async function consent(
  context: Context,
  isYes: boolean,
  plan: string,
  question: string,
  unasked = {
    what: 'files would be changed',
    hint: '--yes changes them without asking, --dry-run shows what would change',
  },
): Promise<boolean> {
  if (isYes || context.isSeedName) return true
  const { stdin, stderr } = context
  if (context.json || !stdin.isTTY || !stderr.isTTY)
    throw new HeimdallError('CONSENT_REQUIRED', `${unasked.what}, and there is nobody to ask`, { hint: unasked.hint })
  context.note(plan)
  stderr.write(`${question} [y/N] `)
  const answer = await readTypedLine(stdin)
  return /^y(es)?$/i.test(answer ?? '')
}
