// Every way Heimdall can refuse or fail: one class, one table of codes.

/** Exit codes of our own commands; the seeds' commands keep theirs through `seedExit`. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  permission: 4,
  conflict: 5,
  timeout: 6,
  denied: 7,
  unavailable: 8,
  notRunnable: 127,
  interrupted: 130,
} as const

/**
 * Who can do something about it: the caller (`user`), whoever wrote the configuration (`config`),
 * the other end of a connection (`peer`), time (`retry`), or us (`bug`).
 */
export type ErrorKind = 'user' | 'config' | 'peer' | 'retry' | 'bug'

interface ErrorEntry {
  readonly kind: ErrorKind
  readonly exit: number
  /** Exit code when the command was called by a name of a seed contract; absent means `exit`. */
  readonly seedExit?: number
  readonly http: number
  readonly means: string
}

const table = <const T extends Record<string, ErrorEntry>>(entries: T): T => entries

export const ERRORS = table({
  // vocabulary and command line
  USAGE: { kind: 'user', exit: 2, http: 400, means: 'the command line names an unknown command, flag or value' },
  ID_INVALID: { kind: 'user', exit: 2, http: 400, means: 'an id is outside the grammar of ids' },
  PATH_OUTSIDE_ROOT: {
    kind: 'user',
    exit: 4,
    seedExit: 2,
    http: 403,
    means: 'a path leads out of the folder it must stay in',
  },
  PROJECT_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no project was found at or above this folder' },
  FOLDER_GONE: {
    kind: 'user',
    exit: 3,
    http: 404,
    means: 'the folder that a command was called in no longer exists, and the command needs one',
  },
  PERSON_REQUIRED: {
    kind: 'user',
    exit: 4,
    http: 403,
    means: 'only a person may do this, at a terminal that no session and no agent is above',
  },
  RUN_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no run has this id, or it was pruned' },
  RUN_AT_WORK: { kind: 'user', exit: 5, http: 409, means: 'a run of this id goes on already, under another process' },
  AGENT_AT_WORK: { kind: 'user', exit: 5, http: 409, means: 'an agent of this name runs already' },
  FILE_EXISTS: { kind: 'user', exit: 5, http: 409, means: 'a file that would be written is there already' },
  EVENTS_UNREADABLE: { kind: 'user', exit: 3, http: 404, means: 'a file of events cannot be read' },
  COLLECTOR_AWAY: { kind: 'retry', exit: 8, http: 503, means: 'a collector of traces cannot be reached, or not now' },
  COLLECTOR_REFUSED: {
    kind: 'peer',
    exit: 1,
    http: 502,
    means: 'a collector of traces does not take what it was sent',
  },
  CALL_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no call on record has this id, or its run was pruned' },
  APPROVAL_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no question to a person has this id' },
  WAIT_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'nothing that waits for a person has this id' },
  WHY_UNKNOWN: { kind: 'user', exit: 3, http: 404, means: 'no path, agent, run or call has this name or id' },
  PROCESSES_UNREADABLE: {
    kind: 'config',
    exit: 8,
    http: 500,
    means: 'the system has neither /proc nor a `ps` that answers, so nobody can tell what runs',
  },
  INTERNAL: { kind: 'bug', exit: 1, http: 500, means: 'something happened that the program rules out' },
  INTERRUPTED: { kind: 'user', exit: 130, http: 499, means: 'the user stopped the command' },
  // hub
  HUB_RUNNING: { kind: 'user', exit: 5, http: 409, means: 'a hub of this user runs already' },
  HUB_NOT_RUNNING: { kind: 'user', exit: 8, http: 503, means: 'no hub of this user runs, or it does not answer' },
  HUB_PORT_TAKEN: { kind: 'user', exit: 5, http: 409, means: 'something else listens at the port' },
  DEMO_FOLDER_TAKEN: { kind: 'user', exit: 5, http: 409, means: 'the folder for the demo is not empty' },
  DEMO_STUCK: { kind: 'bug', exit: 6, http: 504, means: 'the demo did not come to its end' },
  HUB_HOST_REFUSED: {
    kind: 'peer',
    exit: 4,
    http: 403,
    means: 'the hub was called by a name that it does not answer to',
  },
  HUB_ORIGIN_REFUSED: {
    kind: 'peer',
    exit: 4,
    http: 403,
    means: 'a request comes from another page, or does not say from which',
  },
  HUB_TOKEN_REQUIRED: { kind: 'peer', exit: 4, http: 401, means: 'a request carries no pass that the hub knows' },
  HUB_LINK_SPENT: { kind: 'peer', exit: 4, http: 401, means: 'a link was used already, or is too old' },
  HUB_READ_ONLY: { kind: 'user', exit: 4, http: 403, means: 'the hub was started to show and change nothing' },
  HUB_METHOD_REFUSED: { kind: 'peer', exit: 2, http: 405, means: 'a request uses a method that means nothing there' },
  HUB_REQUEST_INVALID: {
    kind: 'peer',
    exit: 2,
    http: 400,
    means: 'a request is not what the contract of the hub says',
  },
  HUB_NOT_FOUND: { kind: 'peer', exit: 3, http: 404, means: 'the hub has nothing under this address' },
  HUB_FULL: { kind: 'retry', exit: 8, http: 503, means: 'as many are connected to the hub as it takes' },
  // config
  CONFIG_UNREADABLE: { kind: 'config', exit: 8, http: 500, means: 'a configuration file cannot be read' },
  CONFIG_INVALID: {
    kind: 'config',
    exit: 2,
    http: 500,
    means: 'a configuration file is malformed, or has an unknown key or a value of the wrong type',
  },
  // hosts
  HOST_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'a host has no configuration file here' },
  HOST_CONFIG_INVALID: {
    kind: 'config',
    exit: 2,
    http: 422,
    means: 'a configuration file of a host cannot be read; nothing in it was changed',
  },
  HOST_CONFIG_BUSY: {
    kind: 'retry',
    exit: 8,
    http: 503,
    means: 'a host writes its configuration file again and again while it is to be edited',
  },
  IMPORT_CHANGED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a line that an import wrote was changed so that what stood there before cannot be told from it',
  },
  CONSENT_REQUIRED: {
    kind: 'user',
    exit: 2,
    http: 403,
    means: 'files would be changed, and there is no terminal to ask at and no --yes',
  },
  // canonical
  JSON_MALFORMED: { kind: 'user', exit: 1, http: 400, means: 'a text is not JSON' },
  JSON_DUPLICATE_KEY: { kind: 'user', exit: 1, http: 400, means: 'an object names a key twice' },
  JSON_LONE_SURROGATE: { kind: 'user', exit: 1, http: 400, means: 'a string holds half of a surrogate pair' },
  JSON_NUMBER_RANGE: { kind: 'user', exit: 1, http: 400, means: 'a number is larger than a double can hold' },
  JSON_TOO_LARGE: { kind: 'user', exit: 1, http: 413, means: 'a JSON text is longer than the limit' },
  JSON_TOO_DEEP: { kind: 'user', exit: 1, http: 400, means: 'a value is nested deeper than the limit' },
  // storage
  STORE_CORRUPT: {
    kind: 'bug',
    exit: 8,
    http: 500,
    means: 'a state file cannot be parsed; it is kept as it is or set aside, never overwritten',
  },
  STORE_UNREADABLE: { kind: 'config', exit: 8, http: 500, means: 'a state file or folder cannot be opened' },
  STATE_UNSAFE: {
    kind: 'config',
    exit: 4,
    http: 403,
    means:
      'a folder or file of state is another user’s, a link, or open to others; nothing was read from it or written',
  },
  STORE_FULL: { kind: 'retry', exit: 8, http: 507, means: 'the disk is full or over quota; nothing was written' },
  STORE_BUSY: { kind: 'retry', exit: 8, http: 503, means: 'another process held the lock for longer than the wait' },
  STORE_NEWER: { kind: 'config', exit: 8, http: 500, means: 'the store was written by a newer version of Heimdall' },
  STORE_FORKED: {
    kind: 'peer',
    exit: 8,
    http: 500,
    means:
      "a fleet's engine lost entries that this machine was promised; the copy here is kept, and rebuilt on request",
  },
  ENGINE_UNREACHABLE: {
    kind: 'retry',
    exit: 8,
    http: 503,
    means: "a fleet's engine cannot be reached; nothing was sent, and the command can be repeated",
  },
  ENGINE_REFUSED: {
    kind: 'config',
    exit: 8,
    http: 502,
    means: "a fleet's engine answered with an error: wrong role or database, a certificate, a full or read-only disk",
  },
  OUTCOME_UNKNOWN: {
    kind: 'retry',
    exit: 8,
    http: 504,
    means: "the connection to a fleet's engine was lost before its answer; the next command settles what became of it",
  },
  FLEET_NEWER: { kind: 'config', exit: 8, http: 500, means: 'a fleet is written by a newer version of Heimdall' },
  FLEET_EXPELLED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'this machine was taken out of its fleet, and changes nothing there any more',
  },
  FLEET_UNKNOWN: {
    kind: 'user',
    exit: 3,
    http: 404,
    means: 'no machine of this fleet, or no project of this database, has this name',
  },
  FLEET_UNRELATED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'this repository has no first commit in common with the one that the fleet was made from',
  },
  FLEET_JOINED: { kind: 'user', exit: 5, http: 409, means: 'this store belongs to a fleet already' },
  FLEET_NOT_JOINED: {
    kind: 'user',
    exit: 3,
    http: 404,
    means: 'this store belongs to no fleet, or to one that was joined in another place',
  },
  STORE_REPLACED: {
    kind: 'retry',
    exit: 8,
    http: 503,
    means: 'the store was removed or replaced while it was in use',
  },
  OUTPUT_UNWRITABLE: {
    kind: 'config',
    exit: 8,
    http: 500,
    means: 'standard output cannot be written to; what the command has done stands',
  },
  LINE_TOO_LARGE: { kind: 'user', exit: 1, http: 413, means: 'a log line is longer than the cap' },
  // wire
  WIRE_FRAME_TOO_LARGE: { kind: 'peer', exit: 1, http: 502, means: 'a frame is larger than 1 MiB' },
  WIRE_PAYLOAD_SIZE: { kind: 'peer', exit: 1, http: 502, means: 'a frame of fixed size has another size' },
  WIRE_PAYLOAD_INVALID: { kind: 'peer', exit: 1, http: 502, means: 'the payload of a frame cannot be read' },
  WIRE_MODE_UNKNOWN: { kind: 'peer', exit: 1, http: 502, means: 'a session speaks another protocol than ours' },
  // client
  SESSION_NOT_FOUND: { kind: 'user', exit: 3, seedExit: 1, http: 404, means: 'no session has this id' },
  SESSION_SILENT: {
    kind: 'retry',
    exit: 6,
    seedExit: 1,
    http: 504,
    means: 'a session did not answer in time; it may be stopped or overloaded',
  },
  SESSION_LOST: { kind: 'peer', exit: 8, seedExit: 1, http: 502, means: 'the connection to a session broke off' },
  REMOTE_UNREACHABLE: {
    kind: 'retry',
    exit: 8,
    seedExit: 1,
    http: 502,
    means: 'another machine cannot be reached over ssh, or has no Heimdall',
  },
  SESSION_REFUSED: { kind: 'peer', exit: 1, http: 409, means: 'a session refused what a client asked for' },
  SESSION_ENDED: { kind: 'user', exit: 5, seedExit: 1, http: 410, means: 'the session has ended, or ended meanwhile' },
  SESSION_WAIT_TIMEOUT: { kind: 'retry', exit: 6, http: 504, means: 'what was waited for did not happen in time' },
  CAST_INVALID: { kind: 'user', exit: 1, http: 400, means: 'a file is not an asciicast v2 recording' },
  SEND_UNSAFE: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a text to send holds the bytes that end a paste, so what follows them would be typed as commands',
  },
  // supervisor
  SESSION_OPTIONS_INVALID: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a session was asked for with impossible options',
  },
  SESSION_ID_IN_USE: { kind: 'user', exit: 5, seedExit: 1, http: 409, means: 'a live session holds this id' },
  SESSION_DIR_UNSAFE: {
    kind: 'config',
    exit: 4,
    http: 403,
    means: 'the folder of sessions is not a folder of this user that nobody else can enter',
  },
  SESSION_PATH_TOO_LONG: {
    kind: 'config',
    exit: 2,
    seedExit: 1,
    http: 400,
    means: 'the path of a unix socket (of a session, of the hub) is longer than the system allows',
  },
  SESSION_COMMAND_NOT_FOUND: { kind: 'user', exit: 127, http: 404, means: 'the command of a session cannot be run' },
  SESSION_START_FAILED: {
    kind: 'bug',
    exit: 1,
    http: 500,
    means: 'a session process ended before its socket answered',
  },
  SESSION_PTY_UNAVAILABLE: {
    kind: 'config',
    exit: 8,
    http: 503,
    means: 'the native part of the terminal library is missing, or the system has no terminal left',
  },
  SESSION_DETACHED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'another client has sent the viewers of a session away',
  },
  SESSION_READ_ONLY: { kind: 'user', exit: 4, http: 403, means: 'a read-only client tried to type, resize or kill' },
  SESSION_SIZE_INVALID: { kind: 'user', exit: 2, http: 400, means: 'a terminal size of zero or beyond the limit' },
  SESSION_INPUT_REFUSED: { kind: 'peer', exit: 1, http: 409, means: 'input could not be given to the child' },
  // briefing
  SYMBOL_UNKNOWN: { kind: 'user', exit: 3, seedExit: 1, http: 404, means: 'the symbol table has no such entry' },
  FACT_UNKNOWN: { kind: 'user', exit: 3, seedExit: 1, http: 404, means: 'the blackboard has no such fact' },
  FACT_STALE: { kind: 'user', exit: 1, http: 409, means: 'a fact is older than asked for, or its age is not known' },
  VALUE_INVALID: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a value is empty, too large, or holds control characters',
  },
  CAPSULE_UNKNOWN: { kind: 'user', exit: 3, seedExit: 1, http: 404, means: 'there is no such capsule' },
  CAPSULE_TOO_LONG: {
    kind: 'user',
    exit: 2,
    http: 413,
    means: 'a capsule would exceed ten lines; the old one is kept',
  },
  CAPSULE_CYCLE: { kind: 'user', exit: 1, http: 409, means: 'capsules depend on each other in a circle' },
  BRIEF_INCOMPLETE: { kind: 'user', exit: 1, http: 409, means: 'a brief names something that cannot be resolved' },
  BRIEF_OVER_BUDGET: {
    kind: 'user',
    exit: 1,
    http: 413,
    means: 'the part of a brief that cannot be left out exceeds the budget',
  },
  MESSAGE_INVALID: { kind: 'user', exit: 1, http: 400, means: 'a message does not fit the message schema' },
  REPORT_INVALID: { kind: 'user', exit: 1, http: 400, means: 'a gate report is missing, malformed or undecided' },
  // scopes
  SCOPE_INVALID: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a scope is malformed or too large',
  },
  // coordination
  HAID_INVALID: { kind: 'user', exit: 2, http: 400, means: 'a text is not a HAID' },
  INVALID_AGENT_ID: { kind: 'user', exit: 2, http: 400, means: 'an agent id is outside its grammar' },
  INVALID_ROLE: { kind: 'user', exit: 2, http: 400, means: 'a role is outside its grammar' },
  INVALID_ARGS: { kind: 'user', exit: 2, http: 400, means: 'a scope, time to live or other value is not allowed' },
  DUPLICATE_AGENT_ID: { kind: 'user', exit: 5, http: 409, means: 'the agent id is taken, perhaps in another spelling' },
  AGENT_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no such agent is registered in this repository' },
  AGENT_REVOKED: { kind: 'user', exit: 4, http: 403, means: 'the agent is revoked and may change nothing' },
  IDENTITY_UNPROVEN: {
    kind: 'user',
    exit: 4,
    http: 403,
    means: 'the caller has no secret, or a wrong or outdated one, for the agent it wants to act as',
  },
  IDENTITY_BORROWED: {
    kind: 'user',
    exit: 4,
    http: 403,
    means: 'a caller that is one agent named another, without proof',
  },
  IDENTITY_ENDED: { kind: 'user', exit: 4, http: 403, means: 'the session that this secret belongs to has ended' },
  RESERVATION_CONFLICT: { kind: 'user', exit: 5, http: 409, means: 'an active agent holds an overlapping scope' },
  RESERVATION_STALE_FOUND: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a silent agent holds an overlapping scope; it can be taken over with the flag for that',
  },
  RESERVATION_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no active claim matches' },
  RELEASE_FORBIDDEN: { kind: 'user', exit: 4, http: 403, means: 'the claim is held by another agent' },
  CLAIM_FENCED: { kind: 'user', exit: 4, http: 403, means: 'the claim has ended, or its epoch is not the one given' },
  FOLLOW_TOO_OLD: {
    kind: 'user',
    exit: 1,
    http: 410,
    means: 'entries from this number on are no longer kept; the state can be read, and followed from its own number',
  },
  FOLLOW_AHEAD: {
    kind: 'user',
    exit: 1,
    http: 409,
    means: 'this entry was not made yet: the store is another one than the one that was followed',
  },
  WAIT_TIMEOUT: { kind: 'retry', exit: 6, http: 408, means: 'the scope was still held when the wait was over' },
  ADOPTION_REJECTED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'nothing shows that this session continues the work of the identity it wants to adopt',
  },
  AMBIGUOUS_SESSION: { kind: 'user', exit: 2, http: 400, means: 'the command does not say which identity to take' },
  TASK_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no such task is known' },
  DISPATCH_INVALID: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a message of dispatch lacks a field, breaks a bound, or asks for what cannot be',
  },
  DISPATCH_DUPLICATE: { kind: 'user', exit: 5, http: 409, means: 'a task of this id is there, with another contract' },
  DISPATCH_FAILED: { kind: 'user', exit: 1, http: 500, means: 'the task that was waited for did not end as done' },
  WORKER_RUNNING: { kind: 'user', exit: 5, http: 409, means: 'a worker of this name runs already' },
  WORKER_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no worker of this name is known here' },
  PEER_INVALID: { kind: 'config', exit: 2, http: 500, means: 'a peer or its token is not set up as it has to be' },
  PEER_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no peer of this name is known here' },
  PEER_FORBIDDEN: { kind: 'peer', exit: 4, http: 403, means: 'a peer is not who it says, or may not do this' },
  PEER_UNREACHABLE: { kind: 'peer', exit: 8, http: 502, means: 'a peer does not answer' },
  ADDRESS_REFUSED: { kind: 'config', exit: 8, http: 500, means: 'the address to listen on is taken, or not allowed' },
  TASK_FORBIDDEN: { kind: 'user', exit: 4, http: 403, means: 'the task belongs to another agent' },
  UNKNOWN_SENDER: { kind: 'user', exit: 3, http: 404, means: 'the sender of a note is not registered' },
  UNKNOWN_RECIPIENT: { kind: 'user', exit: 3, http: 404, means: 'nobody matches the recipient of a note' },
  MISSING_BEAD_ID: { kind: 'user', exit: 2, http: 400, means: 'a note names no task' },
  INVALID_CATEGORY: { kind: 'user', exit: 2, http: 400, means: 'the category of a note is not one of the four' },
  INVALID_MESSAGE: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a note lacks a field of its category, or one is too long',
  },
  INVALID_MESSAGE_ID: { kind: 'user', exit: 2, http: 400, means: 'a message id is outside its grammar' },
  INVALID_STATE: { kind: 'user', exit: 2, http: 400, means: 'the state of a note is not unread, read or acked' },
  INVALID_LIMIT: { kind: 'user', exit: 2, http: 400, means: 'a limit is out of range' },
  MESSAGE_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no note has this id' },
  READ_FORBIDDEN: { kind: 'user', exit: 4, http: 403, means: 'only the recipient may mark a note as read' },
  ACK_FORBIDDEN: { kind: 'user', exit: 4, http: 403, means: 'only the recipient may acknowledge a note' },
  // mcp
  MCP_ARGUMENTS_INVALID: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'the arguments of a tool are not as its schema says',
  },
  CONFLICT_EXISTS: { kind: 'user', exit: 5, http: 409, means: 'a conflict of this id was raised today already' },
  IDENTITY_HELD: { kind: 'user', exit: 5, http: 409, means: 'another live session goes by this name' },
  // guard
  GUARD_NO_REPOSITORY: {
    kind: 'user',
    exit: 3,
    http: 404,
    means: 'there is no git repository with a working tree here',
  },
  GUARD_HOOKS_ELSEWHERE: {
    kind: 'config',
    exit: 5,
    http: 409,
    means: 'git looks for hooks in a folder that other repositories use too',
  },
  GUARD_HOOK_FOREIGN: {
    kind: 'config',
    exit: 5,
    http: 409,
    means: 'a hook stands where the guard has set an earlier hook aside',
  },
  GIT_FAILED: { kind: 'config', exit: 8, http: 500, means: 'git is missing, or a git command failed' },
  SINCE_UNKNOWN: { kind: 'user', exit: 2, http: 400, means: 'neither a time nor a commit of the repository' },
  // worktrees
  WORKTREE_NO_REPOSITORY: {
    kind: 'user',
    exit: 3,
    http: 404,
    means: 'there is no git checkout to make a worktree from',
  },
  WORKTREE_NO_BASE: {
    kind: 'user',
    exit: 3,
    http: 404,
    means: 'there is no commit to begin a worktree at: the repository has none, or not the named one',
  },
  WORKTREE_PLACE_UNFIT: {
    kind: 'config',
    exit: 2,
    http: 422,
    means: 'the folder for worktrees is inside of a checkout, or git cannot keep its name',
  },
  WORKTREE_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'the agent has no worktree here' },
  WORKTREE_HALF_MADE: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'git was killed while it made the worktree of an agent',
  },
  WORKTREE_UNCOMMITTED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a worktree has work that is not committed, which is never removed and is in no merge',
  },
  WORKTREE_UNFINISHED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a merge, rebase or the like is under way in a checkout',
  },
  WORKTREE_UNMERGED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a worktree has commits that no other branch has',
  },
  WORKTREE_IN_USE: { kind: 'user', exit: 5, http: 409, means: 'somebody is at work in a worktree, or it is locked' },
  WORKTREE_CONFLICT: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'an agent and the branch that its work is for have changed the same lines; nothing was merged',
  },
  WORKTREE_TARGET_UNFIT: {
    kind: 'user',
    exit: 2,
    http: 422,
    means: 'the place to merge into is no branch, or the agent’s own',
  },
  WORKTREE_TARGET_DIRTY: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a merge would change files that are not committed in the checkout it goes to; nothing was merged',
  },
  // policy
  POLICY_INVALID: {
    kind: 'config',
    exit: 2,
    http: 422,
    means: 'a policy bundle has an unknown kind, mode or field, a value of the wrong type, or is not YAML or JSON',
  },
  POLICY_UNREADABLE: { kind: 'config', exit: 8, http: 500, means: 'a policy file cannot be read' },
  POLICY_COUNTERS_FULL: {
    kind: 'retry',
    exit: 8,
    http: 503,
    means: 'a run has more budgets and rate limits than are kept; the call takes decision_on_error',
  },
  // events
  // shim
  PIN_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'nothing is known of a server or tool of this name here' },
  PIN_CHANGED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a tool was to be approved by a hash that is not of what waits to be approved now',
  },
  SECRET_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'the store has no secret of this name' },
  SECRET_UNFIT: { kind: 'user', exit: 2, http: 400, means: 'a value cannot be a secret: empty, too long, or not text' },
  SECRETS_NOT_PRIVATE: {
    kind: 'config',
    exit: 4,
    http: 403,
    means: 'others than its user can read or write the store of secrets',
  },
})

export type ErrorCode = keyof typeof ERRORS

export interface ErrorExtra {
  /** What to do next, one line. */
  readonly hint?: string
  readonly cause?: unknown
  /** Machine-readable particulars, printed in the `--json` envelope. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** The message says what was seen and what is allowed; the code says which row of the table it is. */
export class HeimdallError extends Error {
  override readonly name = 'HeimdallError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message: string, extra: ErrorExtra = {}) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause })
    this.code = code
    this.hint = extra.hint
    this.details = extra.details
  }

  get entry(): ErrorEntry {
    return ERRORS[this.code]
  }
}

/** True for a Node system error with one of these codes, such as `ENOENT`. */
export function isErrno(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

/** The program is not on PATH. A PATH folder that may not be searched is reported as EACCES, although the program is in no other folder. */
export function isProgramMissing(error: unknown): boolean {
  return isErrno(error, 'ENOENT', 'EACCES')
}

/** True for whatever the system refuses: the disk, a descriptor, a process that cannot be started. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

/** For `.catch(ignore('ENOENT'))`: swallows the named system errors, rethrows everything else. */
export function ignore(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!isErrno(error, ...codes)) throw error
    return undefined
  }
}

/** A full disk behind `> file`, a device that is gone. A reader that has left is none. */
export function outputUnwritable(error: unknown): HeimdallError {
  const why = error instanceof Error ? error.message : String(error)
  return new HeimdallError('OUTPUT_UNWRITABLE', `standard output cannot be written to: ${why}`, { cause: error })
}
