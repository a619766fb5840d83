// The environment that a session is started with.
import { NAME_VARIABLES, SECRET_VARIABLE } from '../coordination/who/variables.ts'
import type { Env } from '../paths.ts'

/**
 * A session acts as the agent that it is started for. Inside a session, a name without its secret would let an agent
 * act as another one, so such variables are dropped.
 */
export async function sessionEnvironment(env: Env): Promise<Env> {
  const isSet = (name: string): boolean => (env[name] ?? '') !== ''
  if (isSet(SECRET_VARIABLE) || !NAME_VARIABLES.some(isSet)) return env
  // Loaded here: most sessions are started without such variables.
  const { isInSession } = await import('../coordination/who/place.ts')
  if (!isInSession()) return env
  return Object.fromEntries(Object.entries(env).filter(([name]) => !NAME_VARIABLES.some((one) => one === name)))
}
