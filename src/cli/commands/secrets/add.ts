// heimdall secrets add: a person gives a value, which is shown to nobody.
import { HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import { SECRET_BYTES_MAX } from '../../../limits.ts'
import { requirePerson } from '../../../person.ts'
import { SECRET_REF, SECRET_REF_RULE } from '../../../shim/secrets/bindings.ts'
import { keychainCommand } from '../../../shim/secrets/keychain.ts'
import { changeSecrets, secretsPath } from '../../../shim/secrets/store.ts'
import { isShort, isTooShortToFind, whyNotValue } from '../../../shim/secrets/value.ts'
import type { Context, Run } from '../../command.ts'
import { askHidden } from '../../hidden-prompt.ts'
import { readAll } from '../../stdin.ts'
import type { secretsAdd } from '../../table/secrets.ts'

export const run: Run<typeof secretsAdd> = async (context, { args: { ref }, flags }) => {
  if (flags.value !== undefined)
    throw new HeimdallError('USAGE', 'a secret is not taken from the command line, where every process can read it', {
      hint: `leave --value out to be asked, or use: ${context.calledAs} ${ref} < FILE. What you typed may be in your shell’s history: change it`,
    })
  if (!SECRET_REF.test(ref))
    throw new HeimdallError('USAGE', `${printable(ref)} is no name of a secret`, { hint: SECRET_REF_RULE })
  if (flags.source === 'keychain')
    throw new HeimdallError('USAGE', 'the keychain is filled with the system’s own program', {
      hint: keychainCommand(process.platform, ref),
    })
  requirePerson('heimdall secrets add')
  const value = await valueFrom(context, ref)
  const why = whyNotValue(value)
  if (why !== null) throw new HeimdallError('SECRET_UNFIT', `the value ${why}`)
  warnOfShort(context, value)
  const path = secretsPath(context.env, context.cwd)
  const updated_at = new Date(context.clock.wallMs()).toISOString()
  const was_replaced = await changeSecrets(path, (secrets) => {
    const hadOne = secrets.has(ref)
    secrets.set(ref, { value, source: 'file', updated_at })
    return hadOne
  })
  return {
    data: { ref, path, was_replaced, updated_at },
    text: `${was_replaced ? 'Replaced' : 'Kept'} ${ref} in ${path}`,
  }
}

/** One newline at the end is of the editor or of `echo`, not of the value. */
async function valueFrom({ stdin, stderr }: Context, ref: string): Promise<string> {
  if (stdin.isTTY) return askHidden(stdin, stderr, `Value of ${ref}: `)
  // A byte more than the limit is enough to be refused by it.
  const bytes = await readAll(stdin, SECRET_BYTES_MAX + 2)
  return bytes.toString('utf8').replace(/\r?\n$/, '')
}

function warnOfShort({ note }: Context, value: string): void {
  if (isTooShortToFind(value))
    note('so short a value cannot be found again in what is written: its binding has to say "redact": false')
  else if (isShort(value)) note('the value is short: other words that look like it will be taken out as well')
}
