// Commands that put the MCP servers of hosts behind the shim, and take them out again.
import { type Command, spec } from '../command.ts'

const hostArg = { name: 'host', help: 'claude, codex, cursor, gemini or vscode', variadic: true } as const

const common = {
  'dry-run': { type: 'boolean', help: 'show the difference, with values of other settings masked, and change nothing' },
  yes: { type: 'boolean', short: 'y', help: 'change files without a question; by the name sub there is none' },
} as const

const FILE_FIELDS = 'host, path, level: user | project | named | recorded, changed, diff'

const FAILED =
  'files that could not be read or written while others were: array of {host, path, code, message, hint}; the exit code is that of the first'

/** What may come of editing a host's file and keeping what stood there. */
const EDITING = [
  'HOST_CONFIG_INVALID',
  'HOST_CONFIG_BUSY',
  'CONSENT_REQUIRED',
  'PATH_OUTSIDE_ROOT',
  'FOLDER_GONE',
  'STORE_UNREADABLE',
  'STORE_CORRUPT',
  'STORE_FULL',
  'STORE_BUSY',
] as const

export const importHosts = spec({
  names: ['heimdall import', 'sub import'],
  changes: true,
  summary: 'Puts the MCP servers of a host behind the shim, in the host’s own configuration',
  about:
    'Each server that the host starts as a program is started by heimdall shim from then on, under its own name, with ' +
    'its own arguments and variables. Only these lines of the file change: comments, order and spacing stay. Remote ' +
    'servers are left alone and named. Files of the user are changed; those of the project, which others share, only ' +
    'with --shared. heimdall restore gives every byte back. docs/hosts.md says which files are meant.',
  args: [hostArg],
  flags: {
    shared: {
      type: 'boolean',
      help: 'also files of the project, such as .mcp.json; they then hold paths of this machine',
    },
    ...common,
    'pass-env': {
      type: 'string',
      value: 'NAME,NAME…',
      multiple: true,
      help: 'variables of the host’s environment that every server gets besides those of its own settings',
    },
  },
  examples: [
    { run: 'heimdall import claude --dry-run', does: 'shows what would change' },
    { run: 'heimdall import claude codex', does: 'changes the user’s files of both' },
    { run: 'heimdall import cursor --shared --yes', does: 'also .cursor/mcp.json of this project, without asking' },
  ],
  errors: ['HOST_NOT_FOUND', ...EDITING],
  output: {
    files: `array of {${FILE_FIELDS}, servers: array of {name, at, outcome: wrapped | renewed | kept | left, reason}}`,
    failed: FAILED,
    left: 'files of the project that were not touched: array of {host, path, servers}',
    dry_run: 'whether nothing was written because of --dry-run',
  },
})

export const restoreHosts = spec({
  names: ['heimdall restore', 'sub restore'],
  changes: true,
  summary: 'Takes the MCP servers of a host out of the shim again',
  about:
    'Undoes heimdall import in every file that it changed for the host. What was changed in them since stays; a file ' +
    'that nobody has touched is byte for byte what it was. Lines that were written by hand are left alone. Not for ' +
    'agents: inside a session or a host it is refused.',
  args: [hostArg],
  flags: {
    shared: { type: 'boolean', help: 'also files of this project that were imported on another machine' },
    ...common,
  },
  examples: [
    { run: 'heimdall restore claude --dry-run', does: 'shows what would change' },
    { run: 'heimdall restore claude codex --yes', does: 'takes both out, without asking' },
  ],
  errors: ['IMPORT_CHANGED', 'PERSON_REQUIRED', ...EDITING],
  output: {
    files: `array of {${FILE_FIELDS}, servers: array of {name, at, outcome: restored | changed | gone | left | unlisted, reason, unlisted: names of ours that its list of variables lost}}`,
    failed: FAILED,
    gone: 'paths of files that were imported and no longer exist',
    dry_run: 'whether nothing was written because of --dry-run',
  },
})

export const hostsCommands: readonly Command[] = [
  { spec: importHosts, load: () => import('../commands/hosts/import.ts') },
  { spec: restoreHosts, load: () => import('../commands/hosts/restore.ts') },
]
