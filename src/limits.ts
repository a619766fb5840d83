// Every bound in the product with its reason, so that no queue, buffer, retry or timer is unbounded by accident.

// -- storage
/** A line this long still goes out in one `write(2)` and is read into memory whole; larger bodies go to side files by hash. */
export const LOG_LINE_BYTES_MAX = 64 << 10
/** How long a command waits for another process that holds a file's lock before it says STORE_BUSY. */
export const LOCK_WAIT_MS = 10_000
/** For whoever waits with the thread held: holders of such locks write one small file, but may be out of luck with the processor. */
export const LOCK_NOW_WAIT_MS = 5_000
/** Longest pause of the one who is next for a held lock. */
export const LOCK_SEAT_POLL_MS_MAX = 10
/** Longest pause of all others: 200 waiting processes then cost a few percent of a core. */
export const LOCK_POLL_MS_MAX = 100
/** Places for temporary files of one target, one for each process that replaces it at the same moment. */
export const TEMPORARY_FILES_MAX = 1_000
/** How much of a log is read at once. */
export const LOG_READ_BYTES = 64 << 10
/** How often a follower looks for new lines: below what a person notices, and one `stat` each. */
export const LOG_FOLLOW_MS = 50
/** How long a store waits for another writer; a transaction of ours takes well under a millisecond. */
export const SQLITE_BUSY_MS = 10_000
/** How long while others commit, one after the other: fifty that start at once on two cores, where each holds the store for a second because it has no processor. */
export const SQLITE_QUEUE_MS = 120_000
/** How long SQLite waits by itself, in which it looks six times; then it begins anew. */
export const SQLITE_TRY_MS = 50
/** Between two such waits. */
export const SQLITE_PAUSE_MS = 5
/** How long a store may be empty while another process makes it: the first page follows the file within milliseconds. */
export const STORE_MAKING_MS = 1_000
/** doctor asks whether a store can be written to at all; who holds it for longer than this is worth a line. */
export const DOCTOR_BUSY_MS = 1_000
/** What doctor writes and takes back to see whether a disk has room: the files that a store needs just to be opened take half of it. */
export const DOCTOR_ROOM_BYTES = 64 << 10
/** A write-ahead log that grew in a burst is cut back to this after its checkpoint. */
export const SQLITE_WAL_BYTES_KEPT = 8 << 20
/** SQLite's own measure for a log that is long enough to be copied into the database. */
export const SQLITE_CHECKPOINT_PAGES = 1_000
/** State files are read whole; larger ones are not ours. */
export const STATE_FILE_BYTES_MAX = 64 << 20

// -- processes
/** Where `ps` is asked: it takes some milliseconds; one that hangs is not waited for, and nobody is taken for dead. */
export const PS_ANSWER_MS = 10_000
/** The environments of some ten thousand processes; a system with more is not one that `ps` is the way to. */
export const PS_OUTPUT_BYTES_MAX = 256 << 20

// -- canonical
/** Deeper JSON is refused before a recursive reader can run out of stack. */
export const JSON_DEPTH_MAX = 1_000
/** Canonical text is kept in memory until its last key is known; numbers may take four times their source. */
export const JSON_BYTES_MAX = 64 << 20

// -- hosts
/** A host may write its file between our look and our write; then all is planned anew, this many times. */
export const HOST_CONFIG_ATTEMPTS_MAX = 5

// -- config
/** A configuration file is written by hand; anything larger is a mistake or an attack. */
export const CONFIG_BYTES_MAX = 256 << 10

// -- wire
/** Seed 001 names no cap; the origin's is 1 MiB, checked on the header before memory is taken. */
export const FRAME_PAYLOAD_BYTES_MAX = 1 << 20

// -- client
/** A session answers within a millisecond or so; one that is stopped or starved must not hang a command for ever. */
export const SESSION_ANSWER_MS = 5_000
/** Sessions that one `hm kill` ends at once, so that their grace times do not add up; each is a socket. */
export const KILLED_AT_ONCE = 64
/** And on another machine, where each is a connection of ssh: a server takes ten that are not through yet. */
export const KILLED_ELSEWHERE_AT_ONCE = 8
/** Output that a slow consumer of the client library has not taken yet; past it the socket is not read. */
export const CLIENT_QUEUE_BYTES_MAX = 1 << 20
/** Typed or pasted into an attached terminal while the program does not read; past it the viewer is left. */
export const TYPED_BYTES_MAX = 16 << 20
/** A terminal says its colours within a millisecond or two; one far away is told of later, and does not hold up a start. */
export const OUTER_COLORS_MS = 50
/** A viewer that leaves earlier waits this long for the answer, which would otherwise be typed into the user's shell. */
export const OUTER_ANSWER_MS = 500
/** How long `send` waits for the terminal to take a text; a program that is not reading yet may be starting up. */
export const SEND_TAKEN_MS = 10_000
/** How long `send` looks for an echo before it presses Enter anyway: a password prompt never echoes. */
export const SEND_ECHO_MS = 500
/** Enter must arrive in a read of its own, and not within 40 ms of a paste (Gemini CLI): else it is part of the text. */
export const SEND_SETTLE_MS = 200
/** A session that says nothing for this long after a text is idle, whatever it did with the text. */
export const SEND_REACTION_MS = 3_000

/** Rows that a viewer holds while it looks back: at 200 columns some 50 MB, and only then. What is older is not shown. */
export const HISTORY_LINES_MAX = 20_000
/** Output that a viewer's emulator has not drawn yet; past it the session is read no faster than it is drawn. */
export const VIEW_PENDING_BYTES_MAX = 128 << 10
/** What terminals take for their clipboard at most, as it is written. */
export const CLIPBOARD_CHARS_MAX = 100_000
/** With `hm logs --tail`, the replay is cut to its last lines whenever it has grown past this. */
export const LOGS_REPLAY_BYTES_KEPT = 1 << 20

// -- supervisor
/** What a lagging client may be behind; past it the child waits for `SUBSCRIBER_STALL_MS`, then that client loses output. */
export const BACKLOG_BYTES = 4 << 20
/** How long a client that does not read may hold up the child; a viewer stopped for two seconds loses nothing. */
export const SUBSCRIBER_STALL_MS = 2_500
/** One write to a client: large enough that its cost vanishes, small enough that a status answer is not far behind. */
export const OUTPUT_FRAME_BYTES_MAX = 64 << 10
/** Replay kept at most; the whole is memory of the session's process. */
export const SCROLLBACK_BYTES_MAX = 1 << 30
/** Input that the child has not read yet; past it the senders' sockets are not read until there is room. */
export const INPUT_PENDING_BYTES_MAX = 2 << 20
/** Below this much unread input the session answers for its terminal; a program that asks and never reads is left unanswered. */
export const TERMINAL_ANSWERS_BYTES_MAX = 64 << 10
/** Open connections of one session; the next one is closed at once. */
export const CLIENTS_MAX = 512
/** Half-received frames of all connections together; the connection that crosses it is closed. */
export const PARTIAL_FRAME_BYTES_MAX = 16 << 20
/** A frame that was begun must be there in this time, so that nobody holds memory by dripping bytes. */
export const FRAME_DEADLINE_MS = 10_000
/** Answers that a client asks for and does not read; past it the client is not read from either. */
export const ANSWER_BYTES_MAX = 256 << 10
/** A client that asks more often before it is answered is not curious. */
export const CLIENT_INFOS_MAX = 16
/** What a client that lost output is given first when it reads again: the latest screenfuls, not history. */
export const RESUME_BYTES = 256 << 10
/** From SIGTERM to SIGKILL. */
export const KILL_GRACE_MS = 5_000
/** Of what a session said, on disk beside its record, besides its last screen; less where its scrollback is less. */
export const KEPT_OUTPUT_BYTES_MAX = 4 << 20
/** How far behind the session that file may be: what a supervisor that is killed takes with it. */
export const KEPT_EVERY_MS = 1_000
/** How often the watcher hears that something is going on: an agent's silence is counted in minutes. */
export const ACTIVITY_MS = 1_000
/** How often the watcher looks for a session that broke off, or at what a lost one has left. */
export const KEEPER_LOOK_MS = 500
/** How long somebody who was taken in at a socket waits for a greeting; whoever has not closed by then is stopped or busy. */
export const LISTENER_ANSWER_MS = 1_000
/** How long a start waits for an id whose lost session is being settled: its processes have the grace time, and are killed after it. */
export const ID_LOCK_WAIT_MS = 60_000
/** How long a session whose pid file or socket was removed may be lost to those who look for it. */
export const PRESENCE_MS = 2_000
/** What ended sessions said is forgotten after this, by the next one that ends; `hm clean` does so earlier. */
export const KEPT_AGE_MS = 30 * 86_400_000
/** Processes named in the record of an end, and of each so much of its command line: enough to know them by. */
export const RECORD_COMMANDS_MAX = 32
export const RECORD_COMMAND_CHARS_MAX = 200
/** A session answers this long after its child has ended; `hm kill --wait` waits for it. The exit record answers later. */
export const EXIT_LINGER_MS = 150
/** How long an ended session may take to save its screen, and to deliver its last output to a client that reads. */
export const EXIT_FLUSH_MS = 1_000
/** Many times what the kernel holds for a terminal: more than this was written after the child's end, by others. */
export const PTY_DRAIN_BYTES_MAX = 1 << 20
/** How long a session that has ended, and still answers, may keep others waiting who want its id. */
export const ID_LINGER_MS = EXIT_FLUSH_MS * 10
/** Sides of a terminal: past it an emulator's memory is at stake. */
export const TERMINAL_SIDE_MAX = 4_096
export const TERMINAL_CELLS_MAX = 1 << 20
/** Linux takes 108 bytes of socket path with the closing zero, macOS 104. */
export const SOCKET_PATH_BYTES_MAX = 103
/** The options of a session as one JSON line; environment additions are the largest part. */
export const SESSION_OPTIONS_BYTES_MAX = 4 << 20
/** A start that has not answered by then has failed. */
export const SESSION_START_MS = 10_000
/** How often the process tree is looked at, so that a process that breaks away later is still known. */
export const TREE_SCAN_MS = 1_000
/** The same where each look is a program to start: fifty sessions may not take a core. */
export const TREE_SCAN_BY_PS_MS = 10_000
/** Processes remembered per session. */
export const TREE_PROCESSES_MAX = 16_384
/** The emulator may be this far behind before it skips what it can never catch up with. */
export const SCREEN_LAG_BYTES_MAX = 1 << 20
/** After a flood only its end is drawn: many screenfuls. */
export const SCREEN_TAIL_BYTES = 512 << 10
/** How often output is passed on to the emulator while it flows, and how long a pause counts as one. */
export const SCREEN_TICK_MS = 250
/** Per tick: what the emulator parses in a twentieth of it. More than this is a flood, and waits for its end. */
export const SCREEN_TICK_BYTES_MAX = 256 << 10
/** While output flows, the screen is looked at this seldom. */
export const SCREEN_LOOK_TICKS = 4
/** What waits at most for an emulator that has not been asked anything yet; past it the emulator is started. */
export const EMULATOR_ASLEEP_BYTES_MAX = 256 << 10
/** An emulator that died this often dies of what the program writes: from then on the session has output and no screen. */
export const EMULATOR_RESTARTS_MAX = 3
/** Many times what a screen takes; past it the emulator dies alone, and not the session with it. */
export const EMULATOR_MEMORY_MB_MAX = 128
/** An escape sequence longer than this (an image) may be cut; waiting for its end would need memory without bound. */
export const SEQUENCE_BYTES_MAX = 64 << 10
/** After typing, the time that a program has to take its question away; what still asks then is raised again. */
export const ANSWER_SETTLE_MS = 1_000

/** When it is looked again whether the program reads an answer to what may be a question; then no more. */
export const READER_LOOKS_MS: readonly number[] = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000]
/** Parts of one program that may wait at the same time; past it the oldest is forgotten. */
export const PROGRAM_PARTS_MAX = 64
/** Evidence and titles as they are shown. */
export const SIGNAL_TEXT_MAX = 512

// -- cells
/** Terminals let go of longer addresses (VTE at 2,083), and each line that is drawn carries its own. */
export const LINK_BYTES_MAX = 2_083

// -- briefing
/** A symbol or fact is a path, a criterion, a port. Escaped at its worst it still fits one line of protocol.log. */
export const VALUE_BYTES_MAX = 8 << 10
/** Seed 000: a capsule that would exceed ten lines is rejected, which forces real compaction. */
export const CAPSULE_LINES_MAX = 10
/** Ten lines of 800 characters; without it "ten lines" could carry a book. */
export const CAPSULE_BYTES_MAX = 8 << 10
/** A message refers, it does not carry: larger input is refused before it is parsed. */
export const MESSAGE_BYTES_MAX = 64 << 10
/** A task's specification may be a page of the plan, not the plan. */
export const SPEC_BYTES_MAX = 64 << 10
/** One import is a plan's table; past this it is some other file. */
export const IMPORT_BYTES_MAX = 8 << 20
/** A gate report and an invariants page are read whole. */
export const REFERENCED_FILE_BYTES_MAX = 8 << 20
/** 400 processes that start at once on two cores take turns for half a minute; a dead holder never makes anyone wait. */
export const TABLE_LOCK_WAIT_MS = 120_000
/** What a column of protocol.log may take; the rest of a longer detail is cut, with a mark. */
export const LOG_DETAIL_CHARS_MAX = 8_000
/** Tokenizers are quadratic on one unbroken run (100 KB of one letter takes 10 s): longer runs are cut here. */
export const TOKEN_RUN_CHARS_MAX = 1_024
/** Providers keep no prompt prefix shorter than this in their cache. */
export const CACHED_PREFIX_TOKENS_MIN = 1_024

// -- scopes and coordination
/** The longest scope anyone has typed is a third of this; the overlap of two scopes costs the product of their lengths. */
export const SCOPE_CHARS_MAX = 512
/** A claim of more scopes than this should be a claim of their folder. */
export const SCOPES_PER_CLAIM_MAX = 256
/** Braces and bracket readings multiply; past this the pattern is a mistake or an attack. */
export const SCOPE_ALTERNATIVES_MAX = 64
/** Bounds the work of one comparison whatever the braces expand to. */
export const SCOPE_EXPANDED_CHARS_MAX = 8_192
/** Scopes that a long-lived process keeps parsed; an agent asks about a few, and at this many they are a few megabytes. */
export const KNOWN_SCOPES_MAX = 1_000
/** No lease outlives a day without an explicit renewal: a claim nobody thinks of any more must end. */
export const LEASE_MINUTES_MAX = 1_440
/** Seed 002 gives no default; the origin's command takes two hours, seed 000's ledger 90 minutes. */
export const LEASE_MINUTES_DEFAULT = 120
export const LEDGER_LEASE_MINUTES_DEFAULT = 90
/** The same two agents at the same two scopes are one story for this long; the count goes on. */
export const INCURSION_WINDOW_MS = 600_000
/** Parsed claims that a long-lived process keeps compiled. */
export const PARSED_CLAIMS_KEPT = 20_000
/** Rows in the answers that a process keeps between two changes of the store; past it they are read again. */
export const KEPT_ROWS_MAX = 20_000
/** How often a watcher looks for sessions that are new; what they do then, they tell themselves. */
export const SESSIONS_LOOK_MS = 500
/** How long a follower may be away and still find every entry: longer than a holiday weekend, shorter than a forgotten machine. */
export const ENTRIES_KEPT_MS = 14 * 86_400_000
/** A claim and its release are two kilobytes: some fifty thousand entries. Rows and events are kept whatever becomes of entries. */
export const ENTRIES_KEPT_BYTES_MAX = 64 << 20
/** These stay in any case, so that one wrong reading of the clock does not send every follower back to the start. */
export const ENTRIES_KEPT_MIN = 1_000
/** Trimming takes some forty short looks: one change in so many pays for it. */
export const ENTRIES_TRIM_EVERY = 256
/** More than are made meanwhile, and removed in a few milliseconds. */
export const ENTRIES_TRIMMED_AT_ONCE = 1_024
/** Entries that a follower reads at once; the consumer's pace decides when it reads the next ones. */
export const FOLLOW_BATCH = 256
/** How often a follower looks when the system tells it nothing; where it does, this is only a second chance. */
export const FOLLOW_LOOK_MS = 500
/** How often a command that follows looks whether its output is still read: one link of /proc each time. */
export const OUTPUT_READER_LOOK_MS = 500
/** A commit that is being written is looked for this long after the last sign of it, the flush of a slow disk included. */
export const FOLLOW_SETTLE_MS = 250
/** The longest distance of two such looks: what a follower may be late. */
export const FOLLOW_STEP_MS_MAX = 8
/** Colliding pairs listed per claim; the first is always the strongest. */
export const CONFLICT_PAIRS_MAX = 16
/** Dirty paths named at a takeover; the count is always whole. */
export const DIRTY_PATHS_SHOWN = 100
/** A waiter of which nothing was heard for this long is gone, and the next one's turn comes; one whose process has ended is gone at once. */
export const TICKET_SILENT_MS = 60_000
/** How often a waiter says that it waits: a write, so seldom, and three times before it is taken for gone. */
export const TICKET_BEAT_MS = 20_000
/** How often a waiter looks when no entry tells it to: an owner that falls silent leaves none. A look only reads. */
export const WAIT_LOOK_MS = 1_000
/** Waiting longer than a lease can last is waiting for nothing. */
export const WAIT_MS_MAX = 86_400_000
/** A note is a note; what is longer belongs into a file that the note names. */
export const NOTE_SUBJECT_CHARS_MAX = 200
export const NOTE_BODY_CHARS_MAX = 16_384
export const INBOX_LIMIT_MAX = 500
/** Labels such as task references and intents. */
export const LABEL_CHARS_MAX = 200
/** Foreign claim files and event lines read in one go; the rest follows with the next command. */
export const REMOTE_FILES_MAX = 1_000
export const REMOTE_FILE_BYTES_MAX = 1 << 20
/** The ledger's file of events is set aside at this size: some ten thousand events, which git still shows as a diff. */
export const LEDGER_EVENTS_BYTES = 4 << 20
/** Exported in one go, after which it is written down how far it is: a new member has the whole history of its fleet to export. */
export const LEDGER_BATCH_EVENTS = 1_000
export const LEDGER_BATCH_BYTES = 1 << 20
/** Merges add up what several machines wrote before one of them sets it aside; a larger file is passed over. */
export const REMOTE_EVENTS_BYTES_MAX = 16 << 20
/** Asking git who brought a line must not hold a command up: past these nobody is named. */
export const BLAME_MS_MAX = 5_000
export const BLAME_BYTES_MAX = 64 << 20
export const BLAME_RANGES_MAX = 64
/** How far back git is asked who brought a claim file: many times the longest lease, so that what is older holds nothing, and few commits even of a busy project. */
export const BRINGER_DAYS_MAX = 30

// -- spine
/** The watcher beats this often at most: three times within the shortest time after which an agent is stale. */
export const WATCHER_BEAT_MS = 20_000
/** How often a supervisor looks whether a watcher runs; doubled up to the longest while none stays. */
export const WATCHER_GUARD_MS = 1_000
export const WATCHER_GUARD_MS_MAX = 30_000
/** How often the watcher looks for runs that it was not told of; and how soon for one that is about to begin. */
export const WATCHER_LOOK_MS = 1_000
export const WATCHER_SOON_MS = 20
/** With nothing to watch it ends after this. */
export const WATCHER_IDLE_MS = 3 * 60_000
/** How long a second watcher tries before it believes that there is one. */
export const WATCHER_LOCK_MS = 500
/** What a watcher that gives way has for its last writes. */
export const WATCHER_STOP_MS = 2_000
/** A run that was set aside for an error is tried again after this. */
export const WATCHER_RETRY_MS = 30_000
/** How often it closes runs without an owner whose processes are gone. */
export const WATCHER_ABANDONED_MS = 60_000
/** How long a command waits for the watcher to settle what it asked for. */
export const RUN_SETTLED_MS = 20_000
/** How long the watcher stands still for a store that is locked: all runs of all projects stand still with it. */
export const WATCHER_BUSY_MS = 50
/** How old a run of another pid namespace is before it may count as left behind: by then its own watcher runs. */
export const WATCHER_FOREIGN_MS = 30_000
/** When it tries that store again, until a command would have given up. */
export const STORE_BUSY_RETRY_MS = 100
/** The watcher that cannot reach the store tries again so often, for as long as its session lives. */
export const STORE_RETRY_MS = 1_000
/** Of a run whose supervisor was killed nothing runs five seconds later: who ignored the hang-up gets this long once more. */
export const RUN_ORPHAN_GRACE_MS = 3_000
/** Members of a run that outlive its session: shims that the sweep of the session's tree ends, within its grace time. */
export const RUN_MEMBERS_LEAVE_MS = 8_000
/** How long `heimdall run` waits after the end of its command for the run to be closed. */
export const RUN_CLOSED_MS = 10_000
/** From this share on a budget is about to stop its agent, and a person is told; smaller ones than this end too soon for it. */
export const BUDGET_NEAR_SHARE = 0.9
export const BUDGET_NEAR_LIMIT_MIN = 10
/** How often the watcher looks at the record and says on the sheet what the agent does; and how soon after a change of its state. */
export const PULSE_MS = 5_000
export const PULSE_SOON_MS = 500
/** Who is silent for longer begins to work anew when it speaks again. */
export const PULSE_BUSY_MS = 60_000
/** Looping: this many times the same within the window. A poll every two minutes stays below it. */
export const LOOP_COUNT_MIN = 5
export const LOOP_WINDOW_MS = 10 * 60_000
export const LOOP_CALLS_KEPT = 500
/** Stuck: silent for so many times its usual silence, and never sooner than this; builds and models pause for a minute or two. */
export const STUCK_TIMES = 3
export const STUCK_SILENT_MS_MIN = 3 * 60_000
export const STUCK_SILENCES = 20
/** Agents whose session is over, or of whom nothing was heard, are shown for a working day. */
export const STATUS_SHOWN_MS = 12 * 60 * 60_000
/** Collisions and notes that are looked through for what is still open. */
export const STATUS_EVENTS_MAX = 500
/** What others say is shown in one line of this length. */
export const STATUS_TEXT_CHARS_MAX = 200
/** A session that does not answer within this is shown as its files tell. */
export const STATUS_ANSWER_MS = 1_000
/** Snapshots for those who follow: at most this often, and at least this often looked for. */
export const STATUS_NEWS_MS = 200
export const STATUS_LOOK_MS = 2_000
/** Where sessions are asked as well: fifty connections a second are nothing, and a person reads no faster. */
export const STATUS_ASKED_MS = 1_000
/** `heimdall top` draws at least this often, so that ages are true. */
export const TOP_DRAW_MS = 1_000
/** `heimdall snooze`, and `z` in `heimdall top`. */
export const SNOOZE_MS = 15 * 60_000
/** A collision that is let wait comes back after this, from the page and from `heimdall top` alike. */
export const LET_WAIT_MS = 30 * 60_000
/** An answer counts for `heimdall next` when the agent has gone on for so long and nobody types any more. */
export const NEXT_SETTLE_MS = 2_000
/** A wait that is answered at once is not worth a message; and how long telling somebody may take. */
export const NOTIFY_AFTER_MS = 3_000
export const NOTIFY_SENDING_MS = 10_000
/** Snoozed waits of one user. */
export const SNOOZED_MAX = 1_000
/** What git may take to say how the worktree stands before a start goes on without knowing. */
export const GIT_AT_START_MS = 1_000
export const GIT_AT_END_MS = 10_000
/** Paths in the record of a run: more than that is no list for anybody. */
export const FILES_RECORDED_MAX = 500
/** What a run's terminal may fill: some days of a busy agent; past it the recording ends, and the agent goes on. */
export const RUN_RECORDING_BYTES_MAX = 64 << 20

// -- mcp and guard
/** The SDK's own stdio limit is 10 MiB; no call of ours needs a tenth of this. */
export const MCP_MESSAGE_BYTES_MAX = 4 << 20
/** A message above the limit is skipped to its end, so that the next one is read; what is announced as longer than this never ends. */
export const MCP_SKIP_BYTES_MAX = 256 << 20
/** Of a skipped message, where its id is looked for. */
export const MCP_SKIPPED_HEAD_BYTES = 64 << 10
export const MCP_SKIPPED_TAIL_BYTES = 4 << 10
/** `Content-Length` and one or two more. */
export const MCP_HEADER_BYTES_MAX = 4_096
/** A reading session beats this often: far below the shortest stale time, far above what a beat costs. */
export const MCP_BEAT_MS = 20_000
/** Labels that one server session may act under; a client has one, a router of clients has a few. */
export const MCP_IDENTITIES_MAX = 16
/** Subjects, tasks and names in results; they are shown in lists. */
export const MCP_LABEL_CHARS_MAX = 120
/** Commits of one push that the guard looks into; a longer push is history that was shared before, or an import. */
export const GUARD_PUSH_COMMITS_MAX = 2_000
/** Lines of a refusal: enough to act on. */
export const GUARD_LINES_MAX = 20
/** A decision is an entry in a log that people read, not a document; its event must stay within a log line. */
export const DECISION_BODY_CHARS_MAX = 8_000
/** One body of peer text in a result. */
export const MCP_BODY_CHARS_MAX = 4_000
/** What a list or a hydration may cost by default; the rest is on the next page. */
export const MCP_PAGE_TOKENS = 2_000
/** What a caller may ask for; a page is never larger than a message. */
export const MCP_PAGE_TOKENS_MAX = 50_000

// -- policy, events, shim
/** YAML is written by hand; a reader of YAML is too much surface for anything larger. */
export const POLICY_YAML_BYTES_MAX = 256 << 10
/** Bundles made by a program, and compiled snapshots, come as JSON. */
export const POLICY_JSON_BYTES_MAX = 4 << 20
/** More rules than a person can review; evaluation itself does not mind. */
export const POLICY_RULES_MAX = 10_000
/** Pairs of rules that lint compares, some tenths of a microsecond each; few bundles have rules that are so much alike. */
export const LINT_PAIRS_MAX = 2_000_000
/** A bundle is nine levels deep; a hint's arguments may add some. */
export const POLICY_DEPTH_MAX = 32
/** Columns at which a YAML collection may begin. The reader recurses, and a row of dashes would end the process, not the parse. */
export const POLICY_YAML_INDENT_MAX = 128
/** Aliases of YAML anchors: enough to share a matcher between rules, too few to build a bomb. */
export const POLICY_YAML_ALIASES_MAX = 100
/** Problems listed in one refusal; the first few are what people fix. */
export const POLICY_PROBLEMS_MAX = 50
/** Of one glob or regex. */
export const POLICY_PATTERN_CHARS_MAX = 1_000
/** Of all regexes of a bundle with their repeats written out. Compiling takes some µs for each, and so does a new tool's name. */
export const POLICY_REGEX_SIZE_MAX = 50_000
/** MCP asks for at most 128 characters in a tool's name. Longer than this a regex rule counts as an error of evaluation. */
export const POLICY_NAME_CHARS_MAX = 256
/** Levels of arguments that rules look into; real calls have three or four. Deeper ones count as arguments too large to inspect. */
export const ARGS_DEPTH_MAX = 32
/** Values that one rule looks at in one call; past it the same. */
export const ARGS_VALUES_MAX = 10_000
/** Calls that `policy explain` makes before the one that it explains, as many as a test case may repeat. */
export const EXPLAINED_NTH_MAX = 10_000
/** How long `policy init` waits for the tools of one server: some are fetched from a registry when they start. */
export const ASKED_SERVER_MS = 30_000
/** And for its end, which the shim makes sure of in less. */
export const ASKED_SERVER_END_MS = 10_000
/** Servers that it asks at once. */
export const ASKED_SERVERS_AT_ONCE = 4
/** What it reads of one server. */
export const ASKED_SERVER_BYTES_MAX = 8 << 20
/** Pages of a list of tools that it asks for. */
export const TOOL_PAGES_MAX = 100
/** Calls that `policy diff` tries both policies on. */
export const DIFF_PROBES_MAX = 50_000
/** Calls of a recorded run that a replay waits for the end of; a record that was cut never tells of some. */
export const REPLAY_OPEN_MAX = 65_536
/** Rows that a replay keeps for its table and its JSON; what is beyond is counted, so that a record of any size fits in memory. */
export const REPLAY_ROWS_MAX = 10_000
/** Links on the way to one path, as Linux has it; more lead in a circle. */
export const LINKS_FOLLOWED_MAX = 40
/** A breaker keeps this many times of a key; more would be a rate limit. */
export const BREAKER_THRESHOLD_MAX = 1_000
/** Plans kept for tools seen; a client that invents names pays for its own plans and nobody else's. */
export const POLICY_PLANS_MAX = 2_048
/** The longest wait that a throttled agent is told: a bucket that never has enough again is asked once a day. */
export const THROTTLE_MS_MAX = 86_400_000
/** Windows and dedupe entries kept in memory; at twice as many the oldest are forgotten, before their time if need be. */
export const POLICY_WINDOWS_MAX = 32_768
/** Budgets and buckets kept in memory; they may not be forgotten, so past it calls take decision_on_error. */
export const POLICY_BUDGETS_MAX = 100_000
/** When they are full, how often somebody looks for buckets that are as good as new: a look at all of them takes milliseconds. */
export const POLICY_SWEEP_MS = 1_000

// -- events
/** Seed 004 §1.10: no message larger than this is looked into. */
export const MAX_INSPECT_BYTES = 1_048_576
/** Seed 004 §1.10: what a preview shows of arguments or a result. */
export const MAX_PREVIEW_BYTES = 16_384
/** Events wait this long for company at most, so that a busy shim writes some hundred at a time. */
export const EVENT_BATCH_MS = 5
/** A batch of this size is written without waiting. */
export const EVENT_BATCH_BYTES = 64 << 10
/** Bytes of waiting events past which the agent is not read from until the record keeps up again. */
export const EVENT_BEHIND_BYTES = 512 << 10
/** How long a record may be held by another process, or by a reader that reads nothing, before that counts as failing. */
export const EVENT_STALL_MS = 5_000
/** Bytes of waiting events past which their previews are given up. Only a record that fails lets so many pile up. */
export const EVENT_QUEUE_SOFT = 4 << 20
/** Past this, ends of calls are given up too and counted as lost. */
export const EVENT_QUEUE_FULL = 8 << 20
/** Past this even decisions are lost, and counted: memory is not unbounded because a disk is broken. */
export const EVENT_QUEUE_MAX = 16 << 20
/** What a stream to a reader of events may hold for it. */
export const EVENT_STREAM_BYTES_MAX = 1 << 20
/** First and longest pause before a failed write of events is tried again. */
export const EVENT_RETRY_MS = 50
export const EVENT_RETRY_MS_MAX = 1_000
/** How long the start of a shim waits for its run; then it begins without, and joins as soon as it can. */
export const RUN_JOIN_MS = 1_000
/** How long the end of a shim waits for its last events to be taken. */
export const EVENT_CLOSE_MS = 1_500
/** A sign of life of each shim in the run's record. */
export const SHIM_HEALTH_MS = 60_000
/** After its own start a shim looks for runs that were left open; not before, because the first call should not wait for it. */
export const ABANDONED_LOOK_MS = 2_000
/** A line of a record longer than this is not an event: previews, hints and names have bounds far below. */
export const RECORD_LINE_BYTES_MAX = 1 << 20
/** Whoever passes by looks for runs to prune; once an hour is enough for all. */
export const PRUNE_EVERY_MS = 3_600_000
/** Runs that `runs list` shows unless it is told otherwise. */
export const RUNS_LISTED = 50
/** Numbers of calls that are remembered beyond one that is missing in a record. */
export const CALL_NUMBERS_AHEAD_MAX = 1_024
/** A call number in a record that is further than this past the greatest one before it is invalid. */
export const CALL_NUMBER_GAP_MAX = 1 << 20
/** A monotonic time of another boot past this is invalid: no machine runs for a hundred years. */
export const UPTIME_MS_MAX = 100 * 365 * 24 * 3_600_000
/** A checkpoint is written for each so many bytes of a record, so that it is behind by twice as many at most. */
export const CHECKPOINT_EVERY_BYTES = 128 << 10
/** A record is read ahead of its lock until so much is left, more than any batch that a full disk can take back. */
export const RECORD_TAIL_BYTES = 16 << 20
/** How often a follower of a record looks where the system does not tell it of changes. */
export const RECORD_POLL_MS = 500
/** And while somebody writes. */
export const RECORD_BUSY_MS = 5
/** What one transaction of the run index takes of a record; what is under way is in memory until then. */
export const INDEX_BATCH_BYTES = 8 << 20
/** How long a query brings the run index up to date before it answers from what is there. */
export const INDEX_CATCH_UP_MS = 3_000
/** How long it waits for another process that is doing so. */
export const INDEX_LOCK_MS = 500
/** Of a record's beginning, and before the place up to which it was read, so much is what it is known by: the start of the run with its time, and the last event. */
export const INDEX_MARK_BYTES = 1_024
/** Names are cut there in the index, never in the record. */
export const INDEX_NAME_CHARS_MAX = 1_024
/** Names whose numbers are kept in mind: an agent may invent them, and those that are used come back by themselves. */
export const INDEX_WORDS_KEPT = 10_000
/** Of each preview or message so much is searched by its words: two full previews fit. */
export const INDEX_TEXT_CHARS_MAX = 64 << 10
/** Places of bad lines that are kept for each record; all are counted. */
export const INDEX_BAD_LINES_KEPT = 100
/** A person who waits longer than that is told how far it is, and so often. */
export const PROGRESS_AFTER_MS = 1_000
export const PROGRESS_EVERY_MS = 200
/** Entries of the run index under one name are counted so far, to read the shorter list; and so many that have a word are sorted by time. */
export const INDEX_COUNTED_MAX = 1_000
/** A beginning of a word stands for so many whole ones before it is left to FTS5, which reads all of each. */
export const SEARCH_ENDINGS_MAX = 64
/** Entries that are looked at for a word that many have: the first time, and at most at once. */
export const SEARCH_WALK_FIRST = 100
export const SEARCH_WALK_MAX = 6_400
/** Words of one search. */
export const SEARCH_WORDS_MAX = 32
/** Calls that a query shows unless it is told otherwise. */
export const CALLS_LISTED = 50
/** Calls and other events that an export reads at a time. */
export const EXPORT_PAGE = 1_000
/** Events of a run that its span holds, as many as tracing systems take; the rest is counted. */
export const SPAN_EVENTS_MAX = 128
/** The latest moment that OTLP can say, in nanoseconds of 63 bits: one span beyond it has a collector refuse all that came with it. */
export const SPAN_TIME_MS_MAX = 9_223_372_036_854
/** Runs whose last segment an export remembers, so that the next one leads back to it; past it the one that came first is forgotten. */
export const TRACED_RUNS_MAX = 10_000
/** What goes to a collector in one request: so many spans, or what so many bytes of the record became. */
export const OTLP_BATCH_SPANS = 512
export const OTLP_BATCH_BYTES = 1 << 20
/** And how long the last spans wait for company while runs are followed. */
export const OTLP_BATCH_MS = 1_000
/** A collector that has not answered by then is not there. */
export const OTLP_TIMEOUT_MS = 10_000
/** How often a request is tried again before an export that does not follow gives up, and how long it waits at first and at most. */
export const OTLP_RETRIES = 3
export const OTLP_RETRY_MS = 500
export const OTLP_RETRY_MAX_MS = 30_000
/** Of a collector's answer so much is read. */
export const OTLP_ANSWER_BYTES_MAX = 64 << 10
/** What an agent did after a call: its next calls, of which so many are shown. */
export const CALLS_AFTER = 5
/** Events that a tail begins with. */
export const EVENTS_TAILED = 20
/** And looks for at the end of each record. */
export const TAIL_BYTES = 256 << 10
/** How often a tail looks at all records for changes that it was not told of. */
export const RUNS_SWEEP_MS = 5_000
/** Runs of dead processes that one start looks after; the rest is left to the next one. */
export const ABANDONED_RUNS_MAX = 32

// -- shim over HTTP
/** The head of a request has to be there by then: whoever sends it byte by byte holds a connection no longer. */
export const HTTP_HEADERS_MS = 5_000
/** And its body; a large one over loopback takes seconds. */
export const HTTP_BODY_MS = 300_000
/** How long a client's idle connection is kept: longer than clients keep theirs, so that it is they who close. */
export const HTTP_KEPT_MS = 65_000
/** The same towards the server, shorter than servers keep theirs: a call must not be sent on a connection that is being closed. */
export const HTTP_IDLE_MS = 4_000
/** Read at a time from a connection to the server; each has so much memory while it is open. */
export const HTTP_READ_BYTES_MAX = 64 << 10
/** Fifty agents with some streams each; past it new connections are closed. */
export const HTTP_CONNECTIONS_MAX = 512
/** A server that cannot be connected to within this time is down. */
export const HTTP_CONNECT_MS = 30_000
/** How long the answer of a call is awaited when its stream has ended and the client may ask for the rest. */
export const HTTP_RESUME_MS = 300_000
/** The last answers, to calls that were open at the end, have this long to be taken. */
export const HTTP_LAST_ANSWERS_MS = 500

// -- shim
/** An id, method or tool name longer than this is no name; it is refused unread. */
export const SCAN_TOKEN_BYTES_MAX = 1_024
/** Calls that wait for their answer; past it a call is refused until one comes back. */
export const CALLS_IN_FLIGHT_MAX = 16_384
/** Other requests remembered by id, so that their answers are not taken for a call's. */
export const REQUESTS_IN_FLIGHT_MAX = 16_384
/** Answers of our own that wait while the upstream is in the middle of a line. */
export const OWN_ANSWERS_BYTES_MAX = 8 << 20
/** Bytes of upstream's stderr that wait for a slow reader; past it they are dropped, and the upstream never waits. */
export const STDERR_RELAY_BYTES_MAX = 256 << 10
/** An unfinished line of a server is kept back up to this length; then it goes out as it is. */
export const STDERR_LINE_BYTES_MAX = 64 << 10
/** Read from the client while its server or the record is behind: the end of input stands behind what a pipe still holds. */
export const READ_AHEAD_BYTES_MAX = 1 << 20
/** How often a paused input is read on by one chunk, so that its end is seen. */
export const READ_AHEAD_PROBE_MS = 1_000
/** Past this no more is read on: the pipe of a dead client holds at most 1 MiB. */
export const READ_AHEAD_PROBED_MAX = 16 << 20
/** Of one line of stderr that is wrapped in an event: escaped at its worst it still fits a line of a log. */
export const LOG_TEXT_BYTES_MAX = 8 << 10
/** Pieces in which a held request is sent on. */
export const REPLAY_CHUNK_BYTES = 256 << 10
/** Pieces of an answer over HTTP that are put together before they go on; to copy larger ones would cost more than it saves. */
export const GATHERED_BYTES_MAX = 16 << 10
/** After the end of input an upstream that has nothing left to answer gets this long to go by itself. */
export const UPSTREAM_EOF_MS = 300
/** The same with calls still open; it begins anew with all that the upstream takes or answers. */
export const UPSTREAM_DRAIN_MS = 1_000
/** And with calls open at a server that has not said a word yet: what is fetched at its start, or starts a runtime of its own, takes so long. */
export const UPSTREAM_START_MS = 10_000
/** A server that has closed a pipe gets this long to exit, so that its exit tells what it was; calls wait for it. */
export const UPSTREAM_HANGUP_MS = 3_000
/** From SIGTERM to SIGKILL (seed 004 §6.3). */
export const UPSTREAM_GRACE_MS = 2_000
/** Output that a dead server left in its pipe is there at once; a descendant that holds the pipe open is not waited for. */
export const UPSTREAM_LAST_OUTPUT_MS = 500
/** How long a server may have been gone before its client's first word, which is then answered. */
export const UPSTREAM_FIRST_REQUEST_MS = 2_000
/** How often a shim looks whether its parent is still there; most clients are noticed at once by the end of stdin. */
export const PARENT_WATCH_MS = 1_000
/** Places that a shim remembers as the writer's own while its store stands still; the rest are asked about each time. */
export const CLEAR_PLACES_MAX = 10_000
/** And for how long at most: a file may have become a folder meanwhile, which is in no store. */
export const CLEAR_PLACES_MS = 1_000
/** Tools of which a shim remembers what their server says; the rest count as dangerous. */
export const TOOLS_ANNOTATED_MAX = 10_000
/** Pages of lists of tools that a client may still ask for, by their cursors; older ones count as pages of an unknown list. */
export const TOOL_LIST_WALKS_MAX = 64
/** Tools of a server that are pinned; what it lists beyond that is not, and *control* lets nobody call it. */
export const PIN_TOOLS_MAX = 4_096
/** What is kept of one definition, so that a difference can be shown; of a longer one only the hash. */
export const PIN_TEXT_BYTES_MAX = 256 << 10
/** The same of all definitions of a server. */
export const PIN_TEXTS_BYTES_MAX = 8 << 20
/** Definitions of one tool that nobody has approved, the newest; a server may show another one each time. */
export const PIN_SHOWN_MAX = 4
/** Of one tool, in one shim: past it nobody needs to know which they were, the tool stays refused. */
export const PIN_UNAPPROVED_MAX = 64
/** Definitions of one tool that are approved at once, for servers that tell each client something else. */
export const PIN_APPROVED_MAX = 8
/** Lists with news that one shim writes down; a server that changes with every list fills no disk. */
export const PIN_NEWS_MAX = 256
/** Pages that could not be compared when they came, and are compared with the next call; older ones count as never seen. */
export const PIN_PAGES_UNKEPT_MAX = 8
/** Tools that one event names; the others are counted. */
export const PIN_EVENT_TOOLS_MAX = 32
/** What one event shows of the differences, all tools together: escaped once more it still fits a line of a log. */
export const PIN_EVENT_DIFF_BYTES = 16 << 10
/** What is kept of a server's command line, to be shown. */
export const PIN_COMMAND_BYTES_MAX = 1_024
/** A call is held this long for a person's answer unless its rule says otherwise: hosts give a call a minute or more. */
export const ASK_WAIT_MS = 20_000
/** And never longer: past a minute hosts give up, and the answer would go to nobody. */
export const ASK_WAIT_MS_MAX = 50_000
/** Calls held at once; further ones are answered without waiting. */
export const ASK_HELD_MAX = 64
/** Questions of one run that are open at once, more than anybody answers; past it calls are refused and nobody is asked, until some are answered. */
export const ASK_OPEN_MAX = 256
/** Questions of one run that were answered or closed and can still be listed. */
export const ASK_ANSWERED_KEPT = 100
/** Answers of one run that calls may go by. */
export const ASK_ANSWERS_MAX = 4_096
/** What a killed shim has left of its questions is removed after this time, which no shim needs to begin. */
export const SOLO_KEPT_MS = 600_000
/** How long the end of a shim waits until the session knows that nobody is asked any more. */
export const NOTICE_CLOSE_MS = 1_000
/** How often a shim looks whether a person has answered, while somebody waits; and how often while only the agent may come back. */
export const ASK_LOOK_MS = 200
export const ASK_LOOK_IDLE_MS = 2_000
/** What a client says of itself: name, version, capabilities. */
export const CLIENT_META_BYTES_MAX = 16 << 10
/** One secret; a variable of a process may have twice that on Linux. */
export const SECRET_BYTES_MAX = 64 << 10
/** A shorter secret would be found in every text, and is refused unless nobody is to look for it. */
export const SECRET_SEARCHED_BYTES_MIN = 4
/** A shorter one is searched for, with a warning: what looks like it by chance is taken out too. */
export const SECRET_SURE_BYTES_MIN = 8
/** What may be the beginning of a secret on a terminal waits for the rest; a sequence that never ends must not take memory for it. */
export const COVER_HELD_BYTES_MAX = 16 << 10
/** Values that a session is told to keep out of its recording, in each of two spellings; whoever sends more is sent away. */
export const SESSION_SECRETS_MAX = 2_000
/** What clients did to a session, in its records: a few in a day. Its log has all of them. */
export const SESSION_ACTS_MAX = 100
/** What a client may call itself by. */
export const CALLED_AS_CHARS_MAX = 64
/** Bindings of one server, and their file: what is looked for grows with their number. */
export const SECRET_BINDINGS_MAX = 200
export const SECRET_BINDINGS_BYTES_MAX = 1 << 20
/** A keychain may ask its user to unlock it; a host does not wait much longer for its server. */
export const KEYCHAIN_WAIT_MS = 20_000
/** So long after a change in its folder the policy file is read: whoever writes it is done by then, and many changes are one look. */
export const POLICY_SETTLE_MS = 50
// costs
/** Read of a transcript at once. */
export const TRANSCRIPT_READ_BYTES = 1 << 20
/** A longer line is passed over: an answer of a model is far shorter, and so is what its tools are allowed to say. */
export const TRANSCRIPT_LINE_BYTES_MAX = 64 << 20
/** How often the watcher looks what its host has spent. */
export const COST_LOOK_MS = 1_000
/** And how often for new transcripts, which takes a look at each that the host has ever written. */
export const TRANSCRIPTS_LOOK_MS = 5_000
/** Transcripts of one run, subagents among them; past it further ones are not read, and the run says so. */
export const TRANSCRIPTS_MAX = 1_000
// worktrees
/** What git may say in one answer: the names of some hundred thousand files. */
export const GIT_ANSWER_BYTES_MAX = 64 << 20
/** Moves of a HEAD that are looked through for where it stood at a time: weeks of commits, and a fraction of a second. */
export const REFLOG_ENTRIES_MAX = 20_000
/** How long a change of worktrees waits for another: a checkout of a large repository takes its time. */
export const WORKTREE_LOCK_WAIT_MS = 120_000
/** Files brought along into a worktree: settings and keys, not what a package manager has installed. */
export const WORKTREE_COPIED_FILES_MAX = 1_000
/** Files named in one line of a message; --json has them all. */
export const WORKTREE_NAMED_MAX = 8
/** The setup and the check of a worktree: longer than an install or a test suite takes, shorter than a night. */
export const WORKTREE_COMMAND_MS = 1_800_000
/** For gh or glab to open a pull request. */
export const WORKTREE_FORGE_MS = 120_000
/** Last lines of a setup or check that failed, in the error. */
export const WORKTREE_COMMAND_LINES_SHOWN = 6
// hooks of hosts
/** How long `heimdall init` waits for another one, which may have the files of five hosts to write. */
export const SETUP_LOCK_WAIT_MS = 60_000
/** What a host may hand to a hook: the content of a file that is written whole, and then some. */
export const HOOK_BYTES_MAX = 64 << 20
/** How long a hook waits for whoever writes to the store: well within the ten seconds after which hosts go on without an answer, also where the answer is a no. */
export const HOOK_BUSY_MS = 4_000
/** How long a hook that has its answer from reading waits to record it: a lost record costs less than a host that waits. */
export const HOOK_RECORD_MS = 1_000
/** Read at a time: what a pipe holds, and mostly the whole of it. */
export const HOOK_READ_BYTES = 64 << 10
/** A diff that a shell command applies, looked into for the files it names. */
export const HOOK_PATCH_BYTES_MAX = 4 << 20
/** A hook that finds the last sign of life of its agent older than this gives one, as the watcher does. */
export const HOOK_BEAT_MS = 20_000
/** Calls of hooks of one host session: past it the trail begins anew, and what was missed before is forgotten. */
export const HOOK_TRAIL_BYTES_MAX = 4 << 20
/** Of a transcript, for what the last turn has called: turns are shorter. */
export const HOOK_TRANSCRIPT_BYTES_MAX = 2 << 20
/** What an agent is told when a session begins, by a real tokenizer; what does not fit is left out, others' words first. */
export const HOOK_BRIEF_TOKENS_MAX = 400
/** Claims and notes that the brief names; the rest is a number. */
export const HOOK_BRIEF_LINES_MAX = 5
/** Characters of one claim or note in it. */
export const HOOK_BRIEF_LINE_CHARS_MAX = 90
/** Paths that a slip remembers: those of one piece of work. The oldest are looked up again. */
export const HOOK_SLIP_PATHS_MAX = 64
/** A store that was written to more recently is not remembered: the kernel counts the times of files in steps of up to 10 ms. */
export const HOOK_SLIP_SETTLED_MS = 100
/** Names of the user's choice for commands of git that one shell command is looked up for; git itself follows no more than that either. */
export const HOOK_ALIASES_MAX = 16
/** What a person is shown of a question. */
export const HOOK_QUESTION_CHARS_MAX = 300
/** The kernel counts the times of files in steps, which a busy machine makes longer. */
export const FILE_TIME_STEP_MS = 20
/** Files inside claims that one look at the disk goes through: those of a large folder, not of a whole tree of packages. */
export const WATCH_ENTRIES_MAX = 5_000
/** How often a watcher looks who holds what by now; with the time to judge a write, it is known within two seconds. */
export const WATCH_LOOK_MS = 1_000
/** How often a process that stands for a host session looks whether there is an agent to watch by now. */
export const WATCH_SESSION_MS = 1_000
/** Files that change together are judged together. */
export const WATCH_SETTLE_MS = 200
/** Folders that one watcher has the system tell of: fifty watchers stay below what a user may have. Past it git is asked. */
export const WATCH_FOLDERS_MAX = 256
/** How long git may take over a question of the watcher. Past it nothing is known until the next. */
export const WATCH_GIT_MS = 5_000
/** How often it is noted what processes have written so far, for comparison; the older, the fewer writes can be told apart. */
export const WATCH_MARK_MS = 10_000
/** Paths that are judged at once; of a checkout of everything, the first tell enough. */
export const WATCH_PATHS_MAX = 200
// sessions elsewhere
/** ssh asks the other end for a sign of life this often, and gives up after so many that did not come. */
export const SSH_ALIVE_S = 5
export const SSH_ALIVE_COUNT = 3
export const SSH_CONNECT_S = 10
/** How long the connection stays for the next command after the last one has left. */
export const SSH_PERSIST_S = 60
/** What a socket's path may have, less what ssh appends while it makes one. */
export const SSH_CONTROL_PATH_BYTES_MAX = 85
/** What is kept of ssh's complaints. */
export const SSH_WORDS_BYTES_MAX = 4 << 10
/** What a login shell may say first, and a list of some thousand sessions. */
export const PIPE_GREETING_BYTES_MAX = 4 << 20
/** How long the other end may take to say what it is: a password may have to be typed. */
export const PIPE_GREETING_MS = 60_000
/** How long a viewer tries to come back after its connection was lost. */
export const REMOTE_RETURN_MS = 600_000
/** Between two tries, at first and at most. */
export const REMOTE_RETRY_MS = { first: 100, most: 3_000 }
/** How long `hm pipe` stays to see the last process of an ended session go. */
export const PIPE_LAST_LOOK_MS = 30_000
// fleet
/** How long a connection to the engine may take to come about; longer than any working one, shorter than a person's patience. */
export const ENGINE_CONNECT_MS = 5_000
/** How long the engine may take to say whether it speaks TLS, after a connection with TLS was hung up on: it is only for the words of a refusal. */
export const ENGINE_TLS_ANSWER_MS = 2_000
/** How long one question to the engine may take. Past it the connection is dropped, and what was sent is sent again. */
export const ENGINE_ANSWER_MS = 10_000
/** How long a command tries to find out what became of an entry before it says OUTCOME_UNKNOWN. */
export const ENGINE_SETTLE_MS = 15_000
/** First commits that a fleet remembers of its repository: most have one, a merge of histories has a few. */
export const FLEET_ROOTS_MAX = 16
/** How long a turn lasts at most without a word: a catch-up and a decision, on a machine that has more to do. */
export const FLEET_TURN_MS = 2_000
/** How long the engine lets a machine wait in line before it has to ask again; far below what an answer may take. */
export const FLEET_TURN_WAIT_MS = 3_000
/** How long a change stands in line in all; with a line of a hundred that moves it is over in seconds. */
export const FLEET_CHANGE_MS = 60_000
/** How often one change is decided at most; a fleet on which this is not enough is not working. */
export const FLEET_DECISIONS_MAX = 200
/** Entries that come with one answer: a few hundred kilobytes, so that a far machine is not given megabytes at once. */
export const FLEET_BATCH = 500
/** One entry; notes and scopes are far below. */
export const FLEET_ENTRY_BYTES_MAX = 4 << 20
/** A brief that is longer lies beside its entry, and only the machine of its worker fetches it: every copy keeps every entry, and an assignment puts its contract three times. */
export const FLEET_BRIEF_INLINE_BYTES = 16 << 10
/** The longest brief in a fleet: what a command reads from a file. */
export const FLEET_BRIEF_BYTES_MAX = 8 << 20
/** Of a brief that lies beside its entry, what the entry shows. */
export const FLEET_BRIEF_CHARS_SHOWN = 2_000
/** What goes to or comes from the engine at once of a text beside the log; each part has the time of an answer. */
export const FLEET_ANNEX_PART_BYTES = 512 << 10
/** All texts beside the log of one project, packed. Thirty of the largest briefs that do not pack. */
export const FLEET_ANNEX_BYTES_MAX = 256 << 20
/** How long a text beside the log is kept that no task names: whoever laid it there was killed before it sent the task. */
export const FLEET_ANNEX_STRAY_MS = 24 * 3_600_000
/** Statements remembered for rows of others: a version has one per table, and whoever writes others into the log must not fill memory. */
export const FLEET_PUTS_KEPT = 200
/** How often a machine that follows the fleet looks without having heard the bell. */
export const FLEET_LOOK_MS = 2_000
/** How exactly a machine knows when it last heard of its fleet: written down no more often than this. */
export const FLEET_HEARD_MS = 1_000
/** A copy that has heard nothing for this long is said to be old by guard, hooks and shim: a link looks every two seconds. */
export const FLEET_COPY_OLD_MS = 60_000
/** The same for what a person asks: somebody is about to rely on "clear" or "nobody". */
export const FLEET_CHECK_OLD_MS = 5_000
/** Entries between two snapshots: applying this many takes about a second. */
export const FLEET_SNAPSHOT_EVERY = 20_000
/** What goes to or comes from the engine at once of a snapshot; each part has the time of an answer. */
export const FLEET_SNAPSHOT_PART_BYTES = 512 << 10
/** Parts of one snapshot: 128 MiB, packed. The longest state that is read packs to less, and whoever joins holds them all. */
export const FLEET_SNAPSHOT_PARTS_MAX = 256
/** How long a machine waits at most before it looks whether a snapshot is due, at random: of a fleet's machines one makes it. And whoever follows for less than that has other things to do. */
export const FLEET_SNAPSHOT_PAUSE_MS = 60_000
/** How long a snapshot that was begun is taken for one that is being made; past it whoever began is taken for killed. */
export const FLEET_SNAPSHOT_MAKING_MS = 10 * 60_000
/** Largest file that `fleet import` reads. */
export const FLEET_STATE_BYTES_MAX = 512 << 20
/** Longest URL of an engine. */
export const FLEET_URL_BYTES_MAX = 4_096
/** How far this machine's clock may be from the engine's before doctor says so. */
export const FLEET_CLOCK_MS = 5_000
/** Entries that status compares with the engine's: a failover loses seconds, not days. */
export const FLEET_PLACES_COMPARED = 2_000
/** Copies of a member that were put aside, one for each time that it was made anew: the engine has what is in them, but for what was lost lately. */
export const FLEET_COPIES_KEPT = 4
/** Names that a machine had before and is still known by; whoever is renamed more often than that has lost the first of them. */
export const FLEET_NAMES_KEPT = 16
/** Keys of sessions that others have taken the place of, on one machine. */
export const KEYS_EARLIER_MAX = 256
// hub
/** The port of `heimdall up` unless it is told another. */
export const HUB_PORT = 7_717
/** How long `heimdall open` waits for the hub that it starts, and `heimdall up --stop` for its end. */
export const HUB_START_MS = 30_000
export const HUB_STOP_MS = 10_000
/** A link is followed at once or not at all. */
export const HUB_LINK_MS = 300_000
/** Links that are good at the same time; the oldest goes. */
export const HUB_LINKS_MAX = 16
/** A browser that was not seen for this long comes by a new link. */
export const HUB_VISITOR_IDLE_MS = 7 * 86_400_000
/** Browsers that are let in at once; the one that came first goes. */
export const HUB_VISITORS_MAX = 64
/** Connections of all browsers and hooks together; further ones are refused. */
export const HUB_CONNECTIONS_MAX = 512
/** Connections to the unix socket of the hub: commands ask one thing each; further ones are refused. */
export const HUB_CONTROL_CONNECTIONS_MAX = 32
/** Processes that have asked the hub before and are looked at first when a new connection asks; past it the one that has not asked for longest. */
export const HUB_PEERS_MAX = 64
/** Body of one request. */
export const HUB_BODY_BYTES_MAX = 1 << 20
/** A request has come whole by then; a browser on this machine needs a moment. */
export const HUB_REQUEST_MS = 30_000
/** How long the end of the hub waits for what is being answered. */
export const HUB_CLOSE_MS = 2_000
/** Changes within this time are shown at once: no eye tells them apart, and a flood of them costs one look. */
export const HUB_SETTLE_MS = 80
/** Between two looks at the fleet while things change all the time. */
export const HUB_LOOK_MS_MIN = 250
/** And while nothing does: silence is no event, and makes an agent stale all the same. */
export const HUB_LOOK_IDLE_MS = 5_000
/** A comment in the feed now and then, so that both ends know that the other is there. */
export const HUB_FEED_BEAT_MS = 15_000
/** Events that wait for a browser that does not read; past it the connection is closed, and it comes back for the rest. */
export const HUB_FEED_QUEUE_BYTES = 8 << 20
/** Rows or calls in one message of the feed. */
export const HUB_FEED_ROWS_MAX = 200
/** Calls that have not ended are told again as they go on; this many are kept in mind. */
export const HUB_OPEN_CALLS_MAX = 500
/** Bytes of a terminal that wait for a browser; past it the session is read no further, and makes a gap and a redraw of it. */
export const HUB_TERMINAL_QUEUE_BYTES = 1 << 20
/** Two frames a second are enough to see that something moves. */
export const HUB_SCREENS_MS = 500
/** Lines of a thumbnail: more than any card shows. */
export const HUB_SCREEN_LINES_MAX = 60
/** Screens that are drawn at the same time. */
export const HUB_SCREENS_AT_ONCE = 4
/** Thumbnails of one message of the feed. */
export const HUB_SCREENS_TOLD_AT_ONCE = 8
/** Lines of a conversation in one answer. */
export const HUB_ROWS_MAX = 500
/** Files of a repository on the map; a larger one is shown without the smallest files. */
export const HUB_TREE_FILES_MAX = 60_000
/** What is shown of a diff at once. */
export const HUB_DIFF_BYTES_MAX = 512 << 10
/** Hits of each kind. */
export const HUB_HITS_MAX = 20
/** A page asks for several parts at once: they are told from one look. */
export const HUB_PICTURE_MS = 100
/** What git says of uncommitted files is good for this long: nobody decides by it. */
export const HUB_UNCOMMITTED_MS = 10_000
/** Waits that are over are shown for a working day. */
export const HUB_ANSWERED_MS = 12 * 60 * 60_000
/** Of the recorded terminal of a run, what a browser is given to play: the end of a longer one. */
export const HUB_CAST_BYTES_MAX = 16 << 20
/** Calls that are looked at for a timeline; a range with more is to be looked at closer. */
export const HUB_TIMELINE_CALLS_MAX = 200_000
/** And so many at a time. */
export const HUB_TIMELINE_CALLS_AT_ONCE = 5_000
// dispatch
/** A brief refers to what it is about; whoever repeats it pays for each word at every attempt. Past it, the message is refused. */
export const DISPATCH_BRIEF_BYTES_MAX = 256 << 10
/** Names in one list of a message: servers, tools, scopes. */
export const DISPATCH_NAMES_MAX = 64
/** One text of a result: a step, a reason, a summary. */
export const DISPATCH_TEXT_CHARS_MAX = 16 << 10

/** The description of a pull request that `task pr` opens. */
export const PR_BODY_BYTES_MAX = 32 << 10
/** A result is kept in a row, and sent whole with every look at it; what is larger goes to a file, and the result says so. */
export const DISPATCH_REPLY_BYTES_MAX = 256 << 10
/** Of a text that went to a file, what still stands in the result. */
export const DISPATCH_REPLY_CHARS_SHOWN = 16 << 10
/** Hints in front of an inline brief. */
export const INLINE_HINT_BYTES_MAX = 8 << 10
/** Braces in a peer's prose that may begin an object: each is looked at to its end. */
export const JSON_IN_TEXT_TRIES_MAX = 64
/** Attempts that say something about the task, before a person looks at it. */
export const DISPATCH_ATTEMPTS_MAX = 3
/** Attempts that failed after they had begun: the second one is the last. */
export const DISPATCH_FAILURES_MAX = 2
/** After trouble that passes. */
export const DISPATCH_BACKOFF_MS = 2_000
/** When every worker that could do a task is busy, and none says for how long. */
export const DISPATCH_RETRY_AFTER_S = 5
/** How long a task of each priority may wait before it goes ahead of an urgent one that has just come. */
export const DISPATCH_PATIENCE_MS = { urgent: 0, high: 60_000, normal: 600_000, low: 3_600_000 } as const
/** When a person is told that nobody can do a task; of a pressing one at once. */
export const DISPATCH_TELL_AFTER_MS = 300_000
/** For the window that a brief needs: less than any tokenizer makes of prose, so the estimate is on the safe side. */
export const DISPATCH_BYTES_PER_TOKEN = 3
/** How often the orchestrator looks without being told of a change. */
export const DISPATCH_LOOK_MS = 1_000
/** How often a worker that does not announce itself is asked. */
export const DISPATCH_PULL_MS = 10_000
/** How long a worker whose lease has ended is still asked for an attempt before that is lost. */
export const DISPATCH_LOST_AFTER_MS = 3_000
/** An answer of a peer; one that hangs is let go. */
export const PEER_ANSWER_MS = 10_000
/** Of one answer of a peer, and of one event of its stream: four times what it may be sent. Past it the answer counts as none. */
export const PEER_ANSWER_BYTES_MAX = 16 << 20
/** A peer without the extension may do a whole task before it answers the message. */
export const PEER_WORK_MS = 600_000
/** How often a task at a peer is looked at while no stream tells of it. */
export const PEER_POLL_MS = 1_000
/** A body of a request: the largest brief, twice, with each of its characters escaped, and all lists. Past it, 413; the rest is read within the time of a request, and thrown away. */
export const A2A_BODY_BYTES_MAX = 4 << 20
/** Connections to one server at a time; past it, the newest waits in the kernel. */
export const A2A_CONNECTIONS_MAX = 256
/** Requests must arrive within this time. */
export const A2A_REQUEST_MS = 30_000
/** What is being answered when a server is closed has this long to its end; a stream that goes on is cut. */
export const A2A_LAST_ANSWERS_MS = 1_000
/** How long an orchestrator of a fleet may be silent before another machine takes its place. */
export const ORCHESTRATOR_LEASE_MS = 45_000
/** How often a machine that stands by looks whether it may. */
export const ORCHESTRATOR_LOOK_MS = 5_000
/** How long an announce holds. A third of it is the pace of renewals. */
export const WORKER_TTL_S = 45
/** A message takes less than this from one machine to another; what is more is another clock. */
export const CLOCK_SKEW_MS_MIN = 5_000
/** Changes of a profile within this time are one announce. */
export const ANNOUNCE_SETTLE_MS = 1_000
/** How long an MCP server has to start, to answer the greeting and a ping. */
export const MCP_PROBE_MS = 5_000
/** How long the answer holds: a dispatch right after an announce does not start every server again. */
export const MCP_PROBE_KEPT_MS = 10_000
/** The same for an announce, which is renewed several times a minute: what changed since is found at the next task. */
export const MCP_ANNOUNCE_KEPT_MS = 60_000
/** Servers that are probed at the same time. */
export const MCP_PROBES_AT_ONCE = 4
/** A frame of a runtime: one line of its stream. */
export const FRAME_BYTES_MAX = 16 << 20
/** How long the run of an ended task may take to close before its worktree is left for the next start of the worker. */
export const TASK_CLOSE_WAIT_MS = 30_000
export const TASK_LOOK_MS = 100
/** How often `task add --wait` polls the progress of its task. */
export const TASK_PROGRESS_MS = 2_000
/** Between two looks at whether a worker with a time limit has tasks. */
export const WORKER_IDLE_LOOK_MS = 10_000
/** The worker that was started for a task is ready within this time, or its log says why not. */
export const WORKER_START_MS = 60_000
/** An agent that was told to end, at its budget or its deadline, has this long for it. */
export const TASK_ASKED_MS = 5_000
/** The rest of an agent's output after its end; a program that it left running may hold it open. */
export const TASK_DRAIN_MS = 2_000
/** HEIMDALL_RESULT_FILE. */
export const RESULT_FILE_BYTES_MAX = 1 << 20
/** A token of a peer. */
export const PEER_TOKEN_BYTES_MAX = 4 << 10
/** An agent of the demo waits so long for a person, or for whoever plays one: it must end by itself. */
export const DEMO_AGENT_WAIT_MS = 90_000
/** What a command of the demo prints; briefs are the longest of it. */
export const DEMO_OUTPUT_BYTES_MAX = 4 << 20
/** Agents of the demo share one index of git, which each holds for milliseconds. */
export const DEMO_COMMIT_TRIES = 20
/** Two minutes past which something hangs: the demo takes a minute, and is told to end. */
export const DEMO_MS_MAX = 180_000
/** How long a person has for the demo's question, at its normal pace, before it answers itself. */
export const DEMO_ANSWER_MS = 12_000
/** How often the demo asks its workers, until what they need answers. */
export const DEMO_LOOK_MS = 1_000
/** Past this what the demo has asked to end is killed. */
export const DEMO_END_MS = 5_000
