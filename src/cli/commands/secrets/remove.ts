// heimdall secrets remove: all of those named, or none.
import { HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import { requirePerson } from '../../../person.ts'
import { changeSecrets, readSecrets, secretsPath } from '../../../shim/secrets/store.ts'
import type { Run } from '../../command.ts'
import type { secretsRemove } from '../../table/secrets.ts'

export const run: Run<typeof secretsRemove> = async (context, { args: { ref: refs } }) => {
  requirePerson('heimdall secrets remove')
  const path = secretsPath(context.env, context.cwd)
  const missing = (secrets: { has(ref: string): boolean }): string | undefined => refs.find((ref) => !secrets.has(ref))
  const refuse = (ref: string | undefined): void => {
    if (ref === undefined) return
    throw new HeimdallError('SECRET_NOT_FOUND', `${path} has no secret named ${printable(ref)}`, {
      hint: 'heimdall secrets list shows their names',
    })
  }
  // Before anything is made for a store that is not there.
  refuse(missing(readSecrets(path)))
  await changeSecrets(path, (secrets) => {
    refuse(missing(secrets))
    for (const ref of refs) secrets.delete(ref)
  })
  return { data: { path, removed: refs }, text: refs.map((ref) => `Removed ${ref} from ${path}`).join('\n') }
}
