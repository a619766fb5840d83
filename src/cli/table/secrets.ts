// Commands of the store of secrets.
import { type Command, spec } from '../command.ts'

const STORE_ERRORS = ['SECRETS_NOT_PRIVATE', 'STORE_CORRUPT', 'STORE_UNREADABLE'] as const
const CHANGE_ERRORS = ['PERSON_REQUIRED', 'STORE_FULL', 'STORE_BUSY', ...STORE_ERRORS] as const

export const secretsAdd = spec({
  names: ['heimdall secrets add', 'sub secrets add'],
  summary: 'Keeps a secret for servers behind a shim',
  about:
    'Asks for the value without showing it, or reads it from stdin; one newline at its end is not part of it. ' +
    'A server gets it by a binding with the source "file" (docs/secrets.md). A secret of the same name is replaced. ' +
    'Takes a person, at a terminal that no session and no agent is above.',
  args: [{ name: 'ref', help: 'name of the secret, as bindings say it' }],
  flags: {
    source: {
      type: 'string',
      choices: ['file', 'keychain'],
      default: 'file',
      help: 'where to keep it; the keychain is filled with the system’s own program, which this then names',
    },
    value: { type: 'string', value: 'VALUE', help: 'refused: every process can read command lines' },
  },
  examples: [
    { run: 'heimdall secrets add github_token', does: 'asks for the value and keeps it' },
    { run: 'heimdall secrets add deploy_key < key.pem', does: 'reads the value from a file' },
  ],
  errors: ['SECRET_UNFIT', ...CHANGE_ERRORS],
  output: {
    ref: 'name of the secret',
    path: 'file of the store',
    was_replaced: 'whether there was one of this name',
    updated_at: 'when',
  },
})

export const secretsList = spec({
  names: ['heimdall secrets list', 'sub secrets list'],
  summary: 'Names of the secrets that are kept; never their values',
  examples: [{ run: 'heimdall secrets list', does: 'lists them, with the time of their last change' }],
  errors: STORE_ERRORS,
  output: { path: 'file of the store', secrets: 'array of {ref, source, updated_at}' },
})

export const secretsRemove = spec({
  names: ['heimdall secrets remove', 'sub secrets remove', 'sub secrets rm'],
  summary: 'Forgets secrets',
  about: 'Servers that run keep what they were given. Takes a person.',
  args: [{ name: 'ref', help: 'name of a secret', variadic: true }],
  examples: [{ run: 'heimdall secrets remove github_token', does: 'takes it out of the store' }],
  errors: ['SECRET_NOT_FOUND', ...CHANGE_ERRORS],
  output: { path: 'file of the store', removed: 'names of those that were removed' },
})

export const secretsCommands: readonly Command[] = [
  { spec: secretsAdd, load: () => import('../commands/secrets/add.ts') },
  { spec: secretsList, load: () => import('../commands/secrets/list.ts') },
  { spec: secretsRemove, load: () => import('../commands/secrets/remove.ts') },
]
