// The file that secrets are kept in: one JSON object, name to value, for its user alone. The origin's store has the same shape.
import { lstatSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { type Env, stateFolder } from '../../paths.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { withFileLock } from '../../storage/file-lock.ts'

export interface StoredSecret {
  readonly value: string
  readonly source?: string
  readonly updated_at?: string
}

type Stored = ReadonlyMap<string, StoredSecret>

/** `SUB_SECRETS_PATH`, else in a folder of its own that nobody else may enter. */
export function secretsPath(env: Env, resolveFrom: string): string {
  const given = env['SUB_SECRETS_PATH']?.trim() ?? ''
  return given === '' ? join(stateFolder(env, 'secrets', 'entered'), 'secrets.json') : resolve(resolveFrom, given)
}

export function readSecrets(path: string): Stored {
  refuseOthers(path)
  return parseSecrets(readFileIfThere(path), path)
}

/** Lets `change` make the new content of the store from the old, while nobody else does. */
export async function changeSecrets<T>(path: string, change: (secrets: Map<string, StoredSecret>) => T): Promise<T> {
  ensureFolder(dirname(path))
  refuseOthers(path)
  return withFileLock(path, () => {
    const secrets = new Map(parseSecrets(readFileIfThere(path), path))
    const result = change(secrets)
    replaceFile(path, `${JSON.stringify(Object.fromEntries(secrets), null, 2)}\n`, { mode: 0o600 })
    return result
  })
}

/** A store that others can read has told its secrets already, and one that they can write tells ours what to believe. */
function refuseOthers(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (stats.uid !== process.getuid?.())
    throw new HeimdallError('SECRETS_NOT_PRIVATE', `${path} belongs to another user`)
  const mode = stats.mode & 0o777
  if ((mode & 0o077) !== 0)
    throw new HeimdallError('SECRETS_NOT_PRIVATE', `${path} is open to others: its mode is ${mode.toString(8)}`, {
      hint: `chmod 600 ${path}, and change the secrets that others may have read`,
    })
}

function parseSecrets(bytes: Buffer | undefined, path: string): Stored {
  const text = bytes?.toString('utf8').trim() ?? ''
  if (text === '') return new Map()
  // No word of the text goes into a message: it is full of secrets.
  const corrupt = (what: string): HeimdallError => new HeimdallError('STORE_CORRUPT', `${path} ${what}`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw corrupt('is not JSON')
    throw error
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw corrupt('is not an object')
  const entries = Object.entries(value)
  if (!entries.every((entry): entry is [string, StoredSecret] => isStored(entry[1])))
    throw corrupt('has an entry without a text as its value')
  return new Map(entries)
}

const isStored = (value: unknown): value is StoredSecret =>
  typeof value === 'object' && value !== null && 'value' in value && typeof value.value === 'string'
