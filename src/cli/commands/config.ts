// Commands of settings: `heimdall config`, and `heimdall trust` for the settings file of a project.
import { join } from 'node:path'
import {
  CONFIG_FILE,
  CONFIG_KEYS,
  type Config,
  type ConfigKey,
  isConfigKey,
  isUsersFile,
  parseConfig,
  readConfigFile,
  settingFromText,
} from '../../config.ts'
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import { configDir, type Env } from '../../paths.ts'
import { requirePerson } from '../../person.ts'
import { ensureFolder, readFileIfThere, removeIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { namesIn } from '../../storage/folder-names.ts'
import { nearest } from '../../suggest.ts'
import { isTrusted, sha256, trustDir, trustRecordPath } from '../../trust.ts'
import { type Answer, type ArgSpec, type Command, command, type Context } from '../command.ts'
import { renderTable } from '../render/style.ts'
import { usageError } from '../usage-error.ts'

const TRUST = 'heimdall trust'
const keyArg = { name: 'key', help: 'a key that heimdall config list shows' } as const satisfies ArgSpec
const fileArg = { name: 'file', help: 'the file; default ./heimdall.toml', optional: true } as const satisfies ArgSpec

function settingNamed(key: string): ConfigKey {
  if (isConfigKey(key)) return key
  const known = Object.keys(CONFIG_KEYS)
  const close = nearest(key, known)
  const near = [...new Set([close ?? [], known.filter((one) => one.split(/[_.]/).includes(key))].flat())]
  const list = 'heimdall config list shows all settings'
  throw usageError(
    `unknown setting ${printable(key)}`,
    near.length === 0 ? list : `did you mean ${near.join(' or ')}? ${list}`,
  )
}

/** Settings with those of the repository's store. If the store cannot be read, `heimdall doctor` explains it; the rest is shown. */
async function settingsOf(context: Context): Promise<Config> {
  const config = await context.settings()
  try {
    const { withRepositorySettings } = await import('../../coordination/repository-settings.ts')
    return await withRepositorySettings(context, config)
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    if (error.code === 'FOLDER_GONE') return config
    if (!error.code.startsWith('STORE_')) throw error
    context.note(`warning: settings of the repository cannot be read: ${error.message}`)
    return config
  }
}

/** Escaped, because an untrusted file may contain terminal sequences. */
const shown = (value: unknown): string => escapeControls(typeof value === 'string' ? value : JSON.stringify(value))

async function setInRepository(context: Context, key: string, text: string): Promise<Answer> {
  const [{ setStaleMinutes }, { personIn, withStore }] = await Promise.all([
    import('../../coordination/who/patience.ts'),
    import('../coordination-store.ts'),
  ])
  if (!/^\d{1,6}$/.test(text))
    throw new HeimdallError('INVALID_ARGS', `${key} must be a whole number of minutes, got ${printable(text)}`)
  return withStore(context, async (db) => {
    const { name } = await personIn(context, db, `heimdall config set ${key}`, null)
    const value = Number(text)
    await setStaleMinutes(db, { kind: 'human', name }, value)
    return { data: { key, value, origin: 'repository' }, text: `${key} is ${value} in this repository` }
  })
}

const LISTS = ['env-list', 'string-list', 'peer-list', 'machine-list', 'notify']

async function setInUsersFile({ env }: Context, key: ConfigKey, text: string): Promise<Answer> {
  const path = join(configDir(env), CONFIG_FILE)
  const { type, help } = CONFIG_KEYS[key]
  if (LISTS.includes(type))
    throw usageError(`${key} is a table or a list, which this command cannot set`, `edit ${path}: ${help}`)
  const { withSetting } = await import('../../config-edit.ts')
  requirePerson('heimdall config set')
  const value = settingFromText(type, text, key)
  const after = await withSetting(readConfigFile(path, 'user') ?? '', path, key, value)
  ensureFolder(configDir(env))
  replaceFile(path, after)
  return { data: { key, value, origin: path }, text: `${key} is ${shown(value)} in ${shown(path)}` }
}

interface TrustRecord {
  readonly path: string
  readonly sha256: string
  /** The unix user, and the terminal that the command was typed at. */
  readonly by: string
  readonly terminal: string
  readonly at: string
}

function projectFile(context: Context, file: string = CONFIG_FILE): { readonly path: string; readonly text: string } {
  const path = context.resolve(file)
  if (isUsersFile(context.env, path)) throw usageError(`${path} is your own settings file, which needs no trust`)
  const text = readConfigFile(path, 'project')
  if (text === undefined) throw new HeimdallError('CONFIG_UNREADABLE', `no such file: ${path}`)
  return { path, text }
}

function recordsIn(folder: string): TrustRecord[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const path = join(folder, name)
      const text = readFileIfThere(path)?.toString('utf8')
      // A damaged record is listed by its own path, because it still grants trust.
      return text === undefined ? [] : [parseRecord(text) ?? { path, sha256: '', by: '', terminal: '', at: '' }]
    })
    .sort((a, b) => a.path.localeCompare(b.path) || a.at.localeCompare(b.at))
}

function parseRecord(text: string): TrustRecord | undefined {
  try {
    const value = JSON.parse(text) as Partial<Record<keyof TrustRecord, unknown>> | null
    const fields = [value?.path, value?.sha256, value?.by, value?.at]
    return fields.every((field) => typeof field === 'string') ? (value as TrustRecord) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** `refused`: other users can write the record, so it does not count. */
type TrustState = 'trusted' | 'changed' | 'refused' | 'unreadable' | 'gone'

function stateOf(env: Env, { path, sha256: hash }: TrustRecord): TrustState {
  if (hash === '') return 'unreadable'
  const text = readFileIfThere(path)?.toString('utf8')
  if (text === undefined) return 'gone'
  if (sha256(text) !== hash) return 'changed'
  return isTrusted(env, path, text) ? 'trusted' : 'refused'
}

export const commands: readonly Command[] = [
  command({
    names: ['heimdall config list'],
    summary: 'List all settings and their values',
    flags: {
      'show-origin': {
        help: 'also show what set each value: a flag, a variable, a file, the repository or the default',
      },
    },
    examples: { 'heimdall config list --show-origin': 'shows which file or variable set each value' },
    output:
      'settings: list of {key, value, origin, help}, with ignored {value, origin, fix} if an untrusted file sets it',
    run: async (context, { flags }) => {
      const config = await settingsOf(context)
      const settings = (Object.keys(config) as ConfigKey[]).map((key) => {
        const { ignored, ...counts } = config[key]
        const held = ignored === undefined ? {} : { ignored: { ...ignored, fix: TRUST } }
        return { key, ...counts, ...held, help: CONFIG_KEYS[key].help }
      })
      if (flags['show-origin'] !== true)
        return {
          data: { settings },
          text: renderTable(
            context.style,
            ['KEY', 'VALUE'],
            settings.map(({ key, value }) => [key, shown(value)]),
          ),
        }
      const rows = settings.flatMap(({ key, value, origin, ignored }) => [
        [key, shown(value), origin],
        ...(ignored === undefined
          ? []
          : [[key, shown(ignored.value), `ignored: ${ignored.origin} is not trusted (${TRUST})`]]),
      ])
      return { data: { settings }, text: renderTable(context.style, ['KEY', 'VALUE', 'ORIGIN'], rows) }
    },
  }),
  command({
    names: ['heimdall config get'],
    summary: 'Print the value of a setting',
    args: [keyArg],
    examples: { 'heimdall config get scrollback_bytes': 'prints 65536 by default' },
    output: 'key, value, origin',
    run: async (context, { args }) => {
      const key = settingNamed(args.key)
      const config = await settingsOf(context)
      return { data: { key, ...config[key] }, text: shown(config[key].value) }
    },
  }),
  command({
    names: ['heimdall config set'],
    changes: true,
    summary: 'Change a setting',
    about:
      'Needs a human at a terminal. Writes to your own heimdall.toml; agent_stale_minutes is stored in the repository ' +
      'for everyone. Tables and lists are edited in the file.',
    literal: true,
    args: [keyArg, { name: 'value', help: 'the new value' }],
    examples: {
      'heimdall config set detach_key 29': 'Ctrl-] detaches from sessions from now on',
      'heimdall config set agent_stale_minutes 30': 'agents in this repository become stale after 30 minutes',
    },
    output: 'key, value, origin (the file, or repository)',
    run: async (context, { args }) => {
      const key = settingNamed(args.key)
      return key === 'agent_stale_minutes'
        ? await setInRepository(context, key, args.value)
        : await setInUsersFile(context, key, args.value)
    },
  }),
  command({
    names: ['heimdall trust'],
    summary: "Trust the project's heimdall.toml, with its current content",
    about:
      'A cloned repository may contain a heimdall.toml. Settings in it that could run code, send data or hide what an ' +
      'agent does are ignored until you trust the file: env, socket_dir, session_env_var, classifier, logs, how much ' +
      'output is stored, and which processes are ended. Linked worktrees share the trust; any change of the file ends it. ' +
      'Needs a human at a terminal.',
    args: [fileArg],
    examples: { 'heimdall trust': 'trusts ./heimdall.toml and shows which settings it enables' },
    output: 'path, sha256, by, terminal, at, settings: list of {key, value, needs_trust}',
    run: async (context, { args }) => {
      const { path, text } = projectFile(context, args.file)
      const person = requirePerson(TRUST)
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
      const enabled = settings.filter((one) => one.needs_trust).map(({ key, value }) => `  ${key} = ${shown(value)}`)
      return {
        data: { ...record, settings },
        text: [
          `Trusted ${path} with its current content; any change ends the trust.`,
          ...(enabled.length === 0 ? ['No setting in it needs trust.'] : ['Settings that count now:', ...enabled]),
        ].join('\n'),
      }
    },
  }),
  command({
    names: ['heimdall trust list'],
    summary: 'List trusted files, by whom and when, and whether they have changed since',
    examples: { 'heimdall trust list': 'shows all files that were trusted' },
    output: 'trusted: list of {path, sha256, by, terminal, at, state: trusted, changed, refused, unreadable or gone}',
    run: async ({ env, style }) => {
      const trusted = recordsIn(trustDir(env)).map((record) => ({ ...record, state: stateOf(env, record) }))
      const rows = trusted.map(({ state, path, by, at, sha256: hash }) => [state, path, by, at, hash.slice(0, 12)])
      return { data: { trusted }, text: renderTable(style, ['STATE', 'FILE', 'BY', 'AT', 'SHA-256'], rows) }
    },
  }),
  command({
    names: ['heimdall trust remove'],
    summary: "End the trust in a project's heimdall.toml",
    // Agents may use it too: an agent that can write the file can end the trust in any case.
    args: [fileArg],
    examples: { 'heimdall trust remove': 'ends the trust in ./heimdall.toml' },
    output: 'path, sha256, was_trusted',
    run: async (context, { args }) => {
      const { path, text } = projectFile(context, args.file)
      const wasTrusted = removeIfThere(trustRecordPath(context.env, path, text))
      return {
        data: { path, sha256: sha256(text), was_trusted: wasTrusted },
        text: wasTrusted ? `${path} is no longer trusted` : `${path} is not trusted with its current content`,
      }
    },
  }),
]
