// Commands of a fleet: one repository on several machines.
import { type Command, spec } from '../command.ts'

const ENGINE_ERRORS = [
  'ENGINE_UNREACHABLE',
  'ENGINE_REFUSED',
  'CONFIG_INVALID',
  'FLEET_NEWER',
  'FLEET_EXPELLED',
] as const
const STORE_ERRORS = ['STORE_CORRUPT', 'STORE_UNREADABLE', 'STORE_FULL', 'STORE_BUSY'] as const
const URL_FILE = {
  'url-file': { type: 'string', value: 'FILE', help: 'read the URL from this file instead of standard input' },
} as const
const URL_FLAGS = {
  ...URL_FILE,
  pooler: {
    type: 'boolean',
    help: 'a pooler such as PgBouncer stands in between: nothing is prepared, and news is looked for instead of heard',
  },
  machine: { type: 'string', value: 'NAME', help: 'what this machine is called; its host name otherwise' },
} as const

const PROJECT_FLAG = {
  project: {
    type: 'string',
    value: 'NAME',
    help: 'name or id of the project on the engine; that of this repository, or the only one, otherwise',
  },
} as const

export const fleetCreate = spec({
  names: ['heimdall fleet create'],
  changes: true,
  summary: 'Puts this repository’s coordination on a PostgreSQL that several machines share',
  about:
    'Reads an owner’s URL from standard input, or asks for it: a role that may create a schema and roles. Makes tables, ' +
    'functions and a role for members that can call them and nothing else, moves what this machine has there, and ' +
    'prints the line that joins another machine. A URL is not taken from the command line, where every process can read it.',
  flags: {
    ...URL_FLAGS,
    name: { type: 'string', value: 'NAME', help: 'of the project, for people; its folder’s otherwise' },
  },
  examples: [
    { run: 'heimdall fleet create < owner-url', does: 'makes the fleet and prints the join line' },
    { run: 'heimdall fleet create --pooler --url-file ~/owner-url', does: 'does so behind PgBouncer' },
  ],
  errors: ['FLEET_JOINED', 'PERSON_REQUIRED', ...ENGINE_ERRORS, ...STORE_ERRORS],
  output: {
    project: 'id of the project on the engine',
    machine: 'what this machine is called in the fleet',
    seq: 'entry that the log begins after',
    join: 'URL of members; it has a password in it',
  },
})

export const fleetJoin = spec({
  names: ['heimdall fleet join'],
  changes: true,
  summary: 'Makes this machine a member of a fleet',
  about:
    'Reads the URL of the join line from standard input, or asks for it, keeps it in a file that only its owner can ' +
    'read, and builds this machine’s copy of the state. A member that has got a new line keeps its name and its copy.',
  flags: {
    ...URL_FLAGS,
    'set-aside': { type: 'boolean', help: 'keep a store that this machine has made alone in a file beside its place' },
    rebuild: { type: 'boolean', help: 'make the copy of a member again from what the engine has' },
    unrelated: {
      type: 'boolean',
      help: 'join although this is no clone of the repository that the fleet was made from',
    },
  },
  examples: [
    { run: 'heimdall fleet join < join-url', does: 'joins with the URL that fleet create printed' },
    { run: 'heimdall fleet join --rebuild', does: 'makes this member’s copy again; the old one is kept beside it' },
  ],
  errors: [
    'PERSON_REQUIRED',
    'FLEET_JOINED',
    'FLEET_NOT_JOINED',
    'FLEET_UNRELATED',
    'FOLLOW_TOO_OLD',
    'OUTCOME_UNKNOWN',
    'STORE_FORKED',
    ...ENGINE_ERRORS,
    ...STORE_ERRORS,
  ],
  output: {
    project: 'id of the project on the engine',
    machine: 'what this machine is called in the fleet',
    seq: 'last entry that this machine has',
    set_aside: 'file with the store that was here before, or null',
  },
})

export const fleetLeave = spec({
  names: ['heimdall fleet leave'],
  changes: true,
  summary: 'Goes on alone with everything that the fleet knows',
  about:
    'The copy catches up first and becomes this machine’s own store. Other members are not touched: what agents of this ' +
    'machine hold stays held for them until it is taken over.',
  flags: { offline: { type: 'boolean', help: 'leave with the copy as it is, without asking the engine' } },
  examples: [{ run: 'heimdall fleet leave', does: 'makes this machine one alone' }],
  errors: ['FLEET_NOT_JOINED', 'PERSON_REQUIRED', 'OUTCOME_UNKNOWN', 'STORE_FORKED', ...ENGINE_ERRORS, ...STORE_ERRORS],
  output: {
    seq: 'last entry of the fleet that this machine has',
    claims: 'how many claims of agents of this machine stay in the fleet',
  },
})

export const fleetInvite = spec({
  names: ['heimdall fleet invite'],
  changes: true,
  summary: 'Prints a new join line, and makes the one before it worthless',
  about:
    'Reads an owner’s URL as heimdall fleet create does. Members get in by a new role with a new password from then on; ' +
    'the role from before is gone, also for whoever is connected with it. Each member runs the new line once and keeps its ' +
    'name and its copy; the machine on which this runs has it already.',
  flags: {
    ...URL_FILE,
    ...PROJECT_FLAG,
    pooler: { type: 'boolean', help: 'the line is for members behind a pooler such as PgBouncer' },
  },
  examples: [
    { run: 'heimdall fleet invite < owner-url', does: 'prints a new line; the old one lets nobody in any more' },
    { run: 'heimdall fleet invite --project shop --url-file ~/owner-url', does: 'does so from any folder' },
  ],
  errors: ['FLEET_UNKNOWN', 'PERSON_REQUIRED', 'OUTCOME_UNKNOWN', ...ENGINE_ERRORS, 'STORE_UNREADABLE', 'STORE_BUSY'],
  output: { project: 'id of the project', name: 'of the project', join: 'URL of members; it has a password in it' },
})

export const fleetExpel = spec({
  names: ['heimdall fleet expel'],
  changes: true,
  summary: 'Takes a machine that will not come back out of the members',
  about:
    'Its name is free for another. It changes nothing in the fleet any more, its agents are over and what they held is free, ' +
    'unless they were active a moment ago: then it can be taken over once they have been silent for long enough. ' +
    'It is not shut out by this: whoever has the join line can come in until heimdall fleet invite makes another.',
  args: [{ name: 'machine', help: 'what heimdall fleet status calls it' }],
  flags: { force: { type: 'boolean', help: 'a person frees what its active agents hold as well' } },
  examples: [
    { run: 'heimdall fleet expel runner-7', does: 'runner-7 counts no more' },
    { run: 'heimdall fleet expel runner-7 --force', does: 'whatever its agents hold is free at once' },
  ],
  errors: [
    'FLEET_UNKNOWN',
    'FLEET_NOT_JOINED',
    'PERSON_REQUIRED',
    'INVALID_ARGS',
    'OUTCOME_UNKNOWN',
    ...ENGINE_ERRORS,
    ...STORE_ERRORS,
  ],
  output: {
    machine: 'which',
    heard_ms_ago: 'how long ago the engine last heard it',
    freed: 'claims that are free now',
    active: 'agents of it that were active, and keep what they hold for as long as they are not known to be silent',
  },
})

export const fleetDelete = spec({
  names: ['heimdall fleet delete'],
  changes: true,
  summary: 'Deletes a project from its engine, with its role',
  about:
    'Reads an owner’s URL as heimdall fleet create does, and asks for the project’s name before it deletes anything. A ' +
    'member on which this runs takes everything along and goes on alone; others do so with what they have. With the last ' +
    'project of a database its tables and functions go too.',
  flags: { ...URL_FILE, ...PROJECT_FLAG, yes: { type: 'boolean', short: 'y', help: 'do not ask' } },
  examples: [
    {
      run: 'heimdall fleet delete --url-file ~/owner-url',
      does: 'deletes this repository’s project, once its name is typed',
    },
    { run: 'heimdall fleet delete --project shop --yes < owner-url', does: 'deletes the project shop' },
  ],
  errors: [
    'FLEET_UNKNOWN',
    'PERSON_REQUIRED',
    'INTERRUPTED',
    'OUTCOME_UNKNOWN',
    'STORE_FORKED',
    ...ENGINE_ERRORS,
    ...STORE_ERRORS,
  ],
  output: {
    project: 'id of the project',
    name: 'of the project',
    left: 'whether this machine was a member, and is alone now',
  },
})

export const fleetStatus = spec({
  names: ['heimdall fleet status'],
  summary: 'The engine, what its answers are worth, how far behind this machine is, and who else is a member',
  examples: [{ run: 'heimdall fleet status', does: 'shows it' }],
  errors: ['FLEET_NOT_JOINED', ...STORE_ERRORS],
  output: {
    project: 'id of the project',
    name: 'of the project, for people; null when the engine did not answer',
    machine: 'what this machine is called',
    engine: 'host and database',
    reachable: 'whether the engine answered',
    error: 'why not, or null',
    durability: 'what an answer of the engine survives, in words; null when it did not answer',
    seq: 'last entry that this machine has',
    head: 'last entry of the log, or null',
    heard_ms_ago: 'how long ago this machine last heard of the engine, or null',
    pending: 'id of an entry whose outcome is not known yet, or null',
    lost: 'entries that this machine has and the engine lost: array of {seq, id, by}',
    members: 'array of {machine, version, format, rules, heard_ms_ago, is_gone}',
  },
})

export const fleetDoctor = spec({
  names: ['heimdall fleet doctor'],
  summary: 'Whether the fleet is fit to be relied on, and what to do if not',
  examples: [{ run: 'heimdall fleet doctor', does: 'checks connection, role, durability, versions, clocks and copy' }],
  errors: ['FLEET_NOT_JOINED', 'CONFIG_INVALID', ...STORE_ERRORS],
  output: { checks: 'array of {check, state, found, fix}' },
})

export const fleetExport = spec({
  names: ['heimdall fleet export'],
  summary: 'Writes the whole state of this repository’s coordination to a file',
  about: 'Everything but what this machine alone knows. A member catches up first. Works for a machine alone, too.',
  args: [{ name: 'file', help: 'file to write; it must not exist' }],
  examples: [{ run: 'heimdall fleet export state.jsonl', does: 'writes one row a line' }],
  errors: ['STORE_FORKED', 'OUTCOME_UNKNOWN', 'FILE_EXISTS', ...ENGINE_ERRORS, ...STORE_ERRORS],
  output: { file: 'where it is', seq: 'last entry in it', bytes: 'size' },
})

export const fleetImport = spec({
  names: ['heimdall fleet import'],
  changes: true,
  summary: 'Makes this repository’s store from such a file',
  about:
    'For a machine alone; heimdall fleet create then takes it to an engine. A store that is here is kept beside its place.',
  args: [{ name: 'file', help: 'file that heimdall fleet export has written' }],
  examples: [{ run: 'heimdall fleet import state.jsonl', does: 'makes the store from it' }],
  errors: ['FLEET_JOINED', 'PERSON_REQUIRED', ...STORE_ERRORS],
  output: { seq: 'last entry in it', set_aside: 'file with the store that was here before, or null' },
})

export const fleetLink = spec({
  names: ['heimdall fleet link'],
  summary: 'Keeps this machine’s copy up to date until it is ended',
  about: 'Sessions and the hub do so by themselves; this is for a machine on which only commands run.',
  examples: [{ run: 'heimdall fleet link', does: 'follows the log; Ctrl-C ends it' }],
  errors: ['FLEET_NOT_JOINED', ...STORE_ERRORS],
  output: { seq: 'last entry that this machine has' },
})

export const fleetCommands: readonly Command[] = [
  { spec: fleetCreate, load: () => import('../commands/fleet/create.ts') },
  { spec: fleetJoin, load: () => import('../commands/fleet/join.ts') },
  { spec: fleetLeave, load: () => import('../commands/fleet/leave.ts') },
  { spec: fleetInvite, load: () => import('../commands/fleet/invite.ts') },
  { spec: fleetExpel, load: () => import('../commands/fleet/expel.ts') },
  { spec: fleetDelete, load: () => import('../commands/fleet/delete.ts') },
  { spec: fleetStatus, load: () => import('../commands/fleet/status.ts') },
  { spec: fleetDoctor, load: () => import('../commands/fleet/doctor.ts') },
  { spec: fleetExport, load: () => import('../commands/fleet/export.ts') },
  { spec: fleetImport, load: () => import('../commands/fleet/import.ts') },
  { spec: fleetLink, load: () => import('../commands/fleet/link.ts') },
]
