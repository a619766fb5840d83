// What `heimdall init` puts into a host: its hooks, and the ledger server. One row for each host.
import { quoted } from '../../quoted.ts'
import { CARRIED } from '../env-list.ts'
import { HOOKS, type HookEvent, type HookHost } from '../hooks/hook-table.ts'
import type { HostName, UserFile } from '../host-table.ts'
import type { OwnCommand } from '../shim-line.ts'
import type { WantedInsert } from './json-insert.ts'

export interface SetupOptions {
  readonly own: OwnCommand
  readonly isStrict: boolean
}

export interface HookFile extends UserFile {
  readonly wanted: (options: SetupOptions) => WantedInsert[]
}

interface HostSetup {
  readonly hooks?: HookFile
  /** Names of programs by which the host is known to be on the machine. */
  readonly programs: readonly string[]
  /** What a person has to do once, by the host's own ways. */
  readonly byHand?: string
}

/** Seconds after which a host goes on without an answer. */
const TIMEOUT_SECONDS = 10
/** Codex gives no more to a session that ends, and warns of whoever asks for it. */
const CODEX_END_SECONDS = 3

/** By which Gemini CLI lists hooks, and switches them off. */
export const HOOK_NAME = 'heimdall'

const TOOL_EVENTS: readonly HookEvent[] = ['before-tool', 'after-tool']

export function hookCommand(host: HookHost, { own, isStrict }: SetupOptions): string {
  return [own.node, own.launcher, 'hook', host, ...(isStrict ? ['--strict'] : [])].map(quoted).join(' ')
}

/** Hosts call hooks of tools by what the tool is called: only those that write are of interest. */
const matcherOf = (host: HookHost): string => Object.keys(HOOKS[host].tools).join('|')

function wantedFor(
  host: HookHost,
  handler: (event: string, meaning: HookEvent, matcher: string | undefined) => unknown,
): WantedInsert[] {
  return Object.entries(HOOKS[host].events).map(([event, meaning]) => ({
    path: ['hooks', event],
    element: handler(event, meaning, TOOL_EVENTS.includes(meaning) ? matcherOf(host) : undefined),
  }))
}

const grouped = (matcher: string | undefined, handler: object): object => ({
  ...(matcher === undefined ? {} : { matcher }),
  hooks: [handler],
})

export const SETUPS: Readonly<Record<HostName, HostSetup>> = {
  claude: {
    programs: ['claude'],
    hooks: {
      path: '.claude/settings.json',
      movedBy: 'CLAUDE_CONFIG_DIR',
      inMoved: 'settings.json',
      wanted: (options) =>
        wantedFor('claude', (_, meaning, matcher) =>
          grouped(matcher, {
            type: 'command',
            command: hookCommand('claude', options),
            timeout: TIMEOUT_SECONDS,
            ...(options.isStrict && meaning === 'before-tool' ? { onFailure: 'block' } : {}),
          }),
        ),
    },
  },
  codex: {
    programs: ['codex'],
    byHand: 'Codex runs hooks only after you trust them: start codex in a terminal and say yes, or use /hooks',
    hooks: {
      path: '.codex/hooks.json',
      movedBy: 'CODEX_HOME',
      inMoved: 'hooks.json',
      wanted: (options) =>
        wantedFor('codex', (_, meaning, matcher) =>
          grouped(matcher, {
            type: 'command',
            command: hookCommand('codex', options),
            timeout: meaning === 'session-end' ? CODEX_END_SECONDS : TIMEOUT_SECONDS,
          }),
        ),
    },
  },
  cursor: {
    programs: ['cursor', 'cursor-agent'],
    byHand: 'Cursor: its hooks follow its documentation and are not tested with Cursor itself',
    hooks: {
      path: '.cursor/hooks.json',
      wanted: (options) => [
        { path: ['version'], value: 1 },
        ...wantedFor('cursor', (_, __, matcher) => ({
          command: hookCommand('cursor', options),
          timeout: TIMEOUT_SECONDS,
          ...(matcher === undefined ? {} : { matcher }),
        })),
      ],
    },
  },
  gemini: {
    programs: ['gemini'],
    hooks: {
      path: '.gemini/settings.json',
      movedBy: 'GEMINI_CLI_HOME',
      inMoved: '.gemini/settings.json',
      wanted: (options) =>
        wantedFor('gemini', (_, __, matcher) =>
          grouped(matcher, {
            name: HOOK_NAME,
            type: 'command',
            command: hookCommand('gemini', options),
            timeout: TIMEOUT_SECONDS * 1_000,
          }),
        ),
    },
  },
  vscode: {
    programs: ['code', 'code-insiders', 'codium'],
    byHand: 'VS Code has no hooks: its agents are advised, not guarded',
  },
}

export const LEDGER_NAME = 'heimdall-ledger'
export const LEDGER_PROGRAM = 'heimdall-ledger-mcp'

/** The ledger server as a host starts it. */
export function ledgerServer({ own }: SetupOptions): { readonly command: string; readonly args: readonly string[] } {
  return { command: own.node, args: [own.launcher.replace(/heimdall$/, LEDGER_PROGRAM)] }
}

/** For Codex: a table of its own at the end, with the variables that it would not hand on by itself. */
export function ledgerTable(options: SetupOptions, newline: string): string {
  const { command, args } = ledgerServer(options)
  const list = (words: readonly string[]): string => `[${words.map((word) => JSON.stringify(word)).join(', ')}]`
  return [
    `[mcp_servers.${LEDGER_NAME}]`,
    `command = ${JSON.stringify(command)}`,
    `args = ${list(args)}`,
    `env_vars = ${list(CARRIED)}`,
    '',
  ].join(newline)
}

/** Words by which a command is known to be a hook of ours, wherever this or another version is installed. */
export const isOwnHook = (command: unknown): boolean =>
  typeof command === 'string' && /(?:^|[/\s'"])heimdall'? hook (?:claude|codex|gemini|cursor)\b/.test(command)
