// heimdall mcp secrets, sub secrets: values that servers behind a shim receive and agents never see.
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import { SECRET_BYTES_MAX } from '../../limits.ts'
import { type Command, command, type Context } from '../command.ts'
import { renderTable } from '../render/style.ts'
import { usageError } from '../usage-error.ts'

/** Loaded by the command that runs: `mcp shim` starts through the same file. */
const store = () => import('../../shim/secrets/store.ts')

const list = command({
  names: ['heimdall mcp secrets list', 'sub secrets list'],
  summary: 'List the names of stored secrets, never their values',
  examples: { 'heimdall mcp secrets list': 'lists them with the time of their last change' },
  output: 'path (file of the store), secrets: array of {ref, source, updated_at}',
  run: async (context) => {
    const { readSecrets, secretsPath } = await store()
    const path = secretsPath(context.env, context.cwd)
    const secrets = [...readSecrets(path)]
      .map(([ref, { source, updated_at }]) => ({ ref, source: source ?? null, updated_at: updated_at ?? null }))
      .sort((a, b) => a.ref.localeCompare(b.ref))
    const rows = secrets.map(({ ref, source, updated_at: at }) => [ref, source ?? '', at ?? ''])
    return {
      data: { path, secrets },
      text:
        secrets.length === 0
          ? `No secrets in ${escapeControls(path)}.`
          : renderTable(context.style, ['REF', 'SOURCE', 'UPDATED'], rows),
    }
  },
})

const add = command({
  names: ['heimdall mcp secrets add', 'sub secrets add'],
  summary: 'Store a secret for servers behind a shim',
  about:
    'Prompts for the value without echo, or reads it from stdin; one trailing newline is dropped. A server receives ' +
    'it through a binding with the source "file" (docs/secrets.md). Replaces a secret of the same name. Needs a ' +
    'human at a terminal outside of sessions and agents.',
  args: [{ name: 'ref', help: 'name of the secret, as bindings use it' }],
  flags: {
    source: {
      choices: ['file', 'keychain'],
      default: 'file',
      help: 'where to store it; for the keychain this prints the command of the system that does it',
    },
    value: { value: 'VALUE', help: 'rejected: every process can read command lines' },
  },
  examples: {
    'heimdall mcp secrets add github_token': 'prompts for the value and stores it',
    'heimdall mcp secrets add deploy_key < key.pem': 'reads the value from a file',
  },
  output: 'ref, path (file of the store), was_replaced, updated_at',
  run: async (context, { args: { ref }, flags }) => {
    const { SECRET_REF, SECRET_REF_RULE } = await import('../../shim/secrets/bindings.ts')
    const { whyNotValue } = await import('../../shim/secrets/value.ts')
    if (flags.value !== undefined)
      throw usageError(
        '--value is not accepted: every process can read command lines',
        `leave --value out to be prompted, or use: ${context.calledAs} ${ref} < FILE. What you typed may be in your shell’s history: rotate it`,
      )
    if (!SECRET_REF.test(ref)) throw usageError(`invalid secret name ${printable(ref)}`, SECRET_REF_RULE)
    if (flags.source === 'keychain') {
      const { keychainCommand } = await import('../../shim/secrets/keychain.ts')
      throw usageError('the keychain is filled with the system’s own program', keychainCommand(process.platform, ref))
    }
    await requireHuman('heimdall mcp secrets add')
    const value = await valueFrom(context, ref)
    const why = whyNotValue(value)
    if (why !== null) throw new HeimdallError('SECRET_UNFIT', `the value ${why}`)
    await warnIfShort(context, value)
    const { changeSecrets, secretsPath } = await store()
    const path = secretsPath(context.env, context.cwd)
    const updated_at = new Date(context.clock.wallMs()).toISOString()
    const was_replaced = await changeSecrets(path, (secrets) => {
      const had = secrets.has(ref)
      secrets.set(ref, { value, source: 'file', updated_at })
      return had
    })
    return {
      data: { ref, path, was_replaced, updated_at },
      text: `${was_replaced ? 'Replaced' : 'Stored'} ${ref} in ${path}`,
    }
  },
})

const remove = command({
  names: ['heimdall mcp secrets remove', 'sub secrets remove', 'sub secrets rm'],
  summary: 'Remove secrets from the store: all that are named, or none',
  about: 'Running servers keep the values they received. Needs a human.',
  args: [{ name: 'ref', help: 'name of a secret', variadic: true }],
  examples: { 'heimdall mcp secrets remove github_token': 'removes it from the store' },
  output: 'path (file of the store), removed (names)',
  run: async (context, { args: { ref: refs } }) => {
    await requireHuman('heimdall mcp secrets remove')
    const { changeSecrets, readSecrets, secretsPath } = await store()
    const path = secretsPath(context.env, context.cwd)
    const refuseMissing = (secrets: { has(ref: string): boolean }): void => {
      const missing = refs.find((ref) => !secrets.has(ref))
      if (missing === undefined) return
      throw new HeimdallError('SECRET_NOT_FOUND', `${path} has no secret named ${printable(missing)}`, {
        hint: 'heimdall mcp secrets list shows their names',
      })
    }
    // First without the lock, which would create the folder of a store that does not exist.
    refuseMissing(readSecrets(path))
    await changeSecrets(path, (secrets) => {
      refuseMissing(secrets)
      for (const ref of refs) secrets.delete(ref)
    })
    return { data: { path, removed: refs }, text: refs.map((ref) => `Removed ${ref} from ${path}`).join('\n') }
  },
})

async function requireHuman(name: string): Promise<void> {
  const { requirePerson } = await import('../../person.ts')
  requirePerson(name)
}

/** A trailing newline comes from the editor or from `echo`. */
async function valueFrom({ stdin, stderr }: Context, ref: string): Promise<string> {
  if (stdin.isTTY) {
    const { askHidden } = await import('../hidden-prompt.ts')
    return askHidden(stdin, stderr, `Value of ${ref}: `)
  }
  const { readAll } = await import('../stdin.ts')
  // One byte more than the limit is enough to be rejected by it.
  const bytes = await readAll(stdin, SECRET_BYTES_MAX + 2)
  return bytes.toString('utf8').replace(/\r?\n$/, '')
}

async function warnIfShort({ note }: Context, value: string): Promise<void> {
  const { isShort, isTooShortToFind } = await import('../../shim/secrets/value.ts')
  if (isTooShortToFind(value)) note('the value is too short to be redacted: its binding must say "redact": false')
  else if (isShort(value)) note('the value is short: other text that contains it will be redacted as well')
}

export const secretCommands: readonly Command[] = [list, add, remove]
