// The URL of an engine from whoever calls: from a file, from standard input or typed unseen, and never from the command line.
import { HeimdallError } from '../../../errors.ts'
import { FLEET_URL_BYTES_MAX } from '../../../limits.ts'
import { readFileIfThere } from '../../../storage/atomic-file.ts'
import type { Context } from '../../command.ts'
import { askHidden } from '../../hidden-prompt.ts'
import { readAll } from '../../stdin.ts'

export async function engineUrl(context: Context, file: string | undefined): Promise<string> {
  const text = (await urlText(context, file)).trim()
  if (text === '' || text.length > FLEET_URL_BYTES_MAX || /\s/.test(text))
    throw new HeimdallError('USAGE', 'no URL of an engine was given', {
      hint: `${context.calledAs} < FILE, or --url-file FILE: one line, postgres://role:password@host:5432/database`,
    })
  return text
}

async function urlText(context: Context, file: string | undefined): Promise<string> {
  if (file !== undefined) {
    const path = context.resolve(file)
    const bytes = readFileIfThere(path)
    if (bytes === undefined) throw new HeimdallError('USAGE', `there is no file ${path}`)
    return bytes.toString('utf8')
  }
  const { stdin, stderr } = context
  if (stdin.isTTY) return askHidden(stdin, stderr, 'URL of the engine: ')
  return (await readAll(stdin, FLEET_URL_BYTES_MAX)).toString('utf8')
}
