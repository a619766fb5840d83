// Snoozed waits: a file of this user with the time at which each of them counts again.
import { dirname, join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { SNOOZED_MAX } from '../../limits.ts'
import { type Env, stateDir } from '../../paths.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { withFileLockNow } from '../../storage/file-lock.ts'

const snoozedPath = (env: Env): string => join(stateDir(env), 'snoozed.json')

/** Wall times by id of the wait. An invalid file counts as none, so that every wait is shown. */
export function readSnoozed(env: Env): ReadonlyMap<string, number> {
  const text = readFileIfThere(snoozedPath(env))?.toString('utf8')
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

/** `untilMs` at or before now ends the snooze. Expired entries are dropped. */
export function snooze(env: Env, waitId: string, untilMs: number, nowMs: number): void {
  const path = snoozedPath(env)
  ensureFolder(dirname(path))
  withFileLockNow(path, () => {
    const all = [...readSnoozed(env)].filter(([id, until]) => id !== waitId && until > nowMs)
    if (untilMs > nowMs) all.push([waitId, untilMs])
    if (all.length > SNOOZED_MAX)
      throw new HeimdallError('USAGE', `${all.length} waits are snoozed already, limit ${SNOOZED_MAX}`)
    replaceFile(path, `${JSON.stringify(Object.fromEntries(all))}\n`, { mode: 0o600 })
  })
}
