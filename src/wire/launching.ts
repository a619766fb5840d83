// How a session's process is told that somebody waits for its readiness. Apart from the rest: every command loads it. Pure.

/** The process writes one line here and closes it, when it is told that somebody reads it. */
export const READY_FD = 3
export const ANNOUNCE_ARGUMENT = '--announce'
