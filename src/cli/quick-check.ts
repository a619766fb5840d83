// The clear answer of `claim check` without the frame. Whatever else there is to say, the frame runs the command from the start and says it.
import { systemClock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import type { Env } from '../paths.ts'
import { isClearForAll } from './commands/claim/check.ts'

export { clearText } from './commands/claim/check.ts'

export async function isClear(scopes: readonly string[], env: Env, cwd: string): Promise<boolean> {
  try {
    return await isClearForAll({ cwd, env, clock: systemClock, configFile: undefined }, scopes)
  } catch (error) {
    // Bad scopes, a broken store: the frame meets the same error and reports it in full.
    if (error instanceof HeimdallError) return false
    throw error
  }
}
