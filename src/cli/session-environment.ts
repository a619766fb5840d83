// What a session is started with: the starter's environment, without a name that is not the starter's to give.
import { NAME_VARIABLES, SECRET_VARIABLE } from '../coordination/who/variables.ts'
import type { Env } from '../paths.ts'

/**
 * A session acts as the agent that it is started for. Outside of sessions whoever starts it decides for whom; inside,
 * a name that no secret comes with would make any agent another, so the new session is itself.
 */
export async function sessionEnvironment(env: Env): Promise<Env> {
  const isSet = (name: string): boolean => (env[name] ?? '') !== ''
  if (isSet(SECRET_VARIABLE) || !NAME_VARIABLES.some(isSet)) return env
  // Loaded here: most sessions are started for nobody in particular.
  const { isInSession } = await import('../coordination/who/place.ts')
  if (!isInSession()) return env
  return Object.fromEntries(Object.entries(env).filter(([name]) => !NAME_VARIABLES.some((one) => one === name)))
}
