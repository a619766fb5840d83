// A text that the user names: a file, also a pipe such as <(command), or stdin.
import { readFileSync } from 'node:fs'
import { HeimdallError, isErrno } from '../errors.ts'
import { printable } from '../ids.ts'
import { IMPORT_BYTES_MAX } from '../limits.ts'
import type { Context } from './command.ts'
import { readAll } from './stdin.ts'

/** `-` and nothing are stdin. */
export async function readInput(context: Context, file: string | undefined): Promise<Buffer> {
  const bytes =
    file === undefined || file === '-' ? await readAll(context.stdin, IMPORT_BYTES_MAX) : readNamed(context, file)
  if (bytes.byteLength > IMPORT_BYTES_MAX)
    throw new HeimdallError('VALUE_INVALID', `the input has more than ${IMPORT_BYTES_MAX} bytes`)
  return bytes
}

/** The argument `text`; without it, or with `-`, stdin without its final line feed. `what` is shown to a human who is to type it. */
export async function textOrInput(context: Context, text: string | undefined, what: string): Promise<string> {
  if (text !== undefined && text !== '-') return text
  if (context.stdin.isTTY) context.note(`type the ${what}, then Ctrl-D; Ctrl-C leaves`)
  return (await readInput(context, '-')).toString('utf8').replace(/\n$/, '')
}

function readNamed(context: Context, file: string): Buffer {
  try {
    return readFileSync(context.resolve(file))
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR')) throw error
    throw new HeimdallError('USAGE', `cannot read ${printable(file)}: ${error.message}`, { cause: error })
  }
}
