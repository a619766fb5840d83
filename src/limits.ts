// Every bound in the product with its reason, so that no queue, buffer, retry or timer is unbounded by accident.

// -- storage
/** A line this long still goes out in one `write(2)` and is read into memory whole; larger bodies go to side files by hash. */
export const LOG_LINE_BYTES_MAX = 64 << 10
/** How long a command waits for another process that holds a file's lock before it says STORE_BUSY. */
export const LOCK_WAIT_MS = 10_000
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
/** SQLite's own wait for a writer; a transaction of ours takes well under a millisecond. */
export const SQLITE_BUSY_MS = 10_000
/** How long a store may be empty while another process makes it: the first page follows the file within milliseconds. */
export const STORE_MAKING_MS = 1_000
/** doctor asks whether a store can be written to at all; who holds it for longer than this is worth a line. */
export const DOCTOR_BUSY_MS = 1_000
/** Counters of runs that doctor looks into: the newest, as the old ones are nobody's any more. */
export const DOCTOR_STORES_MAX = 200
/** A write-ahead log that grew in a burst is cut back to this after its checkpoint. */
export const SQLITE_WAL_BYTES_KEPT = 8 << 20
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
/** Canonical text is kept whole until its last key is known, with offsets of 32 bits. */
export const JSON_BYTES_MAX = 1 << 30

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
/** Output that a slow consumer of the client library has not taken yet; past it the socket is not read. */
export const CLIENT_QUEUE_BYTES_MAX = 1 << 20
/** Typed or pasted into an attached terminal while the program does not read; past it the viewer is left. */
export const TYPED_BYTES_MAX = 16 << 20
/** A terminal says its colours within a millisecond or two; one far away is told of later, and does not hold up a start. */
export const OUTER_COLORS_MS = 50
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
/** What a client that lost output is given first when it reads again: the latest screenfuls, not history. */
export const RESUME_BYTES = 256 << 10
/** From SIGTERM to SIGKILL. */
export const KILL_GRACE_MS = 5_000
/** Of what a session said, on disk beside its record, besides its last screen; less where its scrollback is less. */
export const KEPT_OUTPUT_BYTES_MAX = 4 << 20
/** How far behind the session that file may be: what a supervisor that is killed takes with it. */
export const KEPT_EVERY_MS = 1_000
/** How often keepers of a session hear that something is going on: an agent's silence is counted in minutes. */
export const ACTIVITY_MS = 1_000
/** How often a keeper looks for a session that broke off, or at what a lost one has left. */
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
/** How long a session still answers after its child has ended. */
export const EXIT_LINGER_MS = 1_000
/** How long a session that has ended, and still answers, may keep others waiting who want its id. */
export const ID_LINGER_MS = EXIT_LINGER_MS * 10
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
/** An escape sequence longer than this (an image) may be cut; waiting for its end would need memory without bound. */
export const SEQUENCE_BYTES_MAX = 64 << 10
/** After typing, the time that a program has to take its question away; what still asks then is raised again. */
export const ANSWER_SETTLE_MS = 1_000
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
/** Merges add up what several machines wrote before one of them sets it aside; a larger file is passed over. */
export const REMOTE_EVENTS_BYTES_MAX = 16 << 20
/** Asking git who brought a line must not hold a command up: past these nobody is named. */
export const BLAME_MS_MAX = 5_000
export const BLAME_BYTES_MAX = 64 << 20
export const BLAME_RANGES_MAX = 64
/** How far back git is asked who brought a claim file: many times the longest lease, so that what is older holds nothing, and few commits even of a busy project. */
export const BRINGER_DAYS_MAX = 30

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
/** Links on the way to one path, as Linux has it; more lead in a circle. */
export const LINKS_FOLLOWED_MAX = 40
/** A breaker keeps this many times of a key; more would be a rate limit. */
export const BREAKER_THRESHOLD_MAX = 1_000
/** Plans kept for tools seen; a client that invents names pays for its own plans and nobody else's. */
export const POLICY_PLANS_MAX = 2_048
/** The longest wait that a throttled agent is told: a bucket that never has enough again is asked once a day. */
export const THROTTLE_MS_MAX = 86_400_000
/** Windows and dedupe entries kept in memory, twice; past it the older half is forgotten, before its time if need be. */
export const POLICY_WINDOWS_MAX = 32_768
/** Budgets and buckets kept in memory; they may not be forgotten, so past it calls take decision_on_error. */
export const POLICY_BUDGETS_MAX = 100_000
/** Changes of a run's counters after which one process sweeps out those that have no effect any more. */
export const COUNTERS_SWEEP_EVERY = 4_096
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
/** How often a follower of a record looks where the system does not tell it of changes. */
export const RECORD_POLL_MS = 500
/** And while somebody writes. */
export const RECORD_BUSY_MS = 5
/** Runs of dead processes that one start looks after; the rest is left to the next one. */
export const ABANDONED_RUNS_MAX = 32

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
/** Read from the client while its server or the record is behind: the end of input stands behind what a pipe still holds. */
export const READ_AHEAD_BYTES_MAX = 1 << 20
/** Of one line of stderr that is wrapped in an event: escaped at its worst it still fits a line of a log. */
export const LOG_TEXT_BYTES_MAX = 8 << 10
/** Pieces in which a held request is sent on. */
export const REPLAY_CHUNK_BYTES = 256 << 10
export const PASSED_BYTES_UNFREED_MAX = 16 << 20 // buffers that a shim has read and is done with; then a minor collection frees them
/** After the end of input an upstream that has nothing left to answer gets this long to go by itself. */
export const UPSTREAM_EOF_MS = 300
/** The same with calls still open; it begins anew with all that the upstream takes or answers. */
export const UPSTREAM_DRAIN_MS = 1_000
/** A server that has closed a pipe gets this long to exit, so that its exit tells what it was; calls wait for it. */
export const UPSTREAM_HANGUP_MS = 3_000
/** From SIGTERM to SIGKILL (seed 004 §6.3). */
export const UPSTREAM_GRACE_MS = 2_000
/** How often a shim looks whether its parent is still there; most clients are noticed at once by the end of stdin. */
export const PARENT_WATCH_MS = 1_000
/** Tools of which a shim remembers what their server says; the rest count as dangerous. */
export const TOOLS_ANNOTATED_MAX = 10_000
/** A call is held this long for a person's answer unless its rule says otherwise: hosts give a call a minute or more. */
export const ASK_WAIT_MS = 20_000
/** And never longer: past a minute hosts give up, and the answer would go to nobody. */
export const ASK_WAIT_MS_MAX = 50_000
/** Calls held at once; further ones are answered without waiting. */
export const ASK_HELD_MAX = 64
/** Questions of one run that are open at once, more than anybody answers; past it calls are refused and nobody is asked, until some are answered. */
export const ASK_OPEN_MAX = 256
/** Questions of one run that were answered or closed and can still be listed. */
export const ASK_ANSWERED_KEPT = 1_000
/** What a killed shim has left of its questions is removed after this time, which no shim needs to begin. */
export const SOLO_KEPT_MS = 600_000
/** How long the end of a shim waits until the session knows that nobody is asked any more. */
export const NOTICE_CLOSE_MS = 1_000
/** How often a shim looks whether a person has answered, while somebody waits; and how often while only the agent may come back. */
export const ASK_LOOK_MS = 200
export const ASK_LOOK_IDLE_MS = 2_000
/** What a person is shown of a call's arguments. */
export const ASK_PREVIEW_BYTES = 2_048
/** What a client says of itself: name, version, capabilities. */
export const CLIENT_META_BYTES_MAX = 16 << 10
/** One secret; a variable of a process may have twice that on Linux. */
export const SECRET_BYTES_MAX = 64 << 10
/** A shorter secret would be found in every text, and is refused unless nobody is to look for it. */
export const SECRET_SEARCHED_BYTES_MIN = 4
/** A shorter one is searched for, with a warning: what looks like it by chance is taken out too. */
export const SECRET_SURE_BYTES_MIN = 8
/** Bindings of one server, and their file: what is looked for grows with their number. */
export const SECRET_BINDINGS_MAX = 200
export const SECRET_BINDINGS_BYTES_MAX = 1 << 20
/** A keychain may ask its user to unlock it; a host does not wait much longer for its server. */
export const KEYCHAIN_WAIT_MS = 20_000
/** Changes of the policy file within this time are one change. */
export const POLICY_SETTLE_MS = 50
