// Waits that a person has put off: a small file of this user's, in which each comes back by itself when its time has come.
import { dirname, join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { LATER_MAX } from '../../limits.ts'
import { type Env, stateDir } from '../../paths.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { withFileLockNow } from '../../storage/file-lock.ts'

const laterPath = (env: Env): string => join(stateDir(env), 'later.json')

/** Wall readings by id of the wait. A file that is none of ours is as good as none: then everything counts. */
export function readLater(env: Env): ReadonlyMap<string, number> {
  const text = readFileIfThere(laterPath(env))?.toString('utf8')
  if (text === undefined) return new Map()
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return new Map()
    return new Map(Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return new Map()
  }
}

/** `untilMs` at or before now takes it back. What is over is forgotten on the way. */
export function putOff(env: Env, waitId: string, untilMs: number, nowMs: number): void {
  const path = laterPath(env)
  ensureFolder(dirname(path))
  withFileLockNow(path, () => {
    const all = [...readLater(env)].filter(([id, until]) => id !== waitId && until > nowMs)
    if (untilMs > nowMs) all.push([waitId, untilMs])
    if (all.length > LATER_MAX)
      throw new HeimdallError('USAGE', `${all.length} waits are put off already, limit ${LATER_MAX}`)
    replaceFile(path, `${JSON.stringify(Object.fromEntries(all))}\n`, { mode: 0o600 })
  })
}
