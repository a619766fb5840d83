// heimdall.toml: one table of keys, one precedence, and for every value the place it came from.
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type EnvEntry, type MachineEntry, type PeerEntry } from './config-lists.ts'
import {
  checkValue,
  type ConfigValue,
  DEFAULT_CLASSIFIER,
  type KeyType,
  unknownKey,
  wrongType,
} from './config-values.ts'
import { HeimdallError, isErrno } from './errors.ts'
import { printable } from './ids.ts'
import { CONFIG_BYTES_MAX } from './limits.ts'
import { DEFAULT_NOTIFY } from './notify-setting.ts'
import { configDir, type Env } from './paths.ts'
import { isObject } from './plain-object.ts'
import { isTrusted } from './trust.ts'

interface KeySpec {
  readonly type: KeyType
  readonly choices?: readonly string[]
  readonly env?: string
  readonly default: ConfigValue
  /**
   * Whose file may set it. A project's file comes with whatever was cloned: what runs code, sends something
   * elsewhere or hides from the person what an agent does, counts there only once the person has trusted it. What is
   * about the person and not about the project counts in the person's own file alone.
   */
  readonly from: 'any file' | 'trusted file' | 'own file'
  readonly help: string
}

export type { EnvEntry, MachineEntry, PeerEntry }

/** `null` as a default means that the default is worked out where the value is used. */
export const CONFIG_KEYS = {
  // sessions: the keys of supervisor configuration files in the field
  socket_dir: {
    type: 'path',
    default: null,
    from: 'trusted file',
    help: 'folder of session sockets; default ~/.local/share/heimdall/sessions',
  },
  scrollback_bytes: {
    type: 'integer',
    default: 65_536,
    from: 'trusted file',
    help: 'output kept for replay to late subscribers; 0 keeps none',
  },
  session_env_var: {
    type: 'string',
    default: 'HEIMDALL_SESSION_ID',
    from: 'trusted file',
    help: 'variable that tells the child its session id',
  },
  kill_process_group: {
    type: 'boolean',
    default: true,
    from: 'trusted file',
    help: 'signals go to the whole process group of the child',
  },
  log_file: {
    type: 'path',
    default: null,
    from: 'trusted file',
    help: 'supervisor log; default <socket_dir>/<id>.log, /dev/null for none',
  },
  log_level: {
    type: 'string',
    choices: ['error', 'warn', 'info', 'debug'],
    default: 'info',
    from: 'trusted file',
    help: 'error, warn, info or debug',
  },
  log_filter: {
    type: 'string',
    default: null,
    from: 'trusted file',
    help: 'only log lines whose topic starts with this',
  },
  detach_key: {
    type: 'integer',
    default: 28,
    from: 'any file',
    help: 'byte that detaches from an attached session; 28 is Ctrl-\\, 0 turns it off',
  },
  classifier: {
    type: 'classifier',
    default: DEFAULT_CLASSIFIER,
    from: 'trusted file',
    help: 'how activity is read from output: claude, simple or none',
  },
  env: {
    type: 'env-list',
    default: [],
    from: 'trusted file',
    help: '[[env]] tables with name and value, added to the environment of the child',
  },
  // coordination
  agent_stale_minutes: {
    type: 'integer',
    env: 'BB_AGENT_STALE_MINUTES',
    default: 15,
    from: 'any file',
    help: 'silence after which an agent is stale; twice that, evicted; belongs to the repository, a caller can only be more patient',
  },
  claim_on_write: { type: 'boolean', default: true, from: 'any file', help: 'the first write to a path claims it' },
  // runs
  run_quiet_seconds: {
    type: 'integer',
    env: 'HEIMDALL_RUN_QUIET_SECONDS',
    default: 300,
    from: 'any file',
    help: 'how long a run without owner stays open while its host lives and no shim takes part in it; 0 ends it with the last',
  },
  runs_keep_days: {
    type: 'integer',
    env: 'HEIMDALL_RUNS_KEEP_DAYS',
    default: 90,
    from: 'trusted file',
    help: 'records of runs that ended longer ago are removed; 0 keeps them for ever',
  },
  runs_keep_mib: {
    type: 'integer',
    env: 'HEIMDALL_RUNS_KEEP_MIB',
    default: 8_192,
    from: 'trusted file',
    help: 'past so many MiB in all, the oldest records of runs are removed; 0 for no bound',
  },
  // worktrees
  'worktree.dir': {
    type: 'path',
    default: null,
    from: 'trusted file',
    help: 'folder of agents’ worktrees, outside of every checkout; default $XDG_STATE_HOME/heimdall/worktrees',
  },
  'worktree.copy': {
    type: 'string-list',
    default: [],
    from: 'any file',
    help: 'paths of the checkout that git does not have and every worktree gets, such as [".env"]; absent ones are skipped; patterns go into .worktreeinclude',
  },
  'worktree.setup': {
    type: 'string',
    default: null,
    from: 'trusted file',
    help: 'shell command that prepares a new worktree, such as "npm ci"; runs in the worktree, with the path of the checkout in HEIMDALL_CHECKOUT',
  },
  'worktree.check': {
    type: 'string',
    default: null,
    from: 'trusted file',
    help: 'shell command that must succeed on the merged files before heimdall task merge merges, such as "npm test"',
  },
  // dispatch
  peers: {
    type: 'peer-list',
    default: [],
    from: 'trusted file',
    help: '[[peers]] tables with name, url, token_file and role (worker or orchestrator): who tasks are sent to, and who may send',
  },
  // fleet
  machines: {
    type: 'machine-list',
    default: [],
    from: 'own file',
    help: '[[machines]] tables with name (as heimdall fleet status shows it) and ssh (what your ssh calls it): whose terminals the hub opens',
  },
  // waits
  notify: {
    type: 'notify',
    default: DEFAULT_NOTIFY,
    from: 'own file',
    help: '[notify] with command, ntfy, webhook, desktop and content: how you are told that an agent waits for you',
  },
} as const satisfies Record<string, KeySpec>

export type ConfigKey = keyof typeof CONFIG_KEYS

interface Setting {
  readonly value: ConfigValue
  /** `flag`, `env NAME`, the path of a file, or `default`. */
  readonly origin: string
  /** What a project's file says instead, which nobody has trusted. */
  readonly ignored?: { readonly value: ConfigValue; readonly origin: string }
}

export type Config = Readonly<Record<ConfigKey, Setting>>

export interface ConfigSources {
  /** Nothing where the working folder is gone: then there is no project's file. */
  readonly cwd: string | undefined
  readonly env: Env
  /** `--config`: this file and no other. */
  readonly file?: string | undefined
  readonly flags?: Readonly<Partial<Record<ConfigKey, ConfigValue | undefined>>> | undefined
}

interface Layer {
  readonly origin: string
  readonly values: Partial<Record<ConfigKey, ConfigValue>>
  readonly isOwn: boolean
  readonly isTrusted: boolean
}

/** Flag, then environment, then `./heimdall.toml` as far as it is trusted, then the user's file, then the default. */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const layers: Layer[] = []
  for (const { path, owner } of filesOf(sources)) {
    const text = readConfigFile(path, owner)
    if (text === undefined) continue
    const values = await parseConfig(text, path)
    const isOwn = owner !== 'project'
    layers.push({ origin: path, values, isOwn, isTrusted: isOwn || isTrusted(sources.env, path, text) })
  }
  const settings = (Object.keys(CONFIG_KEYS) as ConfigKey[]).map((key) => [key, pick(key, sources, layers)] as const)
  return Object.fromEntries(settings) as Config
}

export const CONFIG_FILE = 'heimdall.toml'

interface ConfigFile {
  readonly path: string
  /** Whoever names a file on the command line answers for it, as for the flags beside it. */
  readonly owner: 'caller' | 'project' | 'user'
}

function filesOf({ cwd, env, file }: ConfigSources): ConfigFile[] {
  if (file !== undefined) return [{ path: file, owner: 'caller' }]
  const own = env['HOME'] === undefined ? undefined : join(configDir(env), CONFIG_FILE)
  const project = cwd === undefined ? undefined : join(cwd, CONFIG_FILE)
  return [
    ...(project === undefined || isUsersFile(env, project) ? [] : [{ path: project, owner: 'project' as const }]),
    ...(own === undefined ? [] : [{ path: own, owner: 'user' as const }]),
  ]
}

/** True for the user's own file, also when the working folder is the one it lies in. */
export function isUsersFile(env: Env, path: string): boolean {
  return env['HOME'] !== undefined && realPathOf(path) === realPathOf(join(configDir(env), CONFIG_FILE))
}

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return path
    throw error
  }
}

function pick(key: ConfigKey, sources: ConfigSources, layers: readonly Layer[]): Setting {
  const spec: KeySpec = CONFIG_KEYS[key]
  const flag = sources.flags?.[key]
  if (flag !== undefined) return { value: flag, origin: 'flag' }
  const variable = spec.env === undefined ? undefined : sources.env[spec.env]
  if (spec.env !== undefined && variable !== undefined && variable !== '')
    return {
      value: settingFromText(spec.type, variable, `environment variable ${spec.env}`),
      origin: `env ${spec.env}`,
    }
  const said = layers.flatMap(({ origin, values, isOwn, isTrusted: isBelieved }) => {
    const value = values[key]
    const counts = isOwn || spec.from === 'any file' || (spec.from === 'trusted file' && isBelieved)
    return value === undefined ? [] : [{ value, origin, counts }]
  })
  const first = said.find(({ counts }) => counts) ?? { value: spec.default, origin: 'default' }
  const ignored = said.find(({ counts }) => !counts)
  return {
    value: first.value,
    origin: first.origin,
    ...(ignored === undefined ? {} : { ignored: { value: ignored.value, origin: ignored.origin } }),
  }
}

export function readConfigFile(path: string, owner: ConfigFile['owner']): string | undefined {
  try {
    const stats = statSync(path)
    // A link to a device in somebody's repository would be read for ever.
    if (!stats.isFile() && owner === 'project')
      throw new HeimdallError('CONFIG_INVALID', `${path} is not a regular file`)
    if (stats.size > CONFIG_BYTES_MAX)
      throw new HeimdallError('CONFIG_INVALID', `${path} has ${stats.size} bytes, limit ${CONFIG_BYTES_MAX}`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT') && owner !== 'caller') return undefined
    if (error instanceof HeimdallError) throw error
    throw new HeimdallError(
      'CONFIG_UNREADABLE',
      `cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`,
      {
        hint: 'check the path and its permissions',
        cause: error,
      },
    )
  }
}

/** Parses one file; every unknown key and every value of the wrong type is refused by name. */
export async function parseConfig(text: string, path: string): Promise<Partial<Record<ConfigKey, ConfigValue>>> {
  const { parse, TomlError } = await import('smol-toml')
  let raw: Record<string, unknown>
  try {
    raw = parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new HeimdallError(
      'CONFIG_INVALID',
      `${path}:${error.line}:${error.column}: ${error.message.split('\n')[0]}`,
      { cause: error },
    )
  }
  const values: Partial<Record<ConfigKey, ConfigValue>> = {}
  for (const [key, value] of Object.entries(raw).flatMap(dotted)) {
    if (!isConfigKey(key)) throw unknownKey(path, key, Object.keys(CONFIG_KEYS))
    const { type, choices }: KeySpec = CONFIG_KEYS[key]
    if (choices?.includes(value as string) === false) throw wrongType(path, key, `one of ${choices.join(', ')}`, value)
    values[key] = checkValue(path, key, type, value)
  }
  refuseOurVariables(path, values)
  return values
}

/** `[worktree] dir` is the key `worktree.dir`. */
const dotted = ([key, value]: [string, unknown]): [string, unknown][] =>
  isObject(value) && Object.keys(CONFIG_KEYS).some((one) => one.startsWith(`${key}.`))
    ? Object.entries(value).map(([name, one]) => [`${key}.${name}`, one])
    : [[key, value]]

/** Who an agent is and what it may do is said by whoever starts it; a file, whosever it is, cannot. */
const OUR_VARIABLE = /^(HEIMDALL_|SUB_|BB_|BD_ACTOR$)/i

function refuseOurVariables(path: string, values: Partial<Record<ConfigKey, ConfigValue>>): void {
  const named = [
    ...((values.env ?? []) as readonly EnvEntry[]).map(({ name }) => ({ key: 'env', name })),
    ...(typeof values.session_env_var === 'string' && values.session_env_var !== CONFIG_KEYS.session_env_var.default
      ? [{ key: 'session_env_var', name: values.session_env_var }]
      : []),
  ]
  const ours = named.find(({ name }) => OUR_VARIABLE.test(name))
  if (ours !== undefined)
    throw new HeimdallError(
      'CONFIG_INVALID',
      `${path}: ${ours.key} names ${printable(ours.name)}, which no file may set`,
      {
        hint: 'variables of Heimdall are set by the one who starts a command: heimdall help environment',
      },
    )
}

export function isConfigKey(key: string): key is ConfigKey {
  return Object.hasOwn(CONFIG_KEYS, key)
}

/** A value that stands in a variable or on a command line. */
export function settingFromText(type: KeyType, text: string, where: string): string | number | boolean {
  if (type === 'integer') {
    if (/^\d{1,9}$/.test(text)) return Number(text)
    throw new HeimdallError('CONFIG_INVALID', `${where} must be a whole number, got ${printable(text)}`)
  }
  if (type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true'
    throw new HeimdallError('CONFIG_INVALID', `${where} must be true or false, got ${printable(text)}`)
  }
  return text
}
