// The variables that say who somebody is. What each of them is worth is for `caller.ts` and `place.ts` to say.
import { KEY_VARIABLE as SESSION_KEY_VARIABLE, SESSION_VARIABLE } from '../../session-variables.ts'

/** What a session is told when it is started, and a caller may say of itself: who it is. The first that is set counts. */
export const NAME_VARIABLES = ['HEIMDALL_HAID', 'HEIMDALL_AGENT_ID', 'BB_AGENT'] as const
/** The secret of a session that was started for an agent: in its environment, and in no file. */
export const SECRET_VARIABLE = 'HEIMDALL_SECRET'
export { SESSION_KEY_VARIABLE, SESSION_VARIABLE }
/** Of the issue tracker that seed 002 comes from; a name where nothing else gives one. */
export const TRACKER_VARIABLE = 'BD_ACTOR'

/** Where one of these is set, an agent may be at work; for hooks that ask a shell first. */
export const AGENT_VARIABLES = [...NAME_VARIABLES, TRACKER_VARIABLE, SESSION_VARIABLE, SESSION_KEY_VARIABLE] as const
