// Every bound in the product with its reason, so that no queue, buffer, retry or timer is unbounded by accident.

// -- storage
/** One `write(2)` of this size with O_APPEND was never seen torn without a crash; larger bodies go to side files by hash. */
export const LOG_LINE_BYTES_MAX = 64 << 10
/** How long a command waits for another process that holds a file's lock before it says STORE_BUSY. */
export const LOCK_WAIT_MS = 10_000
/** SQLite's own wait for a writer; a transaction of ours takes well under a millisecond. */
export const SQLITE_BUSY_MS = 10_000
/** State files are read whole; larger ones are not ours. */
export const STATE_FILE_BYTES_MAX = 64 << 20

// -- canonical
/** Deeper JSON is refused before a recursive reader can run out of stack. */
export const JSON_DEPTH_MAX = 1_000

// -- config
/** A configuration file is written by hand; anything larger is a mistake or an attack. */
export const CONFIG_BYTES_MAX = 256 << 10

// -- wire
/** Seed 001 names no cap; the origin's is 1 MiB, checked on the header before memory is taken. */
export const FRAME_PAYLOAD_BYTES_MAX = 1 << 20

// -- supervisor

// -- briefing

// -- scopes and coordination

// -- mcp and guard

// -- policy, events, shim
