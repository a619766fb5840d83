// Commands that put hosts behind the watch: their hooks, and what is put into them and taken out again.
import { type Command, spec } from '../command.ts'

export const hook = spec({
  names: ['heimdall hook'],
  summary: 'Answer a hook of a host; hosts call this, heimdall init sets it up',
  about:
    'Reads what the host hands to its hook from stdin, and answers in the form that this host honours: an edit, a patch ' +
    'or a shell command that would write where another live agent holds a claim is refused, with the holder’s name, the ' +
    'lease and what to do. The session is registered and briefed when it begins, and a question to a person is reported. ' +
    'Where claims cannot be checked the call is let through with a warning; with --strict it is refused. The exit code ' +
    'is 0, or 2 where that is the host’s word for no.',
  args: [{ name: 'host', help: 'claude, codex, gemini or cursor' }],
  flags: { strict: { type: 'boolean', help: 'refuse what cannot be checked, in place of letting it through' } },
  examples: [
    { run: 'heimdall hook claude', does: 'answers Claude Code, as its settings have it after heimdall init' },
    { run: 'heimdall hook codex --strict < payload.json', does: 'answers a payload that was recorded' },
  ],
  output: { streamed: 'the answer is the host’s own form; --json changes nothing' },
})

export const hostSessions = spec({
  names: ['heimdall hosts'],
  summary: 'Host sessions at work in this repository: guarded or advisory, on which rung, and why',
  about:
    'A session is guarded when its hooks were called and asked about every call of its last turn. Rungs: 0 told and no ' +
    'more, 1 edits are asked about, 2 shell commands too, 3 what is written unasked is noticed. The repository is as ' +
    'guarded as its weakest live session.',
  examples: [{ run: 'heimdall hosts', does: 'lists the sessions whose hooks were called here' }],
  errors: ['STORE_CORRUPT', 'STORE_NEWER', 'STORE_UNREADABLE'],
  output: {
    state: 'guarded | advisory: that of the weakest live session; null where none is alive',
    sessions:
      'array of {host, agent_id, session, pid, alive, state: guarded | advisory, rung, why, last_event, last_event_at}',
  },
})

const hostArg = {
  name: 'host',
  help: 'claude, codex, cursor, gemini or vscode; default all that are found on this machine',
  variadic: true,
  optional: true,
} as const

const common = {
  'dry-run': { type: 'boolean', help: 'show every file and line that would change, and change nothing' },
  yes: { type: 'boolean', short: 'y', help: 'do not ask' },
} as const

const EDITED = 'array of {host, path, what: array of text, changed, made, diff}'

export const init = spec({
  names: ['heimdall init'],
  changes: true,
  summary: 'Put the hosts on this machine behind the watch: hooks, ledger server, shim, git guard',
  about:
    'Finds the hosts, shows every file and line that it would change, and asks once. MCP servers go behind the shim ' +
    '(heimdall import), hooks and the ledger server are added to the user’s own files, and the repository that it is run ' +
    'in gets the git guard. Nothing that stands in a file is changed; a file that cannot be read leaves its host alone ' +
    'as a whole. Run again it changes nothing, or brings its own lines up to date. heimdall uninstall takes out exactly ' +
    'what was put in.',
  args: [hostArg],
  flags: {
    strict: { type: 'boolean', help: 'hooks refuse what they cannot check, in place of letting it through' },
    'no-guard': { type: 'boolean', help: 'leave the repository’s git hooks alone' },
    ...common,
  },
  examples: [
    { run: 'heimdall init --dry-run', does: 'shows what would change' },
    { run: 'heimdall init', does: 'asks, and puts all hosts that are found behind the watch' },
    { run: 'heimdall init claude codex --yes', does: 'these two, without asking' },
  ],
  errors: [
    'HOST_NOT_FOUND',
    'CONSENT_REQUIRED',
    'HOST_CONFIG_INVALID',
    'HOST_CONFIG_BUSY',
    'PERSON_REQUIRED',
    'STORE_CORRUPT',
    'STORE_UNREADABLE',
  ],
  output: {
    hosts: 'hosts that were found, or named',
    files: EDITED,
    imported: 'array of {host, path, level, changed, diff, servers}, as heimdall import has it',
    guard: '{root, installed} of the repository, null outside of one',
    by_hand: 'array of {host, text}: what a person has to do once',
    failed: 'array of {host, path, message}: hosts that were left alone as a whole',
    dry_run: 'whether nothing was written because of --dry-run',
  },
})

export const uninstall = spec({
  names: ['heimdall uninstall'],
  changes: true,
  summary: 'Take out of the hosts exactly what heimdall init put in',
  about:
    'A file that nobody has touched since is byte for byte what it was; one that was made is removed. From a file that ' +
    'was changed since, our own lines go and the changes stay. Servers come out from behind the shim, and the git guard ' +
    'goes from repositories that init put it into. Records of runs, claims and settings stay. Not for agents: inside a ' +
    'session or a host it is refused.',
  args: [hostArg],
  flags: common,
  examples: [
    { run: 'heimdall uninstall --dry-run', does: 'shows what would change' },
    { run: 'heimdall uninstall --yes', does: 'takes everything out, without asking' },
  ],
  errors: [
    'CONSENT_REQUIRED',
    'PERSON_REQUIRED',
    'HOST_CONFIG_INVALID',
    'HOST_CONFIG_BUSY',
    'IMPORT_CHANGED',
    'STORE_CORRUPT',
  ],
  output: {
    files: 'array of {host, path, changed, exact, removed}',
    restored: 'array of {host, path, level, changed, diff, servers}, as heimdall restore has it',
    guards: 'roots of repositories whose guard was taken out',
    dry_run: 'whether nothing was written because of --dry-run',
  },
})

export const hooksCommands: readonly Command[] = [
  { spec: init, load: () => import('../commands/hosts/init.ts') },
  { spec: uninstall, load: () => import('../commands/hosts/uninstall.ts') },
  { spec: hook, load: () => import('../commands/hook.ts') },
  { spec: hostSessions, load: () => import('../commands/hosts/sessions.ts') },
]
