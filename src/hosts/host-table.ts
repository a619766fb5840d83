// The hosts whose MCP servers can be put behind a shim: what they are called, where their servers are written, and how.

export type HostName = 'claude' | 'codex' | 'cursor' | 'gemini' | 'vscode'

export interface Host {
  /** As people call it. */
  readonly title: string
  /** Names one file in place of all others; of the seed's origin. */
  readonly override: string
  /** Below the home folder, or below what a variable says instead: only the user reads these. */
  readonly user: readonly UserFile[]
  /** Below the root of a project: mostly committed with it. */
  readonly project: readonly string[]
  /** Keys that lead to a table of servers; `*` is any key. The last of Claude Code and Codex are of the seed's origin. */
  readonly servers: readonly (readonly string[])[]
  /** Where the host hands a server only chosen variables of its own environment: the key that chooses. */
  readonly envList?: string
}

export interface UserFile {
  /** A variable that moves the folder; the file then lies directly in it, under `inMoved`. */
  readonly movedBy?: string
  readonly inMoved?: string
  readonly path: string
  /** `path` begins in `$XDG_CONFIG_HOME`, or in Application Support on macOS. */
  readonly isConfig?: true
}

const editor = (name: string): UserFile[] => [
  { path: `${name}/User/mcp.json`, isConfig: true },
  { path: `${name}/User/profiles/*/mcp.json`, isConfig: true },
]

export const HOSTS: Readonly<Record<HostName, Host>> = {
  claude: {
    title: 'Claude Code',
    override: 'SUBLUMINAL_CLAUDE_CONFIG',
    user: [
      { path: '.claude.json', movedBy: 'CLAUDE_CONFIG_DIR', inMoved: '.claude.json' },
      { path: 'Claude/claude_desktop_config.json', isConfig: true },
    ],
    project: ['.mcp.json'],
    servers: [['mcpServers'], ['projects', '*', 'mcpServers'], ['mcp_servers']],
  },
  codex: {
    title: 'Codex',
    override: 'SUBLUMINAL_CODEX_CONFIG',
    user: [{ path: '.codex/config.toml', movedBy: 'CODEX_HOME', inMoved: 'config.toml' }],
    project: ['.codex/config.toml'],
    servers: [['mcp_servers'], ['mcpServers']],
    envList: 'env_vars',
  },
  cursor: {
    title: 'Cursor',
    override: 'SUBLUMINAL_CURSOR_CONFIG',
    user: [{ path: '.cursor/mcp.json' }],
    project: ['.cursor/mcp.json'],
    servers: [['mcpServers']],
  },
  gemini: {
    title: 'Gemini CLI',
    override: 'SUBLUMINAL_GEMINI_CONFIG',
    user: [{ path: '.gemini/settings.json', movedBy: 'GEMINI_CLI_HOME', inMoved: '.gemini/settings.json' }],
    project: ['.gemini/settings.json'],
    servers: [['mcpServers']],
  },
  vscode: {
    title: 'VS Code',
    override: 'SUBLUMINAL_VSCODE_CONFIG',
    user: [...editor('Code'), ...editor('Code - Insiders'), ...editor('VSCodium')],
    project: ['.vscode/mcp.json'],
    servers: [['servers']],
  },
}

export const HOST_NAMES = Object.keys(HOSTS) as readonly HostName[]

/** Whether keys lead to a server of this host. */
export function isServerOf(host: HostName, at: readonly string[]): boolean {
  return HOSTS[host].servers.some(
    (path) => path.length + 1 === at.length && path.every((key, index) => key === '*' || key === at[index]),
  )
}
