// What sessions leave behind: files of ended ones, and processes of those whose supervisor was killed.
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { readStat } from '../processes.ts'
import { removeIfThere } from '../storage/atomic-file.ts'
import { removeFileLock } from '../storage/file-lock.ts'
import { sessionPaths } from '../wire/session-paths.ts'
import { isListening } from './listening.ts'
import { filesIn, findListed, listSessions } from './session-files.ts'
import { type Orphan, orphansOf, settle } from './settle.ts'

export interface LostSession {
  readonly id: string
  readonly processes: readonly Orphan[]
}

export interface Lost {
  readonly sessions: readonly LostSession[]
  /** Errors of sessions that could not be settled; the others are. */
  readonly failed: readonly HeimdallError[]
}

/** Sessions whose supervisor was killed and whose processes still run. With `by`, which names who does it, they are ended. */
export async function lostSessions(
  dir: string,
  { by, clock }: { readonly by: string | undefined; readonly clock: Clock },
): Promise<Lost> {
  const sessions: LostSession[] = []
  const failed: HeimdallError[] = []
  for (const { id, holder, state } of listSessions(dir)) {
    if (state !== 'lost') continue
    const processes = orphansOf(holder)
    try {
      const isAlive =
        by !== undefined
          ? (await settle(dir, id, { by, clock })) === 'alive'
          : await isListening(sessionPaths(dir, id).socket)
      if (!isAlive && processes.length > 0) sessions.push({ id, processes })
    } catch (error) {
      if (!(error instanceof HeimdallError && error.code === 'STORE_UNREADABLE')) throw error
      failed.push(error)
    }
  }
  return { sessions, failed }
}

/** Files of sessions that do not run: logs, exit records, kept output. Recordings belong to the user. */
export function leftoverFiles(dir: string, nowMs: number): LeftoverFile[] {
  return filesIn(dir)
    .filter((name) => isLeftover(dir, name))
    .sort()
    .flatMap((name) => sizeAndAge(join(dir, name), nowMs) ?? [])
}

/** The names are those of `hm clean --json`. */
export interface LeftoverFile {
  readonly path: string
  readonly bytes: number
  readonly age_ms: number
}

const OF_SESSION = /^\.?(.+?)\.(?:log|exit\.json|kept|pid\.lock)$/
/** Written by a start before it takes its id. */
const OF_START = /^\..+\.(\d+)\.pid$/

function isLeftover(dir: string, name: string): boolean {
  const starter = OF_START.exec(name)?.[1]
  if (starter !== undefined) return readStat(Number(starter)) === undefined
  const id = OF_SESSION.exec(name)?.[1]
  if (id === undefined) return false
  const state = findListed(dir, id)?.state
  return state === undefined || state === 'ended'
}

export function removeLeftover(path: string): void {
  const locked = /^(.+)\.lock$/.exec(path)?.[1]
  if (locked === undefined) removeIfThere(path)
  else removeFileLock(locked)
}

/** Undefined for a file that was removed meanwhile, and for a folder, which is not ours. */
function sizeAndAge(path: string, nowMs: number): LeftoverFile | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return undefined
  return { path, bytes: stats.size, age_ms: Math.max(0, Math.floor(nowMs - stats.mtimeMs)) }
}
