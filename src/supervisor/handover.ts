// What the starter of a session and its process agree on.

/** Set in the environment of a supervisor and never handed on: a session inside a session is not part of its tree. */
export const SUPERVISOR_VARIABLE = 'HEIMDALL_SUPERVISOR'
/** In the environment of the child and so, unless they clear it, of all its descendants: whose session they are of. */
export const KEY_VARIABLE = 'HEIMDALL_SESSION_KEY'
/** The session's process writes one line here and closes it, when it is told that somebody reads it. */
export const READY_FD = 3
export const ANNOUNCE_ARGUMENT = '--announce'
