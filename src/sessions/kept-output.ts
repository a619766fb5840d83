// What sessions said that have ended: read for those who ask, and forgotten with age.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { KEPT_AGE_MS } from '../limits.ts'
import { readFileIfThere, removeIfThere } from '../storage/atomic-file.ts'
import { type KeptOutput, parseKept } from '../wire/kept-output.ts'
import { sessionPaths } from '../wire/session-paths.ts'
import { findListed, filesIn } from './session-files.ts'

/** Nothing when nothing was kept. */
export function readKept(dir: string, id: string): KeptOutput | undefined {
  const file = readFileIfThere(sessionPaths(dir, id).kept)
  return file === undefined ? undefined : parseKept(file)
}

/**
 * Removes what has been kept for long enough, of all sessions of the folder that have ended. Housekeeping: what cannot be
 * removed stays, and `hm clean` says why.
 */
export function forgetOld(dir: string, nowMs: number): void {
  for (const name of filesIn(dir)) {
    const id = /^(.+)\.kept$/.exec(name)?.[1]
    const changedMs = id === undefined ? undefined : statSync(join(dir, name), { throwIfNoEntry: false })?.mtimeMs
    if (id === undefined || changedMs === undefined || nowMs - changedMs < KEPT_AGE_MS) continue
    const state = findListed(dir, id)?.state
    if (state === 'ended' || state === undefined) removeIfOurs(join(dir, name))
  }
}

function removeIfOurs(path: string): void {
  try {
    removeIfThere(path)
  } catch (error) {
    if (!(error instanceof HeimdallError && error.code === 'STORE_UNREADABLE')) throw error
  }
}
