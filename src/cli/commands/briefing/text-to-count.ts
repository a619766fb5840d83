// Either a number that the caller declares, or a text that is counted: exactly one of --tokens and --file.
import { resolve } from 'node:path'
import type { Tokenizer } from '../../../briefing/tokens.ts'
import { HeimdallError } from '../../../errors.ts'
import { IMPORT_BYTES_MAX } from '../../../limits.ts'
import { readFileIfThere } from '../../../storage/atomic-file.ts'
import type { Context } from '../../command.ts'
import { readAll } from '../../stdin.ts'

interface CostFlags {
  readonly tokens: number | undefined
  readonly file: string | undefined
  readonly tokenizer: Tokenizer | undefined
}

/** The text to count, or nothing when the caller declares a number. */
export async function textToCount(context: Context, flags: CostFlags): Promise<string | undefined> {
  if ((flags.tokens === undefined) === (flags.file === undefined))
    throw new HeimdallError('USAGE', 'exactly one of --tokens N and --file FILE is needed', {
      hint: '--file counts the text, --tokens takes your word for it',
    })
  if (flags.file === undefined) return undefined
  const bytes =
    flags.file === '-'
      ? await readAll(context.stdin, IMPORT_BYTES_MAX)
      : readFileIfThere(resolve(context.cwd, flags.file))
  if (bytes === undefined) throw new HeimdallError('USAGE', `there is no file ${flags.file}`)
  if (bytes.byteLength > IMPORT_BYTES_MAX)
    throw new HeimdallError('VALUE_INVALID', `the text has more than ${IMPORT_BYTES_MAX} bytes`)
  return bytes.toString('utf8')
}
