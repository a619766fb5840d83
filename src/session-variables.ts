// The variables by which the processes of a session are told from others.

/** Set in the environment of a supervisor and never handed on: a session inside a session is not part of its tree. */
export const SUPERVISOR_VARIABLE = 'HEIMDALL_SUPERVISOR'
/** In the environment of the child and so, unless they clear it, of all its descendants: whose session they are of. */
export const KEY_VARIABLE = 'HEIMDALL_SESSION_KEY'
/** Beside it, unless a setting gives it another name: the id that the session was started under. */
export const SESSION_VARIABLE = 'HEIMDALL_SESSION_ID'
