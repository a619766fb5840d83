// Commands of sessions: `heimdall session …`, and `hm …` for the same without anything else of the product.
import { type Command, type FlagSpec, spec } from '../command.ts'
import { socketDir, startErrors, startFlags } from './start-flags.ts'

const id = { name: 'id', help: 'id of the session' } as const

const host = {
  type: 'string',
  value: 'HOST',
  help: 'a machine of your ssh configuration: the session there, over ssh; may stand before the command',
} as const satisfies FlagSpec

export const run = spec({
  names: ['heimdall session run', 'hm run'],
  changes: true,
  summary: 'Run a command in a supervised terminal and attach to it',
  about:
    'The session outlives its viewers: detach with Ctrl-\\ and come back with attach. Without a terminal on stdin and ' +
    'stdout, output is passed through and the exit code is the command’s.',
  rest: 'COMMAND…',
  flags: {
    id: { type: 'string', value: 'ID', help: 'id of the session; default: the name of the command, numbered if taken' },
    ...startFlags,
    'kill-process-group': { type: 'boolean', help: 'signals go to the whole process group' },
    'session-env-var': { type: 'string', value: 'NAME', help: 'variable that tells the command its session id' },
    record: { type: 'string', value: 'FILE', help: 'record the session as asciicast v2 from its first byte' },
  },
  examples: [
    { run: 'hm run --id build -- make -j8', does: 'runs make in a session and attaches to it' },
    { run: 'hm run --id agent --classifier claude --detach -- claude', does: 'starts an agent and returns' },
    { run: 'hm run --detach --wait -- ./nightly.sh', does: 'waits for the end, and ends with the same exit code' },
  ],
  errors: startErrors,
  output: {
    id: 'id of the session',
    socket: 'path of its socket',
    pid: 'process of the command',
    supervisor_pid: 'process of the session',
    exit_code: 'exit code of the command, null while it runs',
  },
})

export const attach = spec({
  names: ['heimdall session attach', 'hm attach'],
  summary: 'Watch a session and type into it',
  about:
    'Draws the screen of the session above a status line, in the alternate screen. The detach key (Ctrl-\\, setting ' +
    '`detach_key`) leaves the session running. Shift-PageUp and the wheel look back, / searches there, dragging selects, ' +
    'Enter copies, Escape returns. Ends with the exit code of the command when that ends, with 0 on detach. ' +
    'Into a pipe goes the output as it is, or, with --json, only how it ended.',
  args: [{ name: 'id', help: 'id of the session; default: the only one that runs, or a choice', optional: true }],
  flags: {
    'socket-dir': socketDir,
    host,
    'detach-others': { type: 'boolean', short: 'd', help: 'send the other viewers away' },
    'read-only': { type: 'boolean', help: 'only watch: nothing is typed, nothing is resized' },
    inline: {
      type: 'boolean',
      help: 'pass the output through to this terminal, which keeps its own scroll-back; no status line',
    },
    safe: {
      type: 'boolean',
      help: 'keep titles, notifications and clipboard writes of the program from this terminal',
    },
  },
  examples: [
    { run: 'hm attach build', does: 'attaches; Ctrl-\\ detaches' },
    { run: 'hm attach', does: 'attaches to the only session, or lets you choose' },
    { run: 'hm attach build --read-only', does: 'watches without being able to disturb' },
    { run: 'hm --host box attach api', does: 'attaches to a session of another machine, over ssh' },
  ],
  errors: [
    'PERSON_REQUIRED',
    'REMOTE_UNREACHABLE',
    'SESSION_NOT_FOUND',
    'SESSION_ENDED',
    'SESSION_LOST',
    'SESSION_SILENT',
  ],
  output: {
    id: 'id of the session',
    reason: 'detached, sent away, exited or a signal',
    exit_code: 'null unless exited',
  },
})

export const detach = spec({
  names: ['heimdall session detach', 'hm detach'],
  summary: 'Send the viewers of a session away',
  about: 'Ends every attach to the session, wherever it runs. The session goes on.',
  args: [{ name: 'id', help: 'id of the session; default: the session that this runs in', optional: true }],
  flags: { 'socket-dir': socketDir },
  examples: [
    { run: 'hm detach build', does: 'ends what other terminals show of it; hm attach -d does so and attaches' },
  ],
  errors: ['SESSION_NOT_FOUND', 'SESSION_ENDED', 'SESSION_SILENT', 'SESSION_LOST', 'SESSION_REFUSED'],
  output: { id: 'id of the session', detached: 'how many viewers there were' },
})

export const rename = spec({
  names: ['heimdall session rename', 'hm rename'],
  changes: true,
  summary: 'Give a running session another id',
  about:
    'Socket, pid file, log and the record of its end go by the new id; who is attached stays so. The command keeps the ' +
    'environment that it was started with, so HEIMDALL_SESSION_ID in it stays the old id; hm report finds its session all the same.',
  args: [
    { name: 'old', help: 'id of the session' },
    { name: 'new', help: 'the id that it gets' },
  ],
  flags: { 'socket-dir': socketDir },
  examples: [{ run: 'hm rename claude-2 reviewer', does: 'makes it answer to reviewer' }],
  errors: [
    'ID_INVALID',
    'SESSION_NOT_FOUND',
    'SESSION_ENDED',
    'SESSION_ID_IN_USE',
    'SESSION_REFUSED',
    'SESSION_SILENT',
    'SESSION_LOST',
  ],
  output: { id: 'the new id', before: 'the id that it had' },
})

export const status = spec({
  names: ['heimdall session status', 'hm status'],
  summary: 'What a session is doing, and whether it waits for a person',
  args: [id],
  flags: { 'socket-dir': socketDir, host },
  examples: [
    { run: 'hm status build', does: 'prints pid, idle time and state' },
    { run: 'hm status build --json', does: 'prints everything known, also after the end' },
  ],
  errors: ['REMOTE_UNREACHABLE', 'SESSION_NOT_FOUND', 'SESSION_SILENT'],
  output: {
    id: 'id of the session',
    pid: 'process of the command',
    alive: 'whether the command runs',
    state: 'idle, thinking, streaming, tool_use, active, dead, or lost: its supervisor was killed and it still runs',
    state_ms: 'milliseconds in this state',
    idle_ms: 'milliseconds since the last output',
    needs_input: 'value, source and evidence: whether a person is waited for, and who says so',
    exit_code: 'null while it runs',
    command: 'command and arguments',
    title: 'title that the program has set',
    acts: 'what clients have done to it (kill, rename, secrets): at, act, by, what',
  },
})

export const ls = spec({
  names: ['heimdall session ls', 'hm ls'],
  summary: 'List the sessions',
  flags: {
    'socket-dir': socketDir,
    host,
    all: { type: 'boolean', short: 'a', help: 'also sessions that have ended' },
  },
  examples: [
    { run: 'hm ls', does: 'lists running sessions; removes nothing' },
    { run: 'hm ls --all --json', does: 'lists ended ones too, with their exit codes' },
  ],
  errors: ['REMOTE_UNREACHABLE'],
  output: {
    sessions: 'one object per session: id, alive, state, needs_input, pid, started_at, command, exit_code, project',
  },
})

export const kill = spec({
  names: ['heimdall session kill', 'hm kill'],
  changes: true,
  summary: 'End sessions with all their processes',
  about:
    'SIGTERM, and then the whole grace time (5 s) to end well; a hang-up for shells and others that ignore SIGTERM; SIGKILL at the end.\n' +
    'Of several, one that is not there or does not end keeps none of the others; the exit code is that of the first such one.',
  args: [{ ...id, variadic: true }],
  flags: {
    'socket-dir': socketDir,
    host,
    wait: { type: 'boolean', help: 'return when the sessions and all their processes are gone' },
    timeout: { type: 'duration', value: 'TIME', help: 'with --wait: give up after this' },
  },
  examples: [
    { run: 'hm kill build', does: 'asks the session to end and returns' },
    { run: 'hm kill build --wait', does: 'returns when nothing of it runs any more' },
    { run: 'hm kill api tests docs', does: 'asks each of them' },
  ],
  errors: ['REMOTE_UNREACHABLE', 'SESSION_NOT_FOUND', 'SESSION_SILENT', 'SESSION_LOST', 'SESSION_WAIT_TIMEOUT'],
  output: {
    id: 'id of the session, where one was named',
    ended: 'whether it was seen to end',
    exit_code: 'null when it was not waited for',
    sessions: 'where several were named, these three of each, and error: code, message and hint, or null',
  },
})

export const send = spec({
  names: ['heimdall session send', 'hm send'],
  changes: true,
  summary: 'Type a text into a session and see that it was taken',
  about:
    'The text is pasted (bracketed where the program asked for it); keys follow one by one, each after the program has ' +
    'had time to take what came before. Ends with an error when the terminal did not take the whole text.',
  args: [id, { name: 'text', help: 'the text; - reads it from stdin', optional: true }],
  flags: {
    'socket-dir': socketDir,
    host,
    enter: { type: 'boolean', help: 'press Enter after the text' },
    key: {
      type: 'string',
      value: 'NAME',
      multiple: true,
      help: 'press this key after the text: enter, escape, tab, up, down, ctrl-c …; repeatable',
    },
    'wait-for': { type: 'string', choices: ['idle', 'needs-input'], help: 'return when the session has become so' },
    timeout: { type: 'duration', value: 'TIME', help: 'give up after this' },
  },
  examples: [
    { run: 'hm send agent "run the tests" --enter', does: 'types a prompt and submits it' },
    { run: 'hm send agent - --enter --wait-for idle < prompt.md', does: 'sends a file and waits for the answer' },
    { run: 'hm send agent --key escape', does: 'presses a key' },
  ],
  errors: [
    'PERSON_REQUIRED',
    'REMOTE_UNREACHABLE',
    'SESSION_NOT_FOUND',
    'SESSION_SILENT',
    'SESSION_ENDED',
    'SESSION_REFUSED',
    'SEND_UNSAFE',
  ],
  output: {
    id: 'id of the session',
    written_bytes: 'bytes that the terminal took',
    bracketed: 'whether it was a bracketed paste',
    reacted: 'whether the program put anything out afterwards',
    state: 'state at the end, with --wait-for',
    needs_input: 'with --wait-for: whether a person is waited for',
  },
})

export const report = spec({
  names: ['heimdall session report', 'hm report'],
  changes: true,
  summary: 'Tell a session, from a hook of the agent in it, whether it waits for a person',
  about:
    'A hook knows for certain what the screen only suggests. Outside of any session it does nothing and succeeds, so that ' +
    'the same hook can stay configured everywhere.',
  args: [{ name: 'id', help: 'id of the session; default: the session that this runs in', optional: true }],
  flags: {
    'socket-dir': socketDir,
    'needs-input': { type: 'string', value: 'WHY', help: 'it waits for a person, for this reason' },
    working: { type: 'boolean', help: 'it does not' },
  },
  examples: [
    { run: 'hm report --needs-input "permission to run a command"', does: 'as the command of a notification hook' },
    { run: 'hm report --working', does: 'as the command of a hook that runs when a prompt was submitted' },
  ],
  errors: ['IDENTITY_BORROWED', 'SESSION_NOT_FOUND', 'SESSION_ENDED', 'SESSION_SILENT', 'SESSION_LOST'],
  output: { id: 'id of the session, null outside of any', needs_input: 'what was reported' },
})

export const logs = spec({
  names: ['heimdall session logs', 'hm logs'],
  summary: 'Print what a session has put out, also after its end',
  about:
    'Escape sequences, control characters and bidi marks are removed unless --raw is given. --json gives one object per line.',
  args: [id],
  flags: {
    'socket-dir': socketDir,
    host,
    follow: { type: 'boolean', short: 'f', help: 'go on with new output until the session ends' },
    raw: { type: 'boolean', help: 'bytes as the program wrote them' },
    tail: { type: 'integer', value: 'N', help: 'only the last N lines of what is kept' },
    supervisor: { type: 'boolean', help: 'the log of the supervisor instead of the output' },
  },
  examples: [
    { run: 'hm logs build', does: 'prints the kept output as plain text' },
    { run: 'hm logs build -f --tail 20', does: 'prints the last lines and follows' },
    { run: 'hm logs build --supervisor', does: 'prints what the supervisor logged, also after the end' },
  ],
  errors: ['REMOTE_UNREACHABLE', 'SESSION_NOT_FOUND', 'SESSION_ENDED', 'SESSION_LOST'],
  output: { type: 'output, gap or exit, one object per line', text: 'text of output', code: 'code of exit' },
})

export const peek = spec({
  names: ['heimdall session peek', 'hm peek'],
  summary: 'Print the screen of a session as it is now, or as it was left',
  args: [id],
  flags: {
    'socket-dir': socketDir,
    host,
    ansi: { type: 'boolean', help: 'with colours; also --color' },
  },
  examples: [
    { run: 'hm peek agent', does: 'prints the screen as plain text' },
    { run: 'hm peek agent --color', does: 'prints it with colours' },
  ],
  errors: ['REMOTE_UNREACHABLE', 'SESSION_NOT_FOUND', 'SESSION_ENDED', 'SESSION_LOST', 'SESSION_SILENT'],
  output: {
    id: 'id of the session',
    cols: 'width',
    rows: 'height',
    cursor: 'column and row of the cursor, from 0',
    alternate: 'whether the alternate screen is shown',
    whole: 'false when cells may be missing that were drawn in the middle of a flood',
    lines: 'the screen, one string per row',
    title: 'title that the program has set',
    ended: 'whether this is the last screen of a session that has ended',
  },
})

export const pipe = spec({
  names: ['heimdall session pipe', 'hm pipe'],
  changes: true,
  summary: 'Join standard input and output to a session, for `hm --host` on another machine',
  about:
    'Says in one line what there is, and then passes the bytes of the session’s protocol both ways. Without an id, or for ' +
    'a session that has ended, the answer is all there is.',
  args: [{ name: 'id', help: 'id of the session; default: a list of them', optional: true }],
  flags: { 'socket-dir': socketDir, all: { type: 'boolean', help: 'without an id: also sessions that have ended' } },
  examples: [{ run: 'ssh box hm pipe api', does: 'is what hm --host box attach api calls' }],
  output: { state: 'running, ended, list or refused, in the first line' },
  hidden: true,
})

export const wait = spec({
  names: ['heimdall session wait', 'hm wait'],
  summary: 'Wait until a session is idle, needs input or has ended',
  args: [id],
  flags: {
    'socket-dir': socketDir,
    for: { type: 'string', choices: ['idle', 'needs-input', 'exit'], default: 'exit', help: 'what to wait for' },
    timeout: { type: 'duration', value: 'TIME', help: 'give up after this, with exit code 6' },
  },
  examples: [
    { run: 'hm wait agent --for needs-input --timeout 10m', does: 'returns when the agent asks for something' },
    { run: 'hm wait build --for exit --json', does: 'gives the exit code, also when the session has ended long ago' },
  ],
  errors: ['SESSION_NOT_FOUND', 'SESSION_ENDED', 'SESSION_LOST', 'SESSION_WAIT_TIMEOUT'],
  output: {
    id: 'id of the session',
    for: 'what was waited for',
    state: 'state at the end',
    needs_input: 'value, source and evidence',
    exit_code: 'null while it runs',
  },
})

export const clean = spec({
  names: ['heimdall session clean', 'hm clean'],
  changes: true,
  summary: 'Remove what ended sessions have left behind',
  about:
    'Logs and exit records of sessions that do not run, and processes of sessions whose supervisor was killed. Shows what ' +
    'it would remove and end unless --force is given. Not for agents: inside a session or a host --force is refused.',
  flags: {
    'socket-dir': socketDir,
    'older-than': { type: 'duration', mayBeZero: true, value: 'TIME', help: 'only files older than this; default 24h' },
    force: { type: 'boolean', help: 'really remove' },
  },
  examples: [
    { run: 'hm clean', does: 'shows what would be removed' },
    { run: 'hm clean --older-than 7d --force', does: 'removes what is older than a week' },
  ],
  errors: ['PERSON_REQUIRED'],
  output: {
    removed: 'whether files were removed',
    files: 'path, bytes and age_ms of each file',
    sessions: 'id and processes of each lost session of which something runs',
  },
})

export const record = spec({
  names: ['heimdall session record', 'hm record'],
  changes: true,
  summary: 'Record a session from now on as asciicast v2',
  about:
    'Runs until the session ends or Ctrl-C; the file is valid at any moment. `run --record` records from the first byte.',
  args: [id, { name: 'file', help: 'default <socket dir>/<id>.cast; - is stdout', optional: true }],
  flags: { 'socket-dir': socketDir },
  examples: [{ run: 'hm record agent agent.cast', does: 'records; play it with asciinema play agent.cast' }],
  errors: ['SESSION_NOT_FOUND', 'SESSION_ENDED', 'SESSION_LOST'],
  output: { id: 'id of the session', file: 'where it was written', events: 'number of events', seconds: 'length' },
})

export const exportCast = spec({
  names: ['heimdall session export', 'hm export'],
  summary: 'Write a recording or the kept output as asciicast v2',
  about:
    'A recording of the session (`heimdall run`, `hm run --record`, `hm record`) is written with its timing, for any player ' +
    'of asciicast. Without one, the kept output is written as one event, because nothing is known of its timing.',
  args: [id, { name: 'file', help: 'default stdout', optional: true }],
  flags: {
    'socket-dir': socketDir,
    from: {
      type: 'string',
      value: 'FILE',
      help: 'the recording; default <socket dir>/<id>.cast, then that of its run',
    },
    'idle-limit': { type: 'duration', value: 'TIME', help: 'shorten longer pauses to this' },
  },
  examples: [{ run: 'hm export agent agent.cast --idle-limit 2s', does: 'writes the recording without long pauses' }],
  errors: ['SESSION_NOT_FOUND', 'SESSION_ENDED', 'CAST_INVALID', 'STORE_FULL', 'STORE_UNREADABLE'],
  output: {
    id: 'id of the session',
    source: 'recording or scrollback',
    file: 'where it was written',
    events: 'number of events',
    seconds: 'length',
  },
})

export const sessionCommands: readonly Command[] = [
  { spec: run, load: () => import('../commands/session/run.ts') },
  { spec: attach, load: () => import('../commands/session/attach.ts') },
  { spec: detach, load: () => import('../commands/session/detach.ts') },
  { spec: rename, load: () => import('../commands/session/rename.ts') },
  { spec: status, load: () => import('../commands/session/status.ts') },
  { spec: ls, load: () => import('../commands/session/ls.ts') },
  { spec: kill, load: () => import('../commands/session/kill.ts') },
  { spec: send, load: () => import('../commands/session/send.ts') },
  { spec: report, load: () => import('../commands/session/report.ts') },
  { spec: logs, load: () => import('../commands/session/logs.ts') },
  { spec: peek, load: () => import('../commands/session/peek.ts') },
  { spec: pipe, load: () => import('../commands/session/pipe.ts') },
  { spec: wait, load: () => import('../commands/session/wait.ts') },
  { spec: clean, load: () => import('../commands/session/clean.ts') },
  { spec: record, load: () => import('../commands/session/record.ts') },
  { spec: exportCast, load: () => import('../commands/session/export.ts') },
]
