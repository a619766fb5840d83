// Commands of what is known of servers' tools.
import { type Command, spec } from '../command.ts'

const STORE_ERRORS = ['STORE_CORRUPT', 'STORE_UNREADABLE', 'STORE_NEWER'] as const
const CHANGE_ERRORS = ['PERSON_REQUIRED', 'PIN_NOT_FOUND', 'STORE_FULL', 'STORE_BUSY', ...STORE_ERRORS] as const

const serverArg = { name: 'server', help: 'name of the server, as its shim has it' } as const
const toolArg = { name: 'tool', help: 'one of its tools; all by default', optional: true } as const
const projectFlag = {
  type: 'string',
  value: 'FOLDER',
  help: 'a folder of the project whose agents use the server; the current one by default',
} as const

export const pinList = spec({
  names: ['heimdall pin list'],
  summary: 'Tools of servers, and which of them have changed since they were pinned',
  about:
    'A shim pins the tools of its server when it first sees them (docs/pins.md). STATE is pinned, changed (it was shown as something else, and nobody has approved that), ' +
    'new (it came later, and nobody has approved it) or gone (the last whole list was without it).',
  args: [{ ...serverArg, optional: true }],
  flags: {
    project: projectFlag,
    all: { type: 'boolean', help: 'of all projects' },
  },
  examples: [
    { run: 'heimdall pin list', does: 'lists the tools of this project’s servers' },
    { run: 'heimdall pin list --all --json', does: 'the same of all projects, for a program' },
  ],
  errors: ['PIN_NOT_FOUND', ...STORE_ERRORS],
  output: {
    pins: 'array of {project, server_name, tool_name, state, hash, shown_hash, at, by}; by is null for what was there at first sight',
  },
})

export const pinShow = spec({
  names: ['heimdall pin show'],
  summary: 'What has changed in a server’s tools, and how to approve it',
  about:
    'Shows every definition that waits for a person, against the one that is pinned. What cannot be seen in it (control characters, zero-width and tag characters) is written as \\u{…}. ' +
    'Of a tool in which nothing has changed, its definition.',
  args: [serverArg, toolArg],
  flags: { project: projectFlag },
  examples: [
    { run: 'heimdall pin show git', does: 'shows what has changed in the tools of git' },
    { run: 'heimdall pin show git push', does: 'the same of one tool' },
  ],
  errors: ['PIN_NOT_FOUND', ...STORE_ERRORS],
  output: {
    project: 'the project that the pins are of',
    server_name: 'name of the server',
    reached: 'its command line or address when it was last seen, without secrets',
    first_seen_at: 'when its tools were first seen',
    review_hash: 'to approve all that waits; null when nothing does',
    tools:
      'array of {tool_name, state, gone_at, pinned: [{hash, at, by, definition}], shown: [{hash, at, definition, fields, diff}]}',
  },
})

export const pinApprove = spec({
  names: ['heimdall pin approve'],
  summary: 'Approves tools as they were shown',
  about:
    'Only by the hash that heimdall pin show has printed: what has changed since then is refused. Calls that mode control refuses pass from then on, without a restart. ' +
    'Takes a person, at a terminal that no session and no agent is above.',
  args: [serverArg, toolArg],
  flags: {
    hash: { type: 'string', value: 'HASH', required: true, help: 'as heimdall pin show prints it' },
    also: { type: 'boolean', help: 'what was pinned before stays approved beside it, for a server that alternates' },
    project: projectFlag,
  },
  examples: [
    { run: 'heimdall pin approve git --hash 3f9a1c0b77d2e4a6', does: 'approves all that was shown under this hash' },
    { run: 'heimdall pin approve git push --hash 9e0c44d1a2b3f5e7', does: 'approves one tool' },
  ],
  errors: ['PIN_CHANGED', ...CHANGE_ERRORS],
  output: {
    project: 'the project that the pins are of',
    server_name: 'name of the server',
    approved: 'names of the tools that were approved',
    approved_by: 'the unix user',
    approved_at: 'when',
  },
})

export const pinForget = spec({
  names: ['heimdall pin forget'],
  summary: 'Forgets what is known of a server’s tools',
  about:
    'What the server shows next is taken for first sight, and pinned. A single tool that is forgotten counts as new when it is listed again. Takes a person.',
  args: [serverArg, toolArg],
  flags: { project: projectFlag },
  examples: [{ run: 'heimdall pin forget git', does: 'begins anew with the next list of its tools' }],
  errors: CHANGE_ERRORS,
  output: {
    project: 'the project that the pins were of',
    server_name: 'name of the server',
    forgotten: 'names of the tools that were forgotten',
  },
})

export const pinCommands: readonly Command[] = [
  { spec: pinList, load: () => import('../commands/pin/list.ts') },
  { spec: pinShow, load: () => import('../commands/pin/show.ts') },
  { spec: pinApprove, load: () => import('../commands/pin/approve.ts') },
  { spec: pinForget, load: () => import('../commands/pin/forget.ts') },
]
