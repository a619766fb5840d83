// hm clean: removes what sessions that have ended left behind, and ends what lost ones did; or shows what it would do.
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError } from '../../../errors.ts'
import { refuseAgent } from '../../../person.ts'
import { readStat } from '../../../processes.ts'
import { removeIfThere } from '../../../storage/atomic-file.ts'
import { removeFileLock } from '../../../storage/file-lock.ts'
import { isListening } from '../../../sessions/listening.ts'
import { findListed, listSessions, filesIn } from '../../../sessions/session-files.ts'
import { sessionPaths } from '../../../wire/session-paths.ts'
import { type Orphan, orphansOf, settle } from '../../../sessions/settle.ts'
import type { Context, Run } from '../../command.ts'
import { exitOf } from '../../manners.ts'
import { duration } from '../../render/duration.ts'
import { inlineText } from '../../render/plain-text.ts'
import type { clean } from '../../table/session.ts'
import { whoEnds } from './locate.ts'
import { socketDirOf } from './socket-dir.ts'

const OLDER_THAN_MS = 86_400_000

export const run: Run<typeof clean> = async (context, { flags }) => {
  const dir = await socketDirOf(context, flags)
  const nowMs = context.clock.wallMs()
  const isForced = flags.force === true
  if (isForced) refuseAgent('removing what ended sessions have left')
  const { sessions, failed } = await lostSessions(context, dir, isForced)
  const olderThanMs = flags['older-than'] ?? OLDER_THAN_MS
  const left = leftovers(dir).flatMap((path) => sizeAndAge(path, nowMs) ?? [])
  const files = left.filter(({ age_ms }) => age_ms >= olderThanMs)
  if (isForced) for (const { path } of files) remove(path)
  for (const { message, hint } of failed)
    context.note(`error: ${message}${hint === undefined ? '' : `\nhint: ${hint}`}`)
  const lines = [
    ...sessions.map(({ id, processes }) => `${isForced ? 'ended' : 'would end'} session ${id}${list(processes)}`),
    ...files.map(({ path, bytes, age_ms }) => {
      const file = `${path} (${bytes} bytes, ${duration(age_ms)} old)`
      return isForced ? `removed ${file}` : `would remove ${file}`
    }),
  ].map((line) => `  ${line}`)
  const text = lines.length === 0 ? [nothing(left.length, olderThanMs)] : [head(isForced, files), ...lines]
  return {
    data: { removed: isForced, files, sessions },
    text: text.join('\n'),
    ...(failed[0] !== undefined && { exit: exitOf(failed[0], context.calledAs, context.isSeedName) }),
  }
}

/** `ls --all` shows ended sessions beside this: whoever wants them gone is told why they are not. */
function nothing(younger: number, olderThanMs: number): string {
  if (younger === 0) return 'Nothing to clean'
  const files = younger === 1 ? '1 file of an ended session is' : `${younger} files of ended sessions are`
  return `Nothing to clean: ${files} younger than ${duration(olderThanMs)}; --older-than 0s takes them too`
}

/** In the words that scripts of the field look for. */
function head(isForced: boolean, files: readonly { readonly path: string }[]): string {
  if (!isForced) return 'Nothing is removed without --force:'
  const logs = files.filter(({ path }) => path.endsWith('.log')).length
  return `Cleaned ${logs} log file(s), ${files.length - logs} other file(s):`
}

const list = (processes: readonly Orphan[]): string =>
  `, lost, still running: ${processes.map(({ pid, command }) => `${pid} ${inlineText(command)}`).join('; ')}`

interface LostSession {
  readonly id: string
  readonly processes: readonly Orphan[]
}

interface Lost {
  readonly sessions: readonly LostSession[]
  /** Why one of them could not be settled, which keeps none of the others. */
  readonly failed: readonly HeimdallError[]
}

/** Whatever their age: nobody watches over them any more. */
async function lostSessions(context: Context, dir: string, isForced: boolean): Promise<Lost> {
  const sessions: LostSession[] = []
  const failed: HeimdallError[] = []
  for (const { id, holder, state } of listSessions(dir)) {
    if (state !== 'lost') continue
    const processes = orphansOf(holder)
    try {
      const isAlive = isForced
        ? (await settle(dir, id, { by: whoEnds(context), clock: context.clock })) === 'alive'
        : await isListening(sessionPaths(dir, id).socket)
      if (!isAlive && processes.length > 0) sessions.push({ id, processes })
    } catch (error) {
      if (!(error instanceof HeimdallError && error.code === 'STORE_UNREADABLE')) throw error
      failed.push(error)
    }
  }
  return { sessions, failed }
}

/** Files of ours whose session is not running. Sockets and pid files are the sessions' own business, recordings the user's. */
function leftovers(dir: string): string[] {
  return filesIn(dir)
    .filter((name) => isLeftover(dir, name))
    .sort()
    .map((name) => join(dir, name))
}

const OF_SESSION = /^\.?(.+?)\.(?:log|exit\.json|kept|pid\.lock)$/
/** What a start writes before it takes its id. */
const OF_START = /^\..+\.(\d+)\.pid$/

function isLeftover(dir: string, name: string): boolean {
  const starter = OF_START.exec(name)?.[1]
  if (starter !== undefined) return readStat(Number(starter)) === undefined
  const id = OF_SESSION.exec(name)?.[1]
  if (id === undefined) return false
  const state = findListed(dir, id)?.state
  return state === undefined || state === 'ended'
}

function remove(path: string): void {
  const locked = /^(.+)\.lock$/.exec(path)?.[1]
  if (locked === undefined) removeIfThere(path)
  else removeFileLock(locked)
}

/** Nothing of what somebody else has removed meanwhile, and of a folder: whatever its name, it is none of ours. */
function sizeAndAge(path: string, nowMs: number): { path: string; bytes: number; age_ms: number } | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return undefined
  return { path, bytes: stats.size, age_ms: Math.max(0, Math.floor(nowMs - stats.mtimeMs)) }
}
