// What `hm record` and `hm export` leave out of what they write: values in the store of secrets, which is all that a command knows.
import { HeimdallError } from '../../../errors.ts'
import { TerminalCover } from '../../../known-secrets/terminal-cover.ts'
import { readSecrets, secretsPath } from '../../../shim/secrets/store.ts'
import { isTooShortToFind } from '../../../shim/secrets/value.ts'
import type { Context } from '../../command.ts'

export function coverOfStore(context: Context): TerminalCover {
  const cover = new TerminalCover()
  try {
    const stored = [...readSecrets(secretsPath(context.env, context.cwd)).values()]
    cover.add(stored.map(({ value }) => value).filter((value) => !isTooShortToFind(value)))
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    context.note(`stored secrets are not looked for: ${error.message}`)
  }
  return cover
}
