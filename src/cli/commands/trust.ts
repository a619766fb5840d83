// heimdall trust: a person lets the settings file of a project count, exactly as it is now; and the list of what was let.
import { join } from 'node:path'
import { CONFIG_FILE, CONFIG_KEYS, type ConfigKey, isUsersFile, parseConfig, readConfigFile } from '../../config.ts'
import { HeimdallError } from '../../errors.ts'
import { requirePerson } from '../../person.ts'
import { ensureFolder, readFileIfThere, removeIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { namesIn } from '../../storage/folder-names.ts'
import type { Env } from '../../paths.ts'
import { isTrusted, sha256, trustDir, trustRecordPath } from '../../trust.ts'
import type { Answer, Context, Run } from '../command.ts'
import { renderTable } from '../render/style.ts'
import type { trust } from '../table/core.ts'
import { showValue } from './config/list.ts'

interface TrustRecord {
  readonly path: string
  readonly sha256: string
  /** The unix user, and the terminal that it was typed at. */
  readonly by: string
  readonly terminal: string
  readonly at: string
}

export const run: Run<typeof trust> = async (context, { args, flags }) => {
  if (flags.list === true) return list(context)
  const path = context.resolve(args.file ?? CONFIG_FILE)
  if (isUsersFile(context.env, path))
    throw new HeimdallError('USAGE', `${path} is your own file, which counts without being trusted`)
  const text = readConfigFile(path, 'project')
  if (text === undefined) throw new HeimdallError('CONFIG_UNREADABLE', `there is no file ${path}`)
  return flags.remove === true ? withdraw(context, path, text) : await grant(context, path, text)
}

async function grant(context: Context, path: string, text: string): Promise<Answer> {
  const person = requirePerson('heimdall trust')
  const values = await parseConfig(text, path)
  const record: TrustRecord = {
    path,
    sha256: sha256(text),
    by: person.name,
    terminal: person.terminal,
    at: new Date(context.clock.wallMs()).toISOString(),
  }
  ensureFolder(trustDir(context.env))
  replaceFile(trustRecordPath(context.env, path, text), `${JSON.stringify(record)}\n`)
  const settings = (Object.keys(values) as ConfigKey[]).map((key) => ({
    key,
    value: values[key],
    needs_trust: CONFIG_KEYS[key].from === 'trusted file',
  }))
  const shown = settings.filter(({ needs_trust: needsTrust }) => needsTrust)
  const lines = shown.map(({ key, value }) => `  ${key} = ${showValue(value)}`)
  return {
    data: { ...record, settings },
    text: [
      `Trusted ${path} as it is now; any change of it undoes this.`,
      ...(lines.length === 0 ? ['Nothing in it needs trust.'] : ['What counts from now on:', ...lines]),
    ].join('\n'),
  }
}

/** Anybody may: an agent that can write the file can undo the trust in it anyway. */
function withdraw({ env }: Context, path: string, text: string): Answer {
  const wasTrusted = removeIfThere(trustRecordPath(env, path, text))
  return {
    data: { path, sha256: sha256(text), was_trusted: wasTrusted },
    text: wasTrusted ? `${path} is no longer trusted` : `${path} was not trusted as it is now`,
  }
}

function list({ env, style }: Context): Answer {
  const trusted = recordsIn(trustDir(env)).map((record) => ({ ...record, state: stateOf(env, record) }))
  const rows = trusted.map(({ state, path, by, at, sha256: hash }) => [state, path, by, at, hash.slice(0, 12)])
  return { data: { trusted }, text: renderTable(style, ['STATE', 'FILE', 'BY', 'AT', 'SHA-256'], rows) }
}

function recordsIn(folder: string): TrustRecord[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const path = join(folder, name)
      const text = readFileIfThere(path)?.toString('utf8')
      return text === undefined ? [] : [parseRecord(text) ?? unreadable(path)]
    })
    .sort((a, b) => a.path.localeCompare(b.path) || a.at.localeCompare(b.at))
}

/** Of what is no record any more, the file itself: it lets count whatever it is named after. */
const unreadable = (path: string): TrustRecord => ({ path, sha256: '', by: '', terminal: '', at: '' })

/** Nothing for a text that is not one of these. */
function parseRecord(text: string): TrustRecord | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isRecord(value: unknown): value is TrustRecord {
  if (typeof value !== 'object' || value === null) return false
  const { path, sha256: hash, by, at } = value as Partial<Record<keyof TrustRecord, unknown>>
  return [path, hash, by, at].every((field) => typeof field === 'string')
}

/** `refused`: the record is not one that only its user can have written. */
type State = 'trusted' | 'changed' | 'refused' | 'unreadable' | 'gone'

/** Asked as it is asked when settings are read: a record that does not count is not listed as one that does. */
function stateOf(env: Env, { path, sha256: hash }: TrustRecord): State {
  if (hash === '') return 'unreadable'
  const text = readFileIfThere(path)?.toString('utf8')
  if (text === undefined) return 'gone'
  if (sha256(text) !== hash) return 'changed'
  return isTrusted(env, path, text) ? 'trusted' : 'refused'
}
