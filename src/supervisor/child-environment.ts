// The environment that the child of a session sees.
import type { Env } from '../paths.ts'
import { KEY_VARIABLE, SUPERVISOR_VARIABLE } from '../session-variables.ts'
import type { SessionOptions } from '../wire/session-options.ts'

/** Everything that the supervisor was given, what the user added, and then the session's id and its key, which nobody overrides. */
export function childEnvironment(options: SessionOptions, inherited: Env, key: string): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(inherited)) if (value !== undefined) env[name] = value
  // The size of somebody else's terminal, and a mark that is the supervisor's alone.
  for (const name of ['COLUMNS', 'LINES', SUPERVISOR_VARIABLE]) delete env[name]
  env['TERM'] ??= 'xterm-256color'
  env['PWD'] = options.cwd
  for (const { name, value } of options.env) env[name] = value
  env[options.sessionEnvVar] = options.id
  env[KEY_VARIABLE] = key
  return env
}
