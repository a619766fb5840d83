// Whether anybody still reads the pipe that a command writes to. A write tells, but a command that follows may have nothing to write for hours, and Node has no way to wait for it.
import { fstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { type Clock, pause } from '../clock.ts'
import { isErrno } from '../errors.ts'
import { OUTPUT_READER_LOOK_MS } from '../limits.ts'

/** An open end of the pipe, as /proc names it. */
type End = `/proc/${string}/fd/${string}`

const STDOUT = 1

/**
 * Calls `onGone` once the last reader has gone; over with the signal. Only where /proc shows a reader at all: one of another
 * user, or outside a container, is nobody that could be seen to go.
 */
export async function noticeReaderGone(clock: Clock, signal: AbortSignal, onGone: () => void): Promise<void> {
  const pipe = pipeOf(STDOUT)
  if (pipe === undefined) return
  let reader = readerOf(pipe)
  while (reader !== undefined && !signal.aborted) {
    await pause(clock, OUTPUT_READER_LOOK_MS, signal)
    if (isOpen(reader, pipe)) continue
    // It may have handed the pipe on, as a shell does.
    reader = readerOf(pipe)
    if (reader === undefined) onGone()
  }
}

/** What links to the pipe read: `pipe:[4711]`, or the path of a named one. */
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

/** One that may not be looked at any more, after `sudo` took the place of a shell, is there. */
function isOpen(end: End, pipe: string): boolean {
  try {
    return readlinkSync(end) === pipe
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH')) return false
    if (isErrno(error, 'EACCES', 'EPERM')) return true
    throw error
  }
}

/** Octal, as of `open`: the last two bits say which way. */
function isToRead(pid: string, fd: string): boolean {
  const flags = /^flags:\s*(\d+)/m.exec(unlessGone(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'), ''))?.[1]
  return flags !== undefined && (Number.parseInt(flags, 8) & 3) !== WRITE_ONLY
}

const WRITE_ONLY = 1

const namesIn = (folder: string): string[] => unlessGone(() => readdirSync(folder), [])
const linkOf = (path: string): string | undefined => unlessGone(() => readlinkSync(path), undefined)

/** Processes end while they are looked at, and those of others may not be. */
function unlessGone<T>(look: () => T, otherwise: T): T {
  try {
    return look()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL')) return otherwise
    throw error
  }
}
