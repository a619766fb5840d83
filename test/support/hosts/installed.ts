// Hosts that `npm run hosts:install` has brought, and the programs of them.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pinned from '../../../scripts/hosts.json' with { type: 'json' }
import type { HostName } from './script.ts'

const MODULES = resolve(import.meta.dirname, '../../../.hosts/node_modules')

const HOSTS = ['claude', 'codex', 'gemini'] as const satisfies readonly HostName[]

export interface InstalledHost {
  readonly name: HostName
  readonly title: string
  readonly version: string
  readonly command: readonly [string, ...string[]]
}

/** With scripts off Claude Code's own launcher is not set up; its platform package has the program itself. */
function commandOf(name: HostName): [string, ...string[]] {
  if (name === 'claude')
    return [join(MODULES, `@anthropic-ai/claude-code-${process.platform}-${process.arch}`, 'claude')]
  if (name === 'codex') return [process.execPath, join(MODULES, '@openai/codex/bin/codex.js')]
  return [process.execPath, join(MODULES, '@google/gemini-cli/bundle/gemini.js')]
}

export function installedHost(name: HostName): InstalledHost | undefined {
  const { title, package: packageName, version } = pinned[name]
  const manifest = join(MODULES, packageName, 'package.json')
  const command = commandOf(name)
  if (!existsSync(manifest) || !existsSync(command.at(-1) ?? '')) return undefined
  const found = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
  // Another version is another host: recordings and pages name this one.
  return found === version ? { name, title, version, command } : undefined
}

/** Names of those that are here: the rows of a test for each. */
export const installedHosts = (): HostName[] => HOSTS.filter((name) => installedHost(name) !== undefined)

/** One line for each host: the version that was found, or how to get it. */
export const hostLines = (): string[] =>
  HOSTS.map((name) => {
    const { title, version } = pinned[name]
    const isHere = installedHost(name) !== undefined
    return `${title} ${version}: ${isHere ? 'found' : 'NOT FOUND, its tests are left out (npm run hosts:install)'}`
  })
