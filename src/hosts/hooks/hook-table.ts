// The hooks of each host: what its events mean to us, which of its tools write and where they say so, and how it wants to be answered.

export type HookHost = 'claude' | 'codex' | 'gemini' | 'cursor'

export const HOOK_HOSTS: readonly HookHost[] = ['claude', 'codex', 'gemini', 'cursor']

/** What an event means, whatever a host calls it. */
export type HookEvent =
  | 'session-start'
  | 'prompt'
  | 'before-tool'
  | 'after-tool'
  | 'asks-person'
  | 'turn-end'
  | 'subagent-end'
  | 'session-end'
  | 'before-compact'

/** Where a tool that writes says what it writes. */
export type ToolWrites = { readonly path: readonly string[] } | { readonly patch: string } | { readonly shell: string }

export interface HostHooks {
  readonly events: Readonly<Record<string, HookEvent>>
  /** Built-in tools that write; what is not named here writes nothing, or is behind a shim. */
  readonly tools: Readonly<Record<string, ToolWrites>>
  /** How the host is told: Claude's JSON, Gemini's or Cursor's. */
  readonly answers: 'claude' | 'gemini' | 'cursor'
  /** Whether a session has been seen with the host itself, or is read from its documentation. */
  readonly isSeen: boolean
}

const FILE = { path: ['file_path'] } as const

const CLAUDE_EVENTS = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  PreToolUse: 'before-tool',
  PostToolUse: 'after-tool',
  PermissionRequest: 'asks-person',
  Stop: 'turn-end',
  SessionEnd: 'session-end',
} as const

export const HOOKS: Readonly<Record<HookHost, HostHooks>> = {
  claude: {
    events: {
      ...CLAUDE_EVENTS,
      PostToolUseFailure: 'after-tool',
      // Six seconds behind PermissionRequest, and the only word of a question that is none.
      Notification: 'asks-person',
      SubagentStop: 'subagent-end',
      PreCompact: 'before-compact',
    },
    tools: {
      Edit: FILE,
      Write: FILE,
      MultiEdit: FILE,
      NotebookEdit: { path: ['notebook_path', 'file_path'] },
      Bash: { shell: 'command' },
    },
    answers: 'claude',
    isSeen: true,
  },
  codex: {
    events: { ...CLAUDE_EVENTS, SubagentStop: 'subagent-end', PreCompact: 'before-compact' },
    tools: { Bash: { shell: 'command' }, apply_patch: { patch: 'command' }, Edit: { patch: 'command' }, Write: FILE },
    answers: 'claude',
    isSeen: true,
  },
  gemini: {
    events: {
      SessionStart: 'session-start',
      BeforeAgent: 'prompt',
      BeforeTool: 'before-tool',
      AfterTool: 'after-tool',
      Notification: 'asks-person',
      AfterAgent: 'turn-end',
      SessionEnd: 'session-end',
      PreCompress: 'before-compact',
    },
    tools: {
      write_file: FILE,
      replace: FILE,
      edit: FILE,
      run_shell_command: { shell: 'command' },
    },
    answers: 'gemini',
    isSeen: true,
  },
  cursor: {
    events: {
      sessionStart: 'session-start',
      beforeSubmitPrompt: 'prompt',
      preToolUse: 'before-tool',
      postToolUse: 'after-tool',
      postToolUseFailure: 'after-tool',
      stop: 'turn-end',
      subagentStop: 'subagent-end',
      sessionEnd: 'session-end',
      preCompact: 'before-compact',
    },
    tools: {
      Write: { path: ['file_path', 'path', 'target_file'] },
      StrReplace: { path: ['file_path', 'path', 'target_file'] },
      Edit: { path: ['file_path', 'path', 'target_file'] },
      Delete: { path: ['file_path', 'path', 'target_file'] },
      EditNotebook: { path: ['notebook_path', 'target_notebook', 'file_path'] },
      Shell: { shell: 'command' },
    },
    answers: 'cursor',
    isSeen: false,
  },
}
