// A clean home for each host that talks to a scripted model and to nobody else, and the command lines that run it there.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Ending, runProgram } from '../programs.ts'
import type { TemporaryProject } from '../project.ts'
import { installedHost, type InstalledHost } from './installed.ts'
import type { ModelServer } from './model-server.ts'
import type { HostName } from './script.ts'

/** An MCP server of the host's configuration. */
export interface HomeServer {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly env?: Readonly<Record<string, string>>
  /** Variables of the host that Codex hands on to the server; the others hand on everything. */
  readonly envNames?: readonly string[]
}

export interface PreparedHost extends InstalledHost {
  readonly project: TemporaryProject
  /** All that the host needs in its environment. */
  readonly env: Readonly<Record<string, string>>
  /** One prompt, no questions, and out. */
  headless(prompt: string, flags?: readonly string[]): [string, ...string[]]
  /** As a person starts it: with prompts for permissions. */
  interactive(flags?: readonly string[]): [string, ...string[]]
  /** Runs it headless to its end. */
  run(prompt: string, flags?: readonly string[]): Promise<Ending>
}

export interface HomeWish {
  readonly project: TemporaryProject
  readonly model: ModelServer
  readonly servers?: readonly HomeServer[]
}

const KEY = 'test-key-of-a-scripted-model-0123456789'

/** Fails when the host is not there: ask `installedHost` first. */
export function prepareHost(name: HostName, wish: HomeWish): PreparedHost {
  const installed = installedHost(name)
  if (installed === undefined) throw new Error(`${name} is not installed`)
  const { env, headless, interactive } = HOMES[name](wish)
  const { project } = wish
  const all = { ...project.env, TERM: 'xterm-256color', ...env }
  const start = installed.command
  const self: PreparedHost = {
    ...installed,
    project,
    env: all,
    headless: (prompt, flags = []) => [...start, ...headless(prompt), ...flags],
    interactive: (flags = []) => [...start, ...interactive, ...flags],
    run: (prompt, flags = []) => runProgram(self.headless(prompt, flags), { cwd: project.root, env: all }),
  }
  return self
}

interface Home {
  readonly env: Readonly<Record<string, string>>
  readonly headless: (prompt: string) => string[]
  readonly interactive: string[]
}

const HOMES: Record<HostName, (wish: HomeWish) => Home> = { claude: claudeHome, codex: codexHome, gemini: geminiHome }

function put(home: string, path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}

const jsonServers = (servers: readonly HomeServer[] = []): object =>
  Object.fromEntries(servers.map(({ name, command: [command, ...args], env = {} }) => [name, { command, args, env }]))

function claudeHome({ project: { home, root }, model, servers }: HomeWish): Home {
  const known = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    hasSeenAutoDefaultNotice: true,
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: {
      [root]: { hasTrustDialogAccepted: true, enabledMcpjsonServers: [], hasCompletedProjectOnboarding: true },
    },
    mcpServers: jsonServers(servers),
  }
  put(home, '.claude.json', JSON.stringify(known, null, 2))
  return {
    env: {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
      ENABLE_TOOL_SEARCH: 'false',
      IS_SANDBOX: '1',
    },
    headless: (prompt) => ['-p', prompt, '--dangerously-skip-permissions', '--output-format', 'json'],
    interactive: ['--permission-mode', 'manual'],
  }
}

const toml = (value: string | readonly string[]): string => JSON.stringify(value)

function codexHome({ project: { home, root }, model, servers = [] }: HomeWish): Home {
  const lines = [
    'model = "gpt-6.1-sol"',
    'model_provider = "scripted"',
    'check_for_update_on_startup = false',
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = ${toml(`${model.url}/v1`)}`,
    'env_key = "SCRIPTED_KEY"',
    'wire_api = "responses"',
    'request_max_retries = 0',
    'stream_max_retries = 0',
    `[projects.${toml(root)}]`,
    'trust_level = "trusted"',
    ...servers.flatMap(({ name, command: [command, ...args], env = {}, envNames = [] }) => [
      `[mcp_servers.${name}]`,
      `command = ${toml(command)}`,
      `args = ${toml(args)}`,
      `env_vars = ${toml(envNames)}`,
      // The first request may come before a server is up that nobody waits for.
      'required = true',
      `[mcp_servers.${name}.env]`,
      ...Object.entries(env).map(([variable, value]) => `${variable} = ${toml(value)}`),
    ]),
  ]
  put(home, '.codex/config.toml', `${lines.join('\n')}\n`)
  return {
    env: { SCRIPTED_KEY: KEY },
    headless: (prompt) => [
      'exec',
      '--json',
      '--dangerously-bypass-approvals-and-sandbox',
      '--skip-git-repo-check',
      prompt,
    ],
    // A shared server in the background would outlive the test, and be asked by hosts of other tests.
    interactive: ['--no-daemon', '--ask-for-approval', 'on-request'],
  }
}

function geminiHome({ project: { home }, model, servers }: HomeWish): Home {
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    mcpServers: jsonServers(servers),
  }
  put(home, '.gemini/settings.json', JSON.stringify(settings, null, 2))
  return {
    env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: model.url },
    headless: (prompt) => ['-p', prompt, '-m', 'gemini-2.5-pro', '--yolo', '--output-format', 'json'],
    interactive: ['-m', 'gemini-2.5-pro'],
  }
}
