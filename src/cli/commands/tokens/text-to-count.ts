// Either a number that the caller declares, or a text that is counted: exactly one of --tokens and --file.
import { HeimdallError } from '../../../errors.ts'
import type { Context } from '../../command.ts'
import { readInput } from '../../input-file.ts'

/** The text to count, or nothing when the caller declares a number. */
export async function textToCount(
  context: Context,
  flags: { readonly tokens: number | undefined; readonly file: string | undefined },
): Promise<string | undefined> {
  if ((flags.tokens === undefined) === (flags.file === undefined))
    throw new HeimdallError('USAGE', 'exactly one of --tokens N and --file FILE is needed', {
      hint: '--file counts the text, --tokens takes your word for it',
    })
  return flags.file === undefined ? undefined : (await readInput(context, flags.file)).toString('utf8')
}
