// Configurations of five hosts in a home of their own, and what stands in them by parsers that are not ours.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import ts from 'typescript'
import type { Ending } from './programs.ts'
import { type TemporaryProject, temporaryProject } from './project.ts'

export interface Server {
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly env_vars?: readonly string[]
  readonly url?: string
  readonly httpUrl?: string
}

export const HOST_FILES = {
  claude: {
    fixture: 'claude.json',
    at: '.claude.json',
    keys: [['mcpServers'], ['projects', '/home/ana/work/shop', 'mcpServers']],
  },
  codex: { fixture: 'codex.toml', at: '.codex/config.toml', keys: [['mcp_servers']] },
  cursor: { fixture: 'cursor.json', at: '.cursor/mcp.json', keys: [['mcpServers']] },
  gemini: { fixture: 'gemini.json', at: '.gemini/settings.json', keys: [['mcpServers']] },
  vscode: { fixture: 'vscode.json', at: '.config/Code/User/mcp.json', keys: [['servers']] },
} as const

export type Host = keyof typeof HOST_FILES

export const HOSTS = Object.keys(HOST_FILES) as Host[]

export const fixtureText = (name: string): string => readFileSync(resolve('test/fixtures/hosts-config', name), 'utf8')

export interface HostHome extends TemporaryProject {
  /** Path of the host's file of the user. */
  file(host: Host): string
  textOf(host: Host): string
  heimdall(...args: string[]): Promise<Ending>
  /** Writes a text to the host's place; the fixture unless told otherwise. */
  put(host: Host, text?: string | Uint8Array): string
}

export function hostHome(): HostHome {
  const project = temporaryProject()
  const home: HostHome = {
    ...project,
    file: (host) => join(project.home, HOST_FILES[host].at),
    textOf: (host) => readFileSync(home.file(host), 'utf8'),
    heimdall: (...args) => project.run('heimdall', args),
    put(host, text = fixtureText(HOST_FILES[host].fixture)) {
      mkdirSync(dirname(home.file(host)), { recursive: true })
      writeFileSync(home.file(host), text)
      return home.file(host)
    },
  }
  return home
}

/** All servers of a text, by name. */
export function serversIn(host: Host, text: string): Record<string, Server> {
  const config = parsed(host, text)
  const tables = HOST_FILES[host].keys.map((path) =>
    path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], config),
  )
  return Object.assign({}, ...tables) as Record<string, Server>
}

export function parsed(host: Host, text: string): unknown {
  if (host === 'codex') return parseToml(text)
  const { config, error } = ts.parseConfigFileTextToJson('config.json', text) as { config: unknown; error?: object }
  if (error !== undefined) throw new Error(JSON.stringify(error))
  return config
}
