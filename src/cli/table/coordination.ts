// Commands of coordination: identities, claims, notes, tasks, and why a path is held.
import type { ErrorCode } from '../../errors.ts'
import { LEASE_MINUTES_DEFAULT, LEDGER_LEASE_MINUTES_DEFAULT } from '../../limits.ts'
import { type Command, type FlagSpec, spec } from '../command.ts'

const STORE: readonly ErrorCode[] = ['STORE_CORRUPT', 'STORE_UNREADABLE', 'STORE_FULL', 'STORE_BUSY', 'STORE_NEWER']
const IDENTITY: readonly ErrorCode[] = [
  'AGENT_NOT_FOUND',
  'AGENT_REVOKED',
  'IDENTITY_UNPROVEN',
  'IDENTITY_BORROWED',
  'IDENTITY_HELD',
  'IDENTITY_ENDED',
]
const SCOPES: readonly ErrorCode[] = ['SCOPE_INVALID', 'PATH_OUTSIDE_ROOT', 'INVALID_ARGS']

const agentFlag = {
  type: 'string',
  value: 'ID',
  help: 'agent id or HAID to act as, for scripts that are nobody themselves; default who you are (heimdall whoami)',
} as const satisfies FlagSpec
const beadFlag = {
  type: 'string',
  value: 'TASK',
  help: 'task or bead it is about; "none" when there is none',
  default: 'none',
} as const satisfies FlagSpec
const claimFlags = {
  agent: agentFlag,
  task: { type: 'string', value: 'TASK', help: 'task that the claim is for' },
  intent: { type: 'string', value: 'TEXT', help: 'what you are going to do, for those who are refused' },
  ttl: {
    type: 'integer',
    value: 'MIN',
    help: 'lease in minutes, 1 to 1440; any act of yours renews it',
    default: LEDGER_LEASE_MINUTES_DEFAULT,
  },
} as const satisfies Record<string, FlagSpec>

const AGENT_RECORD = {
  agent_id: 'name of the agent',
  display_name: 'what it is shown as',
  role: 'its role',
  status: 'idle, working (it holds a claim) or revoked',
  created_at: 'when it was registered',
  last_seen_at: 'its last sign of life',
  version: 'goes up with each change of the record',
  current_task: 'task in progress, or null',
  haid: 'its HAID',
  liveness: 'active, stale or evicted',
  session_epoch: 'number of its present session',
  origin: 'local, or remote for an agent of another machine',
  machine: 'the machine that it was registered on',
}
const RESERVATION = {
  reservation_id: 'id of the claim',
  scope: 'scopes as typed',
  agent_id: 'who holds it',
  bead_id: 'task, or none',
  state: 'active, released or expired',
  created_at: 'when it was granted',
  expires_at: 'when the lease ends unless the holder acts',
  released_at: 'when it ended, or null',
  normalized_scope: 'the scopes as absolute paths',
  epoch: 'fencing token',
  liveness: 'active, stale or evicted',
}
const CLAIM = {
  haid: 'who holds it',
  human: 'for whom',
  claimed_surfaces: 'scopes as typed',
  task_ref: 'task, or none',
  claimed_at: 'since when',
  ttl_minutes: 'length of the lease',
  heartbeat: 'last sign of life of the holder',
  claim_id: 'id of the claim',
  epoch: 'fencing token',
  agent_id: 'agent id of the holder',
  liveness: 'active, stale or evicted',
  lease: 'live or lapsed',
  expires_at: 'when the lease ends unless the holder acts',
  origin: 'local or remote',
}
const NOTE = {
  message_id: 'id of the note',
  thread_id: 'thread it belongs to',
  bead_id: 'task, or none',
  from_agent: 'sender',
  to_agent: 'recipient',
  category: 'HANDOFF, BLOCKED, DECISION or INFO',
  subject: 'subject',
  body: 'text',
  state: 'unread, read or acked',
  requires_ack: 'whether the sender waits for an answer',
  created_at: 'when it was sent',
  read_at: 'when it was read, or null',
  acked_at: 'when it was acknowledged, or null',
  acked_by: 'agent, human or null',
}
const CONFLICTS = {
  granted: 'true or false',
  conflicts: 'who is in the way: holder, liveness, lease, expiry, task, overlapping scopes and a path in both',
}

export const agentRegister = spec({
  names: ['heimdall agent register', 'bb agent register'],
  changes: true,
  summary: 'Register an agent under a name of its own',
  flags: {
    name: { type: 'string', value: 'ID', help: 'agent id such as amber-otter; one is made up when absent' },
    role: { type: 'string', value: 'ROLE', help: 'what it does', required: true },
    display: { type: 'string', value: 'TEXT', help: 'name to show' },
    'force-update': { type: 'boolean', help: 'change role and display name of an agent that is registered' },
  },
  examples: [
    { run: 'bb agent register --name amber-otter --role backend --json', does: 'registers amber-otter' },
    { run: 'heimdall agent register --role reviewer', does: 'registers an agent and makes up its name' },
  ],
  errors: ['INVALID_AGENT_ID', 'INVALID_ROLE', 'DUPLICATE_AGENT_ID', ...IDENTITY, ...STORE],
  output: AGENT_RECORD,
})
export const agentList = spec({
  names: ['heimdall agent list', 'bb agent list'],
  summary: 'Who is registered, and who is alive',
  flags: {
    role: { type: 'string', value: 'ROLE', help: 'only agents of this role' },
    status: { type: 'string', value: 'STATUS', help: 'only this status or liveness' },
  },
  examples: [{ run: 'heimdall agent list', does: 'lists agents by name with their liveness' }],
  errors: STORE,
  output: { '[]': 'agent records in order of agent_id' },
})
export const agentShow = spec({
  names: ['heimdall agent show', 'bb agent show'],
  summary: 'One agent',
  flags: { agent: { type: 'string', value: 'ID', help: 'agent id or HAID', required: true } },
  examples: [{ run: 'bb agent show --agent amber-otter --json', does: 'prints the record of amber-otter' }],
  errors: ['INVALID_AGENT_ID', 'AGENT_NOT_FOUND', ...STORE],
  output: AGENT_RECORD,
})
export const agentHeartbeat = spec({
  names: ['heimdall agent heartbeat', 'bb agent heartbeat', 'bb agent activity-lease'],
  summary: 'Say that an agent is alive; renews its leases',
  flags: { agent: agentFlag },
  examples: [
    { run: 'bb agent heartbeat --agent amber-otter --json', does: 'updates last_seen_at; may be repeated at will' },
  ],
  errors: ['INVALID_AGENT_ID', ...IDENTITY, ...STORE],
  output: AGENT_RECORD,
})
export const agentEnd = spec({
  names: ['heimdall agent end'],
  summary: 'End the session of an agent and release what it holds',
  flags: { agent: agentFlag },
  examples: [{ run: 'heimdall agent end --agent amber-otter', does: 'releases all claims of amber-otter' }],
  errors: [...IDENTITY, ...STORE],
  output: { released: 'ids of the claims that were released' },
})
export const agentInit = spec({
  names: ['heimdall agent init', 'bb-init'],
  changes: true,
  summary: 'Begin a session: register a name, or adopt a prior identity with evidence',
  about:
    'Evidence is uncommitted changes in the scopes of the identity, or a task in progress that it owns. Without evidence, or when the identity is alive, a person at the terminal is asked; with --non-interactive, or without a terminal, the answer is no and a recommendation.',
  flags: {
    adopt: { type: 'string', value: 'ID', help: 'prior identity to take up' },
    register: { type: 'string', value: 'NAME', help: 'new name to register' },
    role: { type: 'string', value: 'ROLE', help: 'role of a new name', default: 'agent' },
    'non-interactive': { type: 'boolean', help: 'never ask' },
    'project-root': { type: 'string', value: 'DIR', help: 'project to work in; default the current folder' },
  },
  examples: [
    { run: 'bb-init --register amber-otter --json', does: 'begins as amber-otter' },
    {
      run: 'bb-init --adopt amber-otter --non-interactive --json',
      does: 'takes amber-otter up again if its work is unfinished',
    },
  ],
  errors: [
    'AMBIGUOUS_SESSION',
    'ADOPTION_REJECTED',
    'DUPLICATE_AGENT_ID',
    'INVALID_AGENT_ID',
    'AGENT_NOT_FOUND',
    'AGENT_REVOKED',
    'PERSON_REQUIRED',
    ...STORE,
  ],
  output: {
    agent_id: 'the identity of this session',
    mode: 'register or adopt',
    lease: 'status and what keeps it alive',
    recommendation: 'what to do and why',
    timestamp: 'when the session began',
  },
})
export const agentReserve = spec({
  names: ['heimdall agent reserve', 'bb agent reserve'],
  summary: 'Reserve scopes for an agent',
  flags: {
    agent: agentFlag,
    scope: {
      type: 'string',
      value: 'SCOPE',
      help: 'path, folder or glob; may be given several times',
      multiple: true,
      required: true,
    },
    bead: beadFlag,
    ttl: { type: 'integer', value: 'MIN', help: 'lease in minutes, 5 to 1440', default: LEASE_MINUTES_DEFAULT },
    'takeover-stale': { type: 'boolean', help: 'take over from owners that are stale or evicted' },
  },
  examples: [
    {
      run: 'bb agent reserve --agent amber-otter --scope "src/lib/*" --bead T-1 --json',
      does: 'reserves the folder src/lib',
    },
    {
      run: 'bb agent reserve --agent amber-otter --scope src/lib --takeover-stale',
      does: 'takes it over if its owner is silent',
    },
  ],
  errors: [...IDENTITY, ...SCOPES, 'RESERVATION_CONFLICT', 'RESERVATION_STALE_FOUND', ...STORE],
  output: {
    ...RESERVATION,
    displaced: 'claims that were taken over',
    dirty_paths: 'uncommitted changes that their holders left',
  },
})
export const agentRelease = spec({
  names: ['heimdall agent release', 'bb agent release'],
  summary: 'Release reserved scopes',
  flags: {
    agent: agentFlag,
    scope: {
      type: 'string',
      value: 'SCOPE',
      help: 'a scope of the claim, in any spelling',
      multiple: true,
      required: true,
    },
    epoch: { type: 'integer', value: 'N', help: 'refuse unless the claim has this epoch' },
  },
  examples: [
    { run: 'bb agent release --agent amber-otter --scope "src/lib/*"', does: 'releases the claim on src/lib' },
  ],
  errors: [...IDENTITY, ...SCOPES, 'RESERVATION_NOT_FOUND', 'RELEASE_FORBIDDEN', 'CLAIM_FENCED', ...STORE],
  output: RESERVATION,
})
export const agentStatus = spec({
  names: ['heimdall agent status', 'bb agent status'],
  summary: 'What is reserved, and which notes wait for an answer',
  flags: {
    agent: { type: 'string', value: 'ID', help: 'only this agent' },
    bead: { type: 'string', value: 'TASK', help: 'only this task' },
  },
  examples: [{ run: 'bb agent status --json', does: 'prints reservations, unanswered notes and counts' }],
  errors: ['AGENT_NOT_FOUND', ...STORE],
  output: {
    reservations: 'active reservations',
    unacked_required_messages: 'notes that wait for an answer',
    summary: 'counts of both, and of released and expired reservations',
  },
})

export const noteSend = spec({
  names: ['heimdall note send', 'bb agent send'],
  summary: 'Send a note to an agent, a role or everybody',
  flags: {
    from: { type: 'string', value: 'ID', help: 'sender; default as --agent elsewhere' },
    to: { type: 'string', value: 'WHO', help: 'agent id, role:<role> or broadcast', required: true },
    bead: beadFlag,
    category: { type: 'string', value: 'KIND', help: 'HANDOFF, BLOCKED, DECISION or INFO', required: true },
    subject: { type: 'string', value: 'TEXT', help: 'one line', required: true },
    body: {
      type: 'string',
      value: 'TEXT',
      help: 'the note; the summary of a handoff, the blocker of a blocked task',
      required: true,
    },
    thread: { type: 'string', value: 'ID', help: 'thread; default bead:<task>' },
    'next-action': { type: 'string', value: 'TEXT', help: 'HANDOFF: what to do next; default the body' },
    'requested-action': { type: 'string', value: 'TEXT', help: 'BLOCKED: what you need; default the subject' },
    urgency: { type: 'string', value: 'low|medium|high', help: 'BLOCKED: how soon; default medium' },
    scope: { type: 'string', value: 'SCOPE', help: 'scope that the note is about' },
  },
  examples: [
    {
      run: 'bb agent send --from amber-otter --to cobalt-harbor --bead T-1 --category HANDOFF --subject "Parser done" --body "Lexer and parser pass" --next-action "write the docs"',
      does: 'hands the task over',
    },
    {
      run: 'heimdall note send --to role:backend --category BLOCKED --subject "Need the schema" --body "src/db is held" --urgency high',
      does: 'asks all backend agents',
    },
  ],
  errors: [
    ...IDENTITY,
    'UNKNOWN_SENDER',
    'UNKNOWN_RECIPIENT',
    'MISSING_BEAD_ID',
    'INVALID_CATEGORY',
    'INVALID_MESSAGE',
    'INVALID_ARGS',
    ...STORE,
  ],
  output: { ...NOTE, recipients: 'all who got it; the record is that of the first' },
})
export const noteInbox = spec({
  names: ['heimdall note inbox', 'bb agent inbox'],
  summary: 'Notes for an agent, newest first',
  flags: {
    agent: agentFlag,
    state: { type: 'string', value: 'STATE', help: 'unread, read or acked' },
    bead: { type: 'string', value: 'TASK', help: 'only about this task' },
    limit: { type: 'integer', value: 'N', help: 'at most this many, 1 to 500', default: 50 },
  },
  examples: [
    { run: 'bb agent inbox --agent amber-otter --state unread --json', does: 'lists what amber-otter has not read' },
  ],
  errors: ['AGENT_NOT_FOUND', 'INVALID_STATE', 'INVALID_LIMIT', ...STORE],
  output: { '[]': 'notes, newest first' },
})
export const noteRead = spec({
  names: ['heimdall note read', 'bb agent read'],
  summary: 'Mark a note as read',
  flags: { agent: agentFlag, message: { type: 'string', value: 'ID', help: 'id of the note', required: true } },
  examples: [{ run: 'bb agent read --agent amber-otter --message msg_01', does: 'marks the note as seen' }],
  errors: [...IDENTITY, 'MESSAGE_NOT_FOUND', 'INVALID_MESSAGE_ID', 'READ_FORBIDDEN', ...STORE],
  output: NOTE,
})
export const noteAck = spec({
  names: ['heimdall note ack', 'bb agent ack'],
  summary: 'Acknowledge a note',
  flags: {
    agent: agentFlag,
    message: { type: 'string', value: 'ID', help: 'id of the note', required: true },
    human: { type: 'boolean', help: 'you, a person, accept it in place of the agent; recorded as such' },
  },
  examples: [{ run: 'bb agent ack --agent amber-otter --message msg_01', does: 'accepts the handoff' }],
  errors: [...IDENTITY, 'MESSAGE_NOT_FOUND', 'INVALID_MESSAGE_ID', 'ACK_FORBIDDEN', 'PERSON_REQUIRED', ...STORE],
  output: NOTE,
})

const scopeArg = { name: 'scope', help: 'path, folder, glob, or file#symbol', variadic: true } as const
const anyScopes = { ...scopeArg, help: 'paths or globs, or the id of one claim', optional: true } as const

export const claimTake = spec({
  names: ['heimdall claim take', 'heimdall-claim claim'],
  summary: 'Claim scopes: all of them or none',
  about:
    'A claim for the same task stands in for the earlier one; another task adds. A lapsed claim of a silent owner is archived by the way.',
  args: [scopeArg],
  flags: claimFlags,
  examples: [
    { run: 'heimdall claim take "src/a/**" docs/a.md --task T-9', does: 'claims both or neither' },
    {
      run: 'heimdall-claim claim "src/a/**" --task T-9 --ttl 30',
      does: 'the same by its seed name; exit 3 on a collision',
    },
  ],
  errors: [...IDENTITY, ...SCOPES, ...STORE],
  output: {
    granted: 'true or false',
    claim: 'the claim',
    renewed: 'the same scopes were held already',
    released: 'your earlier claims for the same task, or for none, that this one stands in for',
    displaced: 'claims that were taken over',
    dirty_paths: 'uncommitted changes in them',
    conflicts: 'who is in the way, when not granted',
  },
})
export const claimCheck = spec({
  names: ['heimdall claim check', 'heimdall-claim check'],
  summary: 'May these paths be claimed or edited? Changes nothing',
  args: [scopeArg],
  flags: { agent: agentFlag },
  examples: [
    { run: 'heimdall claim check src/a/b.ts', does: 'prints clear, or who holds it (exit 5; 3 as heimdall-claim)' },
  ],
  errors: [...SCOPES, ...STORE],
  output: CONFLICTS,
})
export const claimRenew = spec({
  names: ['heimdall claim renew'],
  summary: 'Renew claims; refused when the claim was taken over',
  args: [anyScopes],
  flags: {
    agent: agentFlag,
    claim: { type: 'string', value: 'ID', help: 'one claim by its id' },
    epoch: { type: 'integer', value: 'N', help: 'refuse unless the claim has this epoch' },
    ttl: { type: 'integer', value: 'MIN', help: 'new length of the lease' },
  },
  examples: [{ run: 'heimdall claim renew --claim res_01 --epoch 7', does: 'renews it if it is still yours' }],
  errors: [...IDENTITY, ...SCOPES, 'RESERVATION_NOT_FOUND', 'RELEASE_FORBIDDEN', 'CLAIM_FENCED', ...STORE],
  output: { '[]': 'the renewed claims' },
})
export const claimRelease = spec({
  names: ['heimdall claim release', 'heimdall-claim release'],
  summary: 'Release claims; all of yours when none is named',
  args: [anyScopes],
  flags: {
    agent: agentFlag,
    haid: { type: 'string', value: 'HAID', help: 'the same as --agent' },
    claim: { type: 'string', value: 'ID', help: 'one claim by its id' },
    epoch: { type: 'integer', value: 'N', help: 'refuse unless the claim has this epoch' },
  },
  examples: [{ run: 'heimdall claim release src/a', does: 'releases the claim on src/a' }],
  errors: [...IDENTITY, ...SCOPES, 'RESERVATION_NOT_FOUND', 'RELEASE_FORBIDDEN', 'CLAIM_FENCED', ...STORE],
  output: { haid: 'whose', released: 'ids of the claims', surfaces: 'their scopes' },
})
export const claimTakeover = spec({
  names: ['heimdall claim takeover'],
  summary: 'Claim scopes from owners that went silent',
  about:
    'The prior claim is archived as expired and its holder is fenced off. From an active owner only a person at a terminal can take, with --force and a reason, and that is recorded.',
  args: [scopeArg],
  flags: {
    ...claimFlags,
    force: { type: 'boolean', help: 'a person takes it from an active owner' },
    reason: { type: 'string', value: 'TEXT', help: 'why, with --force' },
  },
  examples: [
    { run: 'heimdall claim takeover src/a --task T-9', does: 'takes src/a over if its owner is stale or evicted' },
  ],
  errors: [...IDENTITY, ...SCOPES, 'PERSON_REQUIRED', ...STORE],
  output: {
    granted: 'true or false',
    claim: 'the claim',
    displaced: 'claims that were taken over',
    dirty_paths: 'uncommitted changes in them',
    conflicts: 'who is in the way, when not granted',
  },
})
export const claimWait = spec({
  names: ['heimdall claim wait'],
  summary: 'Claim scopes as soon as they are free; first come, first served',
  args: [scopeArg],
  flags: {
    ...claimFlags,
    timeout: { type: 'duration', value: 'TIME', help: 'give up after this long', default: 600_000 },
  },
  examples: [
    {
      run: 'heimdall claim wait src/a --task T-9 --timeout 15m',
      does: 'queues for src/a for at most a quarter of an hour',
    },
  ],
  errors: [...IDENTITY, ...SCOPES, 'WAIT_TIMEOUT', 'INTERRUPTED', 'STORE_REPLACED', ...STORE],
  output: { granted: 'true', claim: 'the claim' },
})
export const watch = spec({
  names: ['heimdall watch'],
  summary: 'What happens in coordination and to sessions, as it happens',
  about:
    'One line for each event, and for each session that appears, changes its state or ends; with --json one object a ' +
    'line. Goes on until it is stopped; when whoever reads its output has gone, it ends with the next line. Sessions that run already appear first; a repository in which nobody has acted ' +
    'yet is waited for.',
  flags: {
    after: { type: 'integer', value: 'SEQ', help: 'begin after this entry; default with what happens from now on' },
    'socket-dir': { type: 'string', value: 'DIR', help: 'folder of the session sockets' },
  },
  examples: [
    { run: 'heimdall watch', does: 'prints claims, notes, sessions and all the rest as they happen' },
    { run: 'heimdall watch --json --after 120', does: 'prints entries from number 121 on, one JSON object a line' },
  ],
  errors: ['FOLLOW_TOO_OLD', 'FOLLOW_AHEAD', ...STORE],
  json: 'print one JSON object a line on stdout, for each thing that happens',
  output: {
    type: 'following (with after; again when the store was replaced), entry or session',
    seq: 'entry: its number, without gaps',
    id: 'entry: its id; session: the session',
    at: 'entry: when',
    author: 'entry: haid where proved, session_id and run_id where known, else null',
    events: 'entry: events as claim history has them',
    rows: 'entry: table and key of each row that was put or removed',
    change: 'session: appeared, state or ended',
    state: 'session: its state',
    needs_input: 'session: whether a person is waited for, and why',
    exit_code: 'session: once it has ended, else null',
  },
})
export const claimList = spec({
  names: ['heimdall claim list', 'heimdall-claim list'],
  summary: 'What is claimed at present',
  flags: {
    task: { type: 'string', value: 'TASK', help: 'only for this task' },
    all: { type: 'boolean', help: 'also lapsed claims of silent owners' },
  },
  examples: [{ run: 'heimdall claim list', does: 'lists claims with holder, liveness, expiry and task' }],
  errors: STORE,
  output: { '[]': 'claims', ...CLAIM },
})
export const claimShow = spec({
  names: ['heimdall claim show', 'heimdall-claim show'],
  summary: 'The claims of one holder',
  flags: { haid: { type: 'string', value: 'HAID', help: 'HAID or agent id; default your own' } },
  examples: [{ run: 'heimdall-claim show --json', does: 'prints your own claim, or null' }],
  errors: STORE,
  output: { '[]': 'claims of that holder', ...CLAIM },
})
export const claimHeartbeat = spec({
  names: ['heimdall claim heartbeat', 'heimdall-claim heartbeat'],
  summary: 'Keep the claims of a holder alive',
  flags: { haid: { type: 'string', value: 'HAID', help: 'HAID or agent id; default your own' } },
  examples: [{ run: 'heimdall-claim heartbeat', does: 'renews the leases of your claims' }],
  errors: [...IDENTITY, 'RESERVATION_NOT_FOUND', ...STORE],
  output: { '[]': 'the claims that live on' },
})
export const claimReap = spec({
  names: ['heimdall claim reap', 'heimdall-claim reap'],
  changes: true,
  summary: 'Archive lapsed claims of silent owners',
  examples: [{ run: 'heimdall claim reap', does: 'archives them and says how many' }],
  errors: STORE,
  output: { reaped: 'ids of the archived claims', active: 'how many are left' },
})
export const claimHistory = spec({
  names: ['heimdall claim history'],
  summary: 'What happened, in order: claims, takeovers, incursions, handoffs, resumes',
  flags: {
    claim: { type: 'string', value: 'ID', help: 'only about this claim' },
    agent: { type: 'string', value: 'ID', help: 'only from or to this agent' },
    task: { type: 'string', value: 'TASK', help: 'only about this task' },
    type: {
      type: 'string',
      value: 'TYPE',
      help: 'only events of this type, such as INCURSION; may be given several times',
      multiple: true,
    },
    last: { type: 'integer', value: 'N', help: 'the newest ones', default: 50 },
  },
  examples: [{ run: 'heimdall claim history --type INCURSION', does: 'lists the latest collisions' }],
  errors: ['AGENT_NOT_FOUND', ...STORE],
  output: { '[]': 'events in the envelope of the operative protocol, with seq' },
})
export const whoami = spec({
  names: ['heimdall whoami'],
  summary: 'Who you are here, by what proof, and what you hold',
  about:
    'A session is somebody by itself, and so is whoever a secret or a key file proves. A name in a variable or a flag is a label and proves nothing. Changes nothing.',
  examples: [{ run: 'heimdall whoami', does: 'prints the identity that commands in this terminal act as' }],
  errors: STORE,
  output: {
    haid: 'who you are',
    agent_id: 'under which name you are registered, or null',
    registered: 'whether you are; the first act registers you',
    proof: 'secret, process, key or none',
    because: 'what made us think so',
    may_act: 'whether you may change anything',
    refusal: 'code and hint when you may not, or null',
    liveness: 'active, stale, evicted or null',
    session: 'id of the session that you run in, or null',
    tree: 'the process that your tree descends from',
    person: 'whether a person is acting',
    holds: 'your claims',
  },
})
export const whyPath = spec({
  names: ['heimdall why'],
  summary: 'Who holds this path, since when, until when and what for, who else wants it, and what to do',
  args: [{ name: 'path', help: 'path, folder or glob' }],
  examples: [{ run: 'heimdall why src/a/b.ts', does: 'tells who holds it and for which task' }],
  errors: [...SCOPES, ...STORE],
  output: {
    path: 'as typed',
    holders: 'claims that cover it, and whether each is yours',
    wanted_by: 'who was refused it and still wants it: how often, since when, and which place in the queue',
  },
})

const haidArg = { name: 'haid', help: 'a HAID' } as const
const haidOrIdArg = { name: 'haid', help: 'a HAID, or an agent’s id' } as const
const ownHaidArg = { name: 'haid', help: 'a HAID; default your own', optional: true } as const
const REGISTRY = {
  haid: 'the HAID',
  human: 'for whom',
  role: 'its role',
  tool: 'the client behind it',
  tool_version: 'its version',
  first_seen: 'when it was registered',
  last_heartbeat: 'its last sign of life',
  status: 'active, stale or revoked',
}

export const haidCurrent = spec({
  names: ['heimdall haid current', 'heimdall-haid current'],
  summary: 'The HAID of this session',
  examples: [{ run: 'heimdall-haid current', does: 'prints a HAID such as haid:ana.box-1f2e' }],
  errors: ['HAID_INVALID'],
  output: { haid: 'the HAID' },
})
export const haidSpawn = spec({
  names: ['heimdall haid spawn', 'heimdall-haid spawn'],
  summary: 'The HAID of an agent with this role below yours',
  args: [{ name: 'role', help: 'role or client name' }],
  examples: [{ run: 'heimdall-haid spawn reviewer', does: 'prints haid:ana.box-1f2e/reviewer; registers nothing' }],
  errors: ['HAID_INVALID'],
  output: { haid: 'the HAID' },
})
export const haidRegister = spec({
  names: ['heimdall haid register', 'heimdall-haid register'],
  changes: true,
  summary: 'Register a HAID, or update it; a revocation stays',
  flags: {
    haid: { type: 'string', value: 'HAID', help: 'default your own' },
    role: { type: 'string', value: 'ROLE', help: 'default the suffix of the HAID, else orchestrator' },
  },
  examples: [{ run: 'heimdall-haid register --role orchestrator', does: 'registers your HAID' }],
  errors: ['HAID_INVALID', 'INVALID_ROLE', ...IDENTITY, ...STORE],
  output: REGISTRY,
})
export const haidHeartbeat = spec({
  names: ['heimdall haid heartbeat', 'heimdall-haid heartbeat'],
  summary: 'Say that a HAID is alive',
  args: [ownHaidArg],
  examples: [{ run: 'heimdall-haid heartbeat', does: 'updates the last sign of life' }],
  errors: ['HAID_INVALID', ...IDENTITY, ...STORE],
  output: REGISTRY,
})
export const haidRevoke = spec({
  names: ['heimdall haid revoke', 'heimdall-haid revoke'],
  summary: 'Revoke a HAID: from then on it can change nothing',
  args: [haidOrIdArg],
  examples: [
    {
      run: 'heimdall-haid revoke haid:ana.box-1f2e/cursor',
      does: 'refuses every claim, release and note of that agent',
    },
  ],
  errors: ['HAID_INVALID', 'AGENT_NOT_FOUND', 'PERSON_REQUIRED', ...STORE],
  output: REGISTRY,
})
export const haidReinstate = spec({
  names: ['heimdall haid reinstate', 'heimdall-haid reinstate'],
  summary: 'Lift a revocation',
  args: [haidOrIdArg],
  examples: [{ run: 'heimdall-haid reinstate haid:ana.box-1f2e/cursor', does: 'lets that agent act again' }],
  errors: ['HAID_INVALID', 'AGENT_NOT_FOUND', 'PERSON_REQUIRED', ...STORE],
  output: REGISTRY,
})
export const haidCheck = spec({
  names: ['heimdall haid check', 'heimdall-haid check'],
  summary: 'May this HAID act? Exit 3 when it is revoked or unknown',
  args: [haidArg],
  examples: [{ run: 'heimdall-haid check haid:ana.box-1f2e/cursor', does: 'prints active, stale, revoked or absent' }],
  errors: ['HAID_INVALID', ...STORE],
  output: { haid: 'the HAID', status: 'active, stale, revoked or absent' },
})
export const haidList = spec({
  names: ['heimdall haid list', 'heimdall-haid list'],
  summary: 'The registry of HAIDs',
  examples: [{ run: 'heimdall-haid list --json', does: 'prints the registry with its version' }],
  errors: STORE,
  output: { agents: 'HAID to its entry' },
})
export const haidGet = spec({
  names: ['heimdall haid get', 'heimdall-haid get'],
  summary: 'One entry of the registry',
  args: [haidArg],
  examples: [{ run: 'heimdall-haid get haid:ana.box-1f2e', does: 'prints the entry; exit 2 when there is none' }],
  errors: ['HAID_INVALID', 'AGENT_NOT_FOUND', ...STORE],
  output: REGISTRY,
})
export const haidTrailer = spec({
  names: ['heimdall haid trailer', 'heimdall-haid trailer'],
  summary: 'The line that attributes a commit',
  args: [ownHaidArg],
  examples: [{ run: 'heimdall-haid trailer', does: 'prints Heimdall-Agent: and the HAID' }],
  errors: ['HAID_INVALID'],
  output: { trailer: 'the line' },
})

const taskArg = { name: 'task', help: 'id of the task' } as const
const TASK = {
  task_id: 'id',
  state: 'in_progress, done or failed',
  owner: 'HAID',
  title: 'title',
  started_at: 'when',
  ended_at: 'when, or null',
  summary: 'what came of it, or null',
}

export const taskStart = spec({
  names: ['heimdall task start'],
  summary: 'Say that you work on a task',
  args: [taskArg],
  flags: { agent: agentFlag, title: { type: 'string', value: 'TEXT', help: 'title; default the id' } },
  examples: [{ run: 'heimdall task start T-9 --agent amber-otter', does: 'makes amber-otter the owner of T-9' }],
  errors: [...IDENTITY, 'INVALID_ARGS', 'TASK_FORBIDDEN', ...STORE],
  output: TASK,
})
export const taskDone = spec({
  names: ['heimdall task done'],
  summary: 'End a task; writes its page into the ledger',
  args: [taskArg],
  flags: {
    agent: agentFlag,
    summary: { type: 'string', value: 'TEXT', help: 'two to four sentences', required: true },
    failed: { type: 'boolean', help: 'it came to nothing' },
  },
  examples: [{ run: 'heimdall task done T-9 --summary "Parser rewritten."', does: 'ends T-9' }],
  errors: [...IDENTITY, 'INVALID_ARGS', 'TASK_NOT_FOUND', 'TASK_FORBIDDEN', ...STORE],
  output: TASK,
})
export const taskList = spec({
  names: ['heimdall task list'],
  summary: 'Tasks in progress, and who has them',
  flags: { all: { type: 'boolean', help: 'also those that have ended' } },
  examples: [{ run: 'heimdall task list', does: 'lists tasks in progress' }],
  errors: STORE,
  output: { '[]': 'tasks' },
})

export const coordinationCommands: readonly Command[] = [
  { spec: agentInit, load: () => import('../commands/agent/init.ts') },
  { spec: agentRegister, load: () => import('../commands/agent/register.ts') },
  { spec: agentList, load: () => import('../commands/agent/list.ts') },
  { spec: agentShow, load: () => import('../commands/agent/show.ts') },
  { spec: agentHeartbeat, load: () => import('../commands/agent/heartbeat.ts') },
  { spec: agentReserve, load: () => import('../commands/agent/reserve.ts') },
  { spec: agentRelease, load: () => import('../commands/agent/release.ts') },
  { spec: agentStatus, load: () => import('../commands/agent/status.ts') },
  { spec: agentEnd, load: () => import('../commands/agent/end.ts') },
  { spec: noteSend, load: () => import('../commands/note/send.ts') },
  { spec: noteInbox, load: () => import('../commands/note/inbox.ts') },
  { spec: noteRead, load: () => import('../commands/note/read.ts') },
  { spec: noteAck, load: () => import('../commands/note/ack.ts') },
  { spec: claimTake, load: () => import('../commands/claim/take.ts') },
  { spec: claimCheck, load: () => import('../commands/claim/check.ts') },
  { spec: claimRenew, load: () => import('../commands/claim/renew.ts') },
  { spec: claimRelease, load: () => import('../commands/claim/release.ts') },
  { spec: claimTakeover, load: () => import('../commands/claim/takeover.ts') },
  { spec: claimWait, load: () => import('../commands/claim/wait.ts') },
  { spec: claimList, load: () => import('../commands/claim/list.ts') },
  { spec: claimShow, load: () => import('../commands/claim/show.ts') },
  { spec: claimHeartbeat, load: () => import('../commands/claim/heartbeat.ts') },
  { spec: claimReap, load: () => import('../commands/claim/reap.ts') },
  { spec: claimHistory, load: () => import('../commands/claim/history.ts') },
  { spec: watch, load: () => import('../commands/watch.ts') },
  { spec: whoami, load: () => import('../commands/whoami.ts') },
  { spec: whyPath, load: () => import('../commands/why.ts') },
  { spec: taskStart, load: () => import('../commands/task/start.ts') },
  { spec: taskDone, load: () => import('../commands/task/done.ts') },
  { spec: taskList, load: () => import('../commands/task/list.ts') },
  { spec: haidCurrent, load: () => import('../commands/haid/current.ts') },
  { spec: haidSpawn, load: () => import('../commands/haid/spawn.ts') },
  { spec: haidRegister, load: () => import('../commands/haid/register.ts') },
  { spec: haidHeartbeat, load: () => import('../commands/haid/heartbeat.ts') },
  { spec: haidRevoke, load: () => import('../commands/haid/revoke.ts') },
  { spec: haidReinstate, load: () => import('../commands/haid/reinstate.ts') },
  { spec: haidCheck, load: () => import('../commands/haid/check.ts') },
  { spec: haidList, load: () => import('../commands/haid/list.ts') },
  { spec: haidGet, load: () => import('../commands/haid/get.ts') },
  { spec: haidTrailer, load: () => import('../commands/haid/trailer.ts') },
]
