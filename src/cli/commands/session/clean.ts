// hm clean: removes the logs and exit records of sessions that have ended, or shows what it would remove.
import { readdirSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../../../errors.ts'
import { findSession } from '../../../supervisor/session-files.ts'
import type { Run } from '../../command.ts'
import { duration } from '../../render/duration.ts'
import type { clean } from '../../table/session.ts'
import { socketDirOf } from './socket-dir.ts'

const OLDER_THAN_MS = 86_400_000

export const run: Run<typeof clean> = async (context, { flags }) => {
  const dir = await socketDirOf(context, flags)
  const nowMs = context.clock.wallMs()
  const files = leftovers(dir)
    .map((path) => ({ path, ...sizeAndAge(path, nowMs) }))
    .filter(({ age_ms }) => age_ms >= (flags['older-than'] ?? OLDER_THAN_MS))
  const isForced = flags.force === true
  if (isForced) for (const { path } of files) unlinkSync(path)
  const lines = files.map(({ path, bytes, age_ms }) => `  ${path} (${bytes} bytes, ${duration(age_ms)} old)`)
  const head =
    files.length === 0
      ? 'Nothing to clean'
      : `${isForced ? 'Removed' : 'Would remove'} ${files.length} ${files.length === 1 ? 'file' : 'files'}:`
  const tail = isForced || files.length === 0 ? [] : ['Run again with --force to remove them']
  return { data: { removed: isForced, files }, text: [head, ...lines, ...tail].join('\n') }
}

/** Files of ours whose session is not running. Sockets and pid files are the sessions' own business, recordings the user's. */
function leftovers(dir: string): string[] {
  return namesIn(dir).flatMap((name) => {
    const id = /^(.+?)\.(?:log|exit\.json)$/.exec(name)?.[1]
    if (id === undefined) return []
    const state = findSession(dir, id)?.state
    return state === undefined || state === 'ended' ? [join(dir, name)] : []
  })
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).sort()
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

function sizeAndAge(path: string, nowMs: number): { bytes: number; age_ms: number } {
  const stats = statSync(path)
  return { bytes: stats.size, age_ms: Math.max(0, Math.floor(nowMs - stats.mtimeMs)) }
}
