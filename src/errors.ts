// Errors: one class, and one table of codes with exit codes and HTTP status.

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
 * Who can fix it: the caller (`user`), the author of the configuration (`config`), the other end of a connection
 * (`peer`), time (`retry`), or us (`bug`).
 */
export type ErrorKind = 'user' | 'config' | 'peer' | 'retry' | 'bug'

interface ErrorEntry {
  readonly kind: ErrorKind
  readonly exit: number
  /** Exit code for the launcher of a seed contract; absent means `exit`. */
  readonly seedExit?: number
  readonly http: number
  readonly means: string
}

const table = <const T extends Record<string, ErrorEntry>>(entries: T): T => entries

export const ERRORS = table({
  // vocabulary and command line
  USAGE: { kind: 'user', exit: 2, http: 400, means: 'the command line names an unknown command, flag or value' },
  ID_INVALID: { kind: 'user', exit: 2, http: 400, means: 'an id is malformed' },
  PATH_OUTSIDE_ROOT: {
    kind: 'user',
    exit: 4,
    seedExit: 2,
    http: 403,
    means: 'a path leads out of the folder that it must stay in',
  },
  PROJECT_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'neither this folder nor a parent of it is a project' },
  FOLDER_GONE: {
    kind: 'user',
    exit: 3,
    http: 404,
    means: 'the working folder no longer exists, and the command needs one',
  },
  PERSON_REQUIRED: {
    kind: 'user',
    exit: 4,
    http: 403,
    means: 'needs a human at a terminal that was not started by a session or an agent',
  },
  RUN_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no run has this id, or it was pruned' },
  RUN_AT_WORK: { kind: 'user', exit: 5, http: 409, means: 'a run with this id is already active in another process' },
  AGENT_AT_WORK: { kind: 'user', exit: 5, http: 409, means: 'an agent with this name is already running' },
  FILE_EXISTS: { kind: 'user', exit: 5, http: 409, means: 'the file to write already exists' },
  EVENTS_UNREADABLE: { kind: 'user', exit: 3, http: 404, means: 'an events file cannot be read' },
  COLLECTOR_AWAY: { kind: 'retry', exit: 8, http: 503, means: 'a trace collector cannot be reached, or is overloaded' },
  COLLECTOR_REFUSED: {
    kind: 'peer',
    exit: 1,
    http: 502,
    means: 'a trace collector rejected what it was sent',
  },
  CALL_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no recorded call has this id, or its run was pruned' },
  APPROVAL_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no call with this id waits for approval' },
  WAIT_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no wait has this id' },
  WHY_UNKNOWN: { kind: 'user', exit: 3, http: 404, means: 'no path, agent, run or call has this name or id' },
  PROCESSES_UNREADABLE: {
    kind: 'config',
    exit: 8,
    http: 500,
    means: 'neither /proc nor a working `ps` is available, so processes cannot be listed',
  },
  INTERNAL: { kind: 'bug', exit: 1, http: 500, means: 'a bug: the program reached a state that should be impossible' },
  INTERRUPTED: { kind: 'user', exit: 130, http: 499, means: 'the user stopped the command' },
  // hub
  HUB_RUNNING: { kind: 'user', exit: 5, http: 409, means: 'a hub of this user is already running' },
  HUB_NOT_RUNNING: { kind: 'user', exit: 8, http: 503, means: 'no hub of this user is running, or it does not answer' },
  HUB_PORT_TAKEN: { kind: 'user', exit: 5, http: 409, means: 'another program listens on the port' },
  DEMO_FOLDER_TAKEN: { kind: 'user', exit: 5, http: 409, means: 'the folder for the demo is not empty' },
  DEMO_STUCK: { kind: 'bug', exit: 6, http: 504, means: 'the demo did not finish in time' },
  HUB_HOST_REFUSED: {
    kind: 'peer',
    exit: 4,
    http: 403,
    means: 'the Host header of a request is not allowed',
  },
  HUB_ORIGIN_REFUSED: {
    kind: 'peer',
    exit: 4,
    http: 403,
    means: 'a request comes from another origin, or does not name its origin',
  },
  HUB_TOKEN_REQUIRED: { kind: 'peer', exit: 4, http: 401, means: 'a request has no valid token' },
  HUB_LINK_SPENT: { kind: 'peer', exit: 4, http: 401, means: 'a sign-in link was already used, or has expired' },
  HUB_READ_ONLY: { kind: 'user', exit: 4, http: 403, means: 'the hub is read-only' },
  HUB_METHOD_REFUSED: { kind: 'peer', exit: 2, http: 405, means: 'the HTTP method is not allowed for this path' },
  HUB_REQUEST_INVALID: {
    kind: 'peer',
    exit: 2,
    http: 400,
    means: 'a request does not match the API of the hub',
  },
  HUB_NOT_FOUND: { kind: 'peer', exit: 3, http: 404, means: 'the hub has no such path' },
  HUB_FULL: { kind: 'retry', exit: 8, http: 503, means: 'the hub has reached its limit of connections' },
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
    means: 'a configuration file of a host cannot be parsed; nothing in it was changed',
  },
  HOST_CONFIG_BUSY: {
    kind: 'retry',
    exit: 8,
    http: 503,
    means: 'a host keeps rewriting its configuration file while it is being edited',
  },
  IMPORT_CHANGED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a line that an import wrote was edited, so the original line cannot be restored',
  },
  CONSENT_REQUIRED: {
    kind: 'user',
    exit: 2,
    http: 403,
    means: 'files would be changed, and there is no terminal to confirm at and no --yes',
  },
  // canonical
  JSON_MALFORMED: { kind: 'user', exit: 1, http: 400, means: 'the input is not valid JSON' },
  JSON_DUPLICATE_KEY: { kind: 'user', exit: 1, http: 400, means: 'an object has a duplicate key' },
  JSON_LONE_SURROGATE: { kind: 'user', exit: 1, http: 400, means: 'a string contains a lone surrogate' },
  JSON_NUMBER_RANGE: { kind: 'user', exit: 1, http: 400, means: 'a number exceeds the range of a double' },
  JSON_TOO_LARGE: { kind: 'user', exit: 1, http: 413, means: 'the JSON input exceeds the size limit' },
  JSON_TOO_DEEP: { kind: 'user', exit: 1, http: 400, means: 'a value exceeds the nesting limit' },
  // storage
  STORE_CORRUPT: {
    kind: 'bug',
    exit: 8,
    http: 500,
    means: 'a state file cannot be parsed; it is left in place or set aside, never overwritten',
  },
  STORE_UNREADABLE: { kind: 'config', exit: 8, http: 500, means: 'a state file or folder cannot be opened' },
  STATE_UNSAFE: {
    kind: 'config',
    exit: 4,
    http: 403,
    means:
      'a state file or folder belongs to another user, is a link, or is open to others; it was not read or written',
  },
  STORE_FULL: { kind: 'retry', exit: 8, http: 507, means: 'the disk is full or over quota; nothing was written' },
  STORE_BUSY: { kind: 'retry', exit: 8, http: 503, means: 'another process held the lock for too long' },
  STORE_NEWER: { kind: 'config', exit: 8, http: 500, means: 'the store was written by a newer version of Heimdall' },
  STORE_FORKED: {
    kind: 'peer',
    exit: 8,
    http: 500,
    means:
      'the database of the fleet lost entries that it had confirmed; the copy on this machine is kept, and rebuilt on request',
  },
  ENGINE_UNREACHABLE: {
    kind: 'retry',
    exit: 8,
    http: 503,
    means: 'the database of the fleet cannot be reached; nothing was sent, and the command can be repeated',
  },
  ENGINE_REFUSED: {
    kind: 'config',
    exit: 8,
    http: 502,
    means:
      'the database of the fleet returned an error: wrong role or database, a certificate, a full or read-only disk',
  },
  OUTCOME_UNKNOWN: {
    kind: 'retry',
    exit: 8,
    http: 504,
    means:
      'the connection to the database of the fleet was lost before it answered; the next command settles the outcome',
  },
  FLEET_NEWER: { kind: 'config', exit: 8, http: 500, means: 'the fleet was written by a newer version of Heimdall' },
  FLEET_EXPELLED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'this machine was expelled from its fleet and can no longer change it',
  },
  FLEET_UNKNOWN: {
    kind: 'user',
    exit: 3,
    http: 404,
    means: 'no machine of this fleet, or no fleet of this database, has this name',
  },
  FLEET_UNRELATED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'this repository has no first commit in common with the repository of the fleet',
  },
  FLEET_JOINED: { kind: 'user', exit: 5, http: 409, means: 'this store already belongs to a fleet' },
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
    means: 'standard output cannot be written to; what the command has changed stays changed',
  },
  LINE_TOO_LARGE: { kind: 'user', exit: 1, http: 413, means: 'a log line exceeds the size limit' },
  // wire
  WIRE_FRAME_TOO_LARGE: { kind: 'peer', exit: 1, http: 502, means: 'a frame is larger than 1 MiB' },
  WIRE_PAYLOAD_SIZE: { kind: 'peer', exit: 1, http: 502, means: 'a frame of fixed size has another size' },
  WIRE_PAYLOAD_INVALID: { kind: 'peer', exit: 1, http: 502, means: 'the payload of a frame cannot be parsed' },
  WIRE_MODE_UNKNOWN: { kind: 'peer', exit: 1, http: 502, means: 'a session uses an unknown protocol' },
  // client
  SESSION_NOT_FOUND: { kind: 'user', exit: 3, seedExit: 1, http: 404, means: 'no session has this id' },
  SESSION_SILENT: {
    kind: 'retry',
    exit: 6,
    seedExit: 1,
    http: 504,
    means: 'a session did not answer in time; it may be stopped or overloaded',
  },
  SESSION_LOST: { kind: 'peer', exit: 8, seedExit: 1, http: 502, means: 'the connection to a session was lost' },
  REMOTE_UNREACHABLE: {
    kind: 'retry',
    exit: 8,
    seedExit: 1,
    http: 502,
    means: 'another machine cannot be reached over ssh, or has no Heimdall',
  },
  SESSION_REFUSED: { kind: 'peer', exit: 1, http: 409, means: 'a session rejected the request of a client' },
  SESSION_ENDED: { kind: 'user', exit: 5, seedExit: 1, http: 410, means: 'the session has ended' },
  SESSION_WAIT_TIMEOUT: { kind: 'retry', exit: 6, http: 504, means: 'the wait for a session timed out' },
  CAST_INVALID: { kind: 'user', exit: 1, http: 400, means: 'a file is not an asciicast v2 recording' },
  SEND_UNSAFE: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a text to send contains the bytes that end a paste, so the rest would be typed as commands',
  },
  // supervisor
  SESSION_OPTIONS_INVALID: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'the options of a session are invalid',
  },
  SESSION_ID_IN_USE: { kind: 'user', exit: 5, seedExit: 1, http: 409, means: 'a running session has this id' },
  SESSION_DIR_UNSAFE: {
    kind: 'config',
    exit: 4,
    http: 403,
    means: 'the folder of sessions belongs to another user, or other users can enter it',
  },
  SESSION_PATH_TOO_LONG: {
    kind: 'config',
    exit: 2,
    seedExit: 1,
    http: 400,
    means: 'the path of a unix socket (of a session or the hub) is longer than the system allows',
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
    means: 'another client disconnected the viewers of a session',
  },
  SESSION_READ_ONLY: { kind: 'user', exit: 4, http: 403, means: 'a read-only client tried to type, resize or kill' },
  SESSION_SIZE_INVALID: { kind: 'user', exit: 2, http: 400, means: 'a terminal size is zero or exceeds the limit' },
  SESSION_INPUT_REFUSED: {
    kind: 'peer',
    exit: 1,
    http: 409,
    means: 'input could not be written to the command of a session',
  },
  // briefing
  SYMBOL_UNKNOWN: { kind: 'user', exit: 3, seedExit: 1, http: 404, means: 'no symbol has this id or value' },
  FACT_UNKNOWN: { kind: 'user', exit: 3, seedExit: 1, http: 404, means: 'no fact has this key' },
  FACT_STALE: { kind: 'user', exit: 1, http: 409, means: 'a fact is older than allowed, or its age is unknown' },
  VALUE_INVALID: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a value is empty, too large, or contains control characters',
  },
  CAPSULE_UNKNOWN: { kind: 'user', exit: 3, seedExit: 1, http: 404, means: 'no capsule has this id' },
  CAPSULE_TOO_LONG: {
    kind: 'user',
    exit: 2,
    http: 413,
    means: 'a capsule would exceed ten lines; the previous one is kept',
  },
  CAPSULE_CYCLE: { kind: 'user', exit: 1, http: 409, means: 'capsules depend on each other in a cycle' },
  BRIEF_INCOMPLETE: { kind: 'user', exit: 1, http: 409, means: 'a reference of a brief cannot be resolved' },
  BRIEF_OVER_BUDGET: {
    kind: 'user',
    exit: 1,
    http: 413,
    means: 'the required part of a brief exceeds the budget',
  },
  MESSAGE_INVALID: { kind: 'user', exit: 1, http: 400, means: 'a message does not match the message schema' },
  REPORT_INVALID: {
    kind: 'user',
    exit: 1,
    http: 400,
    means: 'a gate report is missing or malformed, or has no status',
  },
  // scopes
  SCOPE_INVALID: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a scope is malformed or too large',
  },
  // coordination
  HAID_INVALID: { kind: 'user', exit: 2, http: 400, means: 'a HAID is malformed' },
  INVALID_AGENT_ID: { kind: 'user', exit: 2, http: 400, means: 'an agent id is malformed' },
  INVALID_ROLE: { kind: 'user', exit: 2, http: 400, means: 'a role is malformed' },
  INVALID_ARGS: { kind: 'user', exit: 2, http: 400, means: 'a scope, time to live or other value is not allowed' },
  DUPLICATE_AGENT_ID: { kind: 'user', exit: 5, http: 409, means: 'the agent id is taken, perhaps in another spelling' },
  AGENT_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no agent of this repository has this name' },
  AGENT_REVOKED: { kind: 'user', exit: 4, http: 403, means: 'the agent is revoked and may change nothing' },
  IDENTITY_UNPROVEN: {
    kind: 'user',
    exit: 4,
    http: 403,
    means: 'the caller has no secret, or a wrong or outdated one, for the agent that it wants to act as',
  },
  IDENTITY_BORROWED: {
    kind: 'user',
    exit: 4,
    http: 403,
    means: 'a caller that has an identity named another agent without proof',
  },
  IDENTITY_ENDED: { kind: 'user', exit: 4, http: 403, means: 'the session that this secret belongs to has ended' },
  RESERVATION_CONFLICT: { kind: 'user', exit: 5, http: 409, means: 'an active agent holds an overlapping scope' },
  RESERVATION_STALE_FOUND: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a stale agent holds an overlapping scope, which can be taken over with a flag',
  },
  RESERVATION_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no active claim matches' },
  RELEASE_FORBIDDEN: { kind: 'user', exit: 4, http: 403, means: 'the claim is held by another agent' },
  CLAIM_FENCED: {
    kind: 'user',
    exit: 4,
    http: 403,
    means: 'the claim has ended, or has another epoch than the given one',
  },
  FOLLOW_TOO_OLD: {
    kind: 'user',
    exit: 1,
    http: 410,
    means: 'log entries from this number on are no longer stored; read the state, and follow from its number',
  },
  FOLLOW_AHEAD: {
    kind: 'user',
    exit: 1,
    http: 409,
    means: 'the log has no entry of this number yet: the store was replaced',
  },
  WAIT_TIMEOUT: { kind: 'retry', exit: 6, http: 408, means: 'the wait timed out, and the scope is still held' },
  ADOPTION_REJECTED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'there is no evidence that this session continues the work of the identity to adopt',
  },
  AMBIGUOUS_SESSION: { kind: 'user', exit: 2, http: 400, means: 'the command does not say which identity to use' },
  TASK_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no task has this id' },
  DISPATCH_INVALID: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a dispatch message lacks a field, exceeds a bound, or contradicts itself',
  },
  DISPATCH_DUPLICATE: { kind: 'user', exit: 5, http: 409, means: 'a task with this id exists, with another contract' },
  DISPATCH_FAILED: { kind: 'user', exit: 1, http: 500, means: 'the task did not end as done' },
  WORKER_RUNNING: { kind: 'user', exit: 5, http: 409, means: 'a worker with this name is already running' },
  WORKER_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no worker with this name is known here' },
  PEER_INVALID: { kind: 'config', exit: 2, http: 500, means: 'a peer or its token is not configured correctly' },
  PEER_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no peer with this name is known here' },
  PEER_FORBIDDEN: {
    kind: 'peer',
    exit: 4,
    http: 403,
    means: 'a peer cannot be authenticated, or is not allowed to do this',
  },
  PEER_UNREACHABLE: { kind: 'peer', exit: 8, http: 502, means: 'a peer does not answer' },
  ADDRESS_REFUSED: { kind: 'config', exit: 8, http: 500, means: 'the address to listen on is in use or not allowed' },
  TASK_FORBIDDEN: { kind: 'user', exit: 4, http: 403, means: 'the task belongs to another agent' },
  UNKNOWN_SENDER: { kind: 'user', exit: 3, http: 404, means: 'the sender of a note is not registered' },
  UNKNOWN_RECIPIENT: { kind: 'user', exit: 3, http: 404, means: 'no agent matches the recipient of a note' },
  MISSING_BEAD_ID: { kind: 'user', exit: 2, http: 400, means: 'a note names no task' },
  INVALID_CATEGORY: { kind: 'user', exit: 2, http: 400, means: 'the category of a note is not one of the four' },
  INVALID_MESSAGE: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a note lacks a field of its category, or one is too long',
  },
  INVALID_MESSAGE_ID: { kind: 'user', exit: 2, http: 400, means: 'a message id is malformed' },
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
    means: 'the arguments of a tool do not match its schema',
  },
  CONFLICT_EXISTS: { kind: 'user', exit: 5, http: 409, means: 'a conflict with this id was already raised today' },
  IDENTITY_HELD: { kind: 'user', exit: 5, http: 409, means: 'another live session uses this name' },
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
    means: 'the git hooks folder is shared with other repositories',
  },
  GUARD_HOOK_FOREIGN: {
    kind: 'config',
    exit: 5,
    http: 409,
    means: 'the file that the guard would move an earlier hook to already exists',
  },
  GIT_FAILED: { kind: 'config', exit: 8, http: 500, means: 'git is missing, or a git command failed' },
  SINCE_UNKNOWN: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'the value is neither a time nor a commit of the repository',
  },
  // worktrees
  WORKTREE_NO_REPOSITORY: {
    kind: 'user',
    exit: 3,
    http: 404,
    means: 'there is no git checkout to create a worktree from',
  },
  WORKTREE_NO_BASE: {
    kind: 'user',
    exit: 3,
    http: 404,
    means: 'the repository has no commits, or not the named one',
  },
  WORKTREE_PLACE_UNFIT: {
    kind: 'config',
    exit: 2,
    http: 422,
    means: 'the folder for worktrees is inside a checkout, or git cannot store its name',
  },
  WORKTREE_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'the agent has no worktree here' },
  WORKTREE_HALF_MADE: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'git was killed while it created the worktree of an agent',
  },
  WORKTREE_UNCOMMITTED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a worktree has uncommitted work, which is never removed and never merged',
  },
  WORKTREE_UNFINISHED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a merge, rebase or the like is in progress in a checkout',
  },
  WORKTREE_UNMERGED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a worktree has commits that no other branch has',
  },
  WORKTREE_IN_USE: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'a session runs in a worktree, or the worktree is locked',
  },
  WORKTREE_SETUP_FAILED: {
    kind: 'config',
    exit: 1,
    http: 422,
    means: 'the command that prepares a new worktree failed',
  },
  WORKTREE_CHECK_FAILED: {
    kind: 'user',
    exit: 1,
    http: 409,
    means: 'the merged files do not pass the check of the settings; nothing was merged',
  },
  WORKTREE_CONFLICT: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'an agent and the target branch have changed the same lines; nothing was merged',
  },
  WORKTREE_TARGET_UNFIT: {
    kind: 'user',
    exit: 2,
    http: 422,
    means: 'the merge target is not a branch, or is the agent’s own branch',
  },
  WORKTREE_TARGET_DIRTY: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'the merge would overwrite uncommitted files of the target checkout; nothing was merged',
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
    means: 'a run has more budgets and rate limits than can be stored; the call takes decision_on_error',
  },
  // shim
  PIN_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no pinned server or tool has this name here' },
  PIN_CHANGED: {
    kind: 'user',
    exit: 5,
    http: 409,
    means: 'the given hash is not that of the definition that waits for approval',
  },
  SECRET_NOT_FOUND: { kind: 'user', exit: 3, http: 404, means: 'no stored secret has this name' },
  SECRET_UNFIT: {
    kind: 'user',
    exit: 2,
    http: 400,
    means: 'a value cannot be stored as a secret: empty, too long, or not text',
  },
  SECRETS_NOT_PRIVATE: {
    kind: 'config',
    exit: 4,
    http: 403,
    means: 'other users can read or write the store of secrets',
  },
})

export type ErrorCode = keyof typeof ERRORS

export interface ErrorExtra {
  /** What to do next, one line. */
  readonly hint?: string
  readonly cause?: unknown
  /** Machine-readable details, printed in the `--json` envelope. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** The message says what was seen and what is allowed; the code names the row of the table. */
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

/** True for an error of a system call: the disk, a descriptor, a process that cannot be started. */
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

/** For a full disk or a missing device. A closed pipe is not an error. */
export function outputUnwritable(error: unknown): HeimdallError {
  const why = error instanceof Error ? error.message : String(error)
  return new HeimdallError('OUTPUT_UNWRITABLE', `standard output cannot be written to: ${why}`, { cause: error })
}
