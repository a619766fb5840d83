// protocol.log: one plain, tab-separated line per action (seed 000), appended by every room that does something.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type Clock, isoSeconds } from '../clock.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import { LOG_DETAIL_CHARS_MAX } from '../limits.ts'
import { openAppendLog } from './append-log.ts'
import { isThere, pathToRead, pathToWrite, type PlanningFolder } from './planning-folder.ts'
import { row } from './columns.ts'

export const LOG_FILE = 'protocol.log'

/** Where the log is, and whom to tell that it could not be written. */
export interface LogPlace extends PlanningFolder {
  readonly clock: Pick<Clock, 'wallMs'>
  /** One line for the person at the terminal. */
  readonly note: (line: string) => void
}

export type LogActor =
  | 'protocol'
  | 'resolve'
  | 'blackboard'
  | 'capsule'
  | 'brief'
  | 'ledger'
  | 'validate'
  | 'gate'
  | 'claim'
  | 'haid'
  | 'decision'
  | 'conflict'
  | 'note'
  | 'mcp'

/**
 * Appends one line. The action itself is done by then, so a log that cannot be written is said on stderr and
 * does not undo it; where there is no planning folder, a read does not make one.
 */
export function record(planning: LogPlace, actor: LogActor, action: string, detail: string): void {
  if (!isThere(planning.dir)) return
  const cut = detail.length > LOG_DETAIL_CHARS_MAX ? `${detail.slice(0, LOG_DETAIL_CHARS_MAX)}…` : detail
  try {
    const log = openAppendLog(pathToWrite(planning, LOG_FILE), { mode: 0o644 })
    try {
      log.append(row(isoSeconds(planning.clock.wallMs()), actor, action, cut))
    } finally {
      log.close()
    }
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    planning.note(`note: ${LOG_FILE} was not written: ${error.message}`)
  }
}

/** The last `count` lines, read from the end: the log grows for ever. */
export function tail(planning: PlanningFolder, count: number): string[] {
  const path = pathToRead(planning, LOG_FILE)
  if (path === undefined || count === 0) return []
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw new HeimdallError('STORE_UNREADABLE', `cannot read ${path}: ${String(error)}`, { cause: error })
  }
  try {
    const chunks: Buffer[] = []
    let seen = 0
    for (let end = fstatSync(fd).size; end > 0 && seen <= count;) {
      const chunk = Buffer.alloc(Math.min(end, 64 << 10))
      end -= chunk.length
      readSync(fd, chunk, 0, chunk.length, end)
      seen += newlines(chunk)
      chunks.unshift(chunk)
    }
    const text = Buffer.concat(chunks)
    const lines = text.toString('utf8').split('\n')
    if (lines.at(-1) === '') lines.pop()
    return lines.slice(-count)
  } finally {
    closeSync(fd)
  }
}

function newlines(bytes: Buffer): number {
  let found = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) found += 1
  return found
}
