// Asks the user before files are changed, unless --yes is given.
import { HeimdallError } from '../errors.ts'
import type { Context } from './command.ts'
import { readTypedLine } from './stdin.ts'

/** Shows `plan`, then the question. The seeds' launchers never ask. */
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
    throw new HeimdallError('CONSENT_REQUIRED', `${unasked.what}, and this command cannot ask: it has no terminal`, {
      hint: unasked.hint,
    })
  context.note(plan)
  stderr.write(`${question} [y/N] `)
  const answer = await readTypedLine(stdin)
  return /^y(es)?$/i.test(answer ?? '')
}
