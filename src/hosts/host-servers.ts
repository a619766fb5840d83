// The servers that a host starts, as command lines; and of the others, why they cannot be started here.
import { basename } from 'node:path'
import { findProject } from '../paths.ts'
import { isObject } from '../plain-object.ts'
import { configFiles, type ConfigFile, type Whereabouts } from './config-files.ts'
import { readHostConfig } from './host-config.ts'
import type { HostName } from './host-table.ts'
import { isOwnLedger, shimLineOf, wordsOf } from './shim-line.ts'

export interface HostServer {
  readonly name: string
  readonly host: HostName
  readonly file: Pick<ConfigFile, 'path' | 'level'>
  /** Null where there is nothing to start; `why` says so. */
  readonly start: {
    readonly words: readonly [string, ...string[]]
    readonly env: Readonly<Record<string, string>>
    readonly cwd: string | undefined
  } | null
  readonly why: string | null
  /** A server that is reached over HTTP, with the headers that the host sends. */
  readonly remote: { readonly url: string; readonly headers: Readonly<Record<string, string>> } | null
}

/** Of the user's files, and of those of the project that a folder is in. A file that cannot be read throws. */
export function hostServers(host: HostName, where: Whereabouts): HostServer[] {
  const root = where.cwd === undefined ? undefined : findProject(where.cwd, where.env).root
  return configFiles(host, where).flatMap((file) =>
    (readHostConfig(file)?.config.servers ?? [])
      // What one file says for several projects counts for this one.
      .filter(({ at }) => at[0] !== 'projects' || at[1] === root)
      .map(({ at, value }): HostServer => {
        const start = startOf(value)
        return {
          name: at.at(-1) ?? '',
          host,
          file: { path: file.path, level: file.level },
          start: typeof start === 'string' ? null : start,
          why: typeof start === 'string' ? start : null,
          remote: remoteOf(value),
        }
      }),
  )
}

/** Enabled servers of a host that runs in a terminal whose calls pass no shim. A remote one on this machine may be the shim itself. */
export function serversPastShim(host: HostName, where: Whereabouts): { readonly all: number; readonly past: string[] } {
  const root = where.cwd === undefined ? undefined : findProject(where.cwd, where.env).root
  const servers = configFiles(host, where)
    // Of the desktop program, which no terminal runs.
    .filter(({ path }) => basename(path) !== 'claude_desktop_config.json')
    .flatMap((file) => readHostConfig(file)?.config.servers ?? [])
    .filter(({ at, value }) => (at[0] !== 'projects' || at[1] === root) && !isDisabled(value) && !isOwnLedger(value))
  const past = servers.filter(({ value }) => {
    const address = ['url', 'httpUrl', 'serverUrl'].map((key) => value[key]).find((url) => url !== undefined)
    if (address !== undefined) return !isOnThisMachine(address)
    return typeof shimLineOf(value) !== 'object'
  })
  return { all: servers.length, past: [...new Set(past.map(({ at }) => at.at(-1) ?? ''))] }
}

const isOnThisMachine = (address: unknown): boolean =>
  typeof address === 'string' &&
  URL.canParse(address) &&
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(address).hostname)

const isDisabled = (value: Readonly<Record<string, unknown>>): boolean =>
  value['disabled'] === true || value['enabled'] === false

/** Null also where only the host can fill in a placeholder. */
function remoteOf(value: Readonly<Record<string, unknown>>): HostServer['remote'] {
  const url = [value['url'], value['httpUrl'], value['serverUrl']].find((one) => typeof one === 'string')
  if (typeof url !== 'string' || !URL.canParse(url) || isDisabled(value)) return null
  const own = isObject(value['headers']) ? value['headers'] : {}
  const headers = Object.fromEntries(Object.entries(own).map(([name, one]) => [name, String(one)]))
  return [url, ...Object.values(headers)].some((text) => text.includes('${')) ? null : { url, headers }
}

/** One that is behind the shim is started as it was before. */
function startOf(value: Readonly<Record<string, unknown>>): HostServer['start'] | string {
  if (isDisabled(value)) return 'it is disabled'
  const args = wordsOf(value['args'])
  const { command, cwd } = value
  if (typeof command !== 'string' || command === '')
    return ['url', 'httpUrl', 'serverUrl'].some((key) => value[key] !== undefined)
      ? 'it is remote, and no program to start'
      : 'it has no command'
  if (args === undefined) return 'its arguments are no list of texts'
  const line = shimLineOf(value)
  if (line === 'no command') return 'there is no command behind its shim'
  const [first = '', ...rest] = line === undefined ? [command, ...args] : args.slice(line.dashes + 1)
  const env = isObject(value['env'])
    ? Object.fromEntries(Object.entries(value['env']).map(([name, one]) => [name, String(one)]))
    : {}
  if ([first, ...rest, ...Object.values(env)].some((word) => word.includes('${')))
    return 'it has placeholders that only its host can fill'
  return { words: [first, ...rest], env, cwd: typeof cwd === 'string' ? cwd : undefined }
}
