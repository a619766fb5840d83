// Where members keep what they need to reach their fleets. Light: every command that finds no store looks whether there is such a folder.
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { configDir, type Env } from '../paths.ts'

export const fleetsFolder = (env: Env): string => join(configDir(env), 'fleets')

/** Without a home there is none, and nobody needs one to work alone. */
export function hasFleets(env: Env): boolean {
  const { HOME = '', XDG_CONFIG_HOME = '' } = env
  return (isAbsolute(HOME) || isAbsolute(XDG_CONFIG_HOME)) && existsSync(fleetsFolder(env))
}
