// The tools that hosts bring themselves. Policy decides MCP calls that go through the shim, and none of these.
import type { HookHost } from './hooks/hook-table.ts'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

const OWN_TOOLS: Readonly<Record<HookHost, readonly string[]>> = {
  claude: words(`
    Agent AskUserQuestion Bash BashOutput Edit EnterPlanMode EnterWorktree ExitPlanMode Glob Grep KillShell LS MultiEdit
    NotebookEdit Read Skill SlashCommand Task TodoWrite WebFetch WebSearch Write
  `),
  codex: words('apply_patch exec_command local_shell shell update_plan view_image web_search write_stdin'),
  gemini: words(`
    edit glob google_web_search list_directory read_file read_many_files replace run_shell_command save_memory
    search_file_content web_fetch write_file
  `),
  cursor: words('Delete Edit EditNotebook Grep Read Shell StrReplace WebSearch Write'),
}

/** Hosts that have a tool of this name themselves; of one host alone where `server` names it in place of a server. */
export function hostsWithTool(tool: string, server: string | undefined): HookHost[] {
  const hosts = (Object.keys(OWN_TOOLS) as HookHost[]).filter((host) => OWN_TOOLS[host].includes(tool))
  const named = hostOf(server)
  return named === undefined ? hosts : hosts.filter((host) => host === named)
}

/** `claude`, also as `claude-code`; nothing for the name of a server. */
export const hostOf = (name: string | undefined): HookHost | undefined =>
  (Object.keys(OWN_TOOLS) as HookHost[]).find((host) => name === host || name === ALIASES[host])

const ALIASES: Readonly<Record<HookHost, string>> = {
  claude: 'claude-code',
  codex: 'codex-cli',
  gemini: 'gemini-cli',
  cursor: 'cursor-agent',
}
