// Detects that the reader of our output pipe has gone. A write would fail, but a following command may have nothing to write for hours, and Node has no event for it.
import { fstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { type Clock, pause } from '../clock.ts'
import { isErrno } from '../errors.ts'
import { OUTPUT_READER_LOOK_MS } from '../limits.ts'

/** An open end of the pipe, as /proc names it. */
type End = `/proc/${string}/fd/${string}`

const STDOUT = 1

/**
 * Calls `onGone` once the last reader has gone; stops with the signal. Works only where /proc shows the reader: not one
 * of another user or outside a container.
 */
export async function noticeReaderGone(clock: Clock, signal: AbortSignal, onGone: () => void): Promise<void> {
  const pipe = pipeOf(STDOUT)
  if (pipe === undefined) return
  let reader = readerOf(pipe)
  while (reader !== undefined && !signal.aborted) {
    await pause(clock, OUTPUT_READER_LOOK_MS, signal)
    if (isOpen(reader, pipe)) continue
    // It may have passed the pipe on, as a shell does.
    reader = readerOf(pipe)
    if (reader === undefined) onGone()
  }
}

/** The link target: `pipe:[4711]`, or the path of a named pipe. */
function pipeOf(fd: number): string | undefined {
  return process.platform === 'linux' && fstatSync(fd).isFIFO() ? linkOf(`/proc/self/fd/${fd}`) : undefined
}

function readerOf(pipe: string): End | undefined {
  for (const pid of namesIn('/proc').filter((name) => /^\d+$/.test(name)))
    for (const fd of namesIn(`/proc/${pid}/fd`)) {
      const end: End = `/proc/${pid}/fd/${fd}`
      if (linkOf(end) === pipe && isToRead(pid, fd)) return end
    }
  return undefined
}

/** A reader that may no longer be inspected (a shell replaced by `sudo`) counts as present. */
function isOpen(end: End, pipe: string): boolean {
  try {
    return readlinkSync(end) === pipe
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH')) return false
    if (isErrno(error, 'EACCES', 'EPERM')) return true
    throw error
  }
}

/** `flags` are octal, as for `open`; the last two bits are the access mode. */
function isToRead(pid: string, fd: string): boolean {
  const flags = /^flags:\s*(\d+)/m.exec(unlessGone(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'), ''))?.[1]
  return flags !== undefined && (Number.parseInt(flags, 8) & 3) !== WRITE_ONLY
}

const WRITE_ONLY = 1

const namesIn = (folder: string): string[] => unlessGone(() => readdirSync(folder), [])
const linkOf = (path: string): string | undefined => unlessGone(() => readlinkSync(path), undefined)

/** Processes end while they are inspected, and those of other users cannot be. */
function unlessGone<T>(look: () => T, otherwise: T): T {
  try {
    return look()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL')) return otherwise
    throw error
  }
}
