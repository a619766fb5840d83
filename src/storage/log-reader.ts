// Reading a line log that others are writing: whole lines with their offsets, from any offset on, and on as it grows.
import type { Clock } from '../clock.ts'
import { pause } from '../clock.ts'
import { isErrno } from '../errors.ts'
import { LOG_FOLLOW_MS, LOG_LINE_BYTES_MAX, LOG_READ_BYTES } from '../limits.ts'
import { onDisk } from './faults.ts'
import { type Fs, isStillNamed, O, realFs } from './fs.ts'
import { openPlainFile } from './plain-file.ts'

const NEWLINE = 0x0a

export interface LogLine {
  /** Where the line begins, in bytes. */
  readonly offset: number
  /** Where the next one begins: reading from here goes on after this line. */
  readonly next: number
  readonly text: string
  /**
   * The line cannot have been written whole: it holds zero bytes, half a character or more than the cap.
   * A line cut between two characters is not seen here; what does not parse must be treated the same.
   */
  readonly isTorn: boolean
}

export interface ReadOptions {
  readonly from?: number
  readonly fs?: Fs
}

/** The whole lines that are there now. An unterminated last line is left out: its writer may be at work. No file is an empty log. */
export function* readLog(path: string, options: ReadOptions = {}): Generator<LogLine, void, void> {
  const fs = options.fs ?? realFs
  const fd = openIfThere(fs, path)
  if (fd === undefined) return
  try {
    yield* readLines(fs, path, fd, options.from ?? 0)
  } finally {
    fs.close(fd)
  }
}

/**
 * Like `readLog`, and then waits for more until the signal aborts. When the file is removed and made anew, or cut,
 * it goes on with the new one from the start; its offsets begin at 0 again.
 */
export async function* followLog(
  path: string,
  options: ReadOptions & { readonly clock: Clock; readonly signal: AbortSignal },
): AsyncGenerator<LogLine, void, void> {
  const { fs = realFs, clock, signal } = options
  const isAborted = (): boolean => signal.aborted
  let position = options.from ?? 0
  let fd: number | undefined
  try {
    while (!isAborted()) {
      // Asked before reading: what was written before the file lost its name is then still read.
      const isLast = fd !== undefined && !onDisk(path, () => isStillNamed(fs, path, fd ?? -1))
      fd ??= openIfThere(fs, path)
      if (fd !== undefined) {
        if (fs.stat(fd).size < position) position = 0
        for (const line of readLines(fs, path, fd, position)) {
          position = line.next
          yield line
          if (isAborted()) return
        }
        if (isLast) {
          fs.close(fd)
          fd = undefined
          position = 0
          continue
        }
      }
      await pause(clock, LOG_FOLLOW_MS, signal)
    }
  } finally {
    if (fd !== undefined) fs.close(fd)
  }
}

function openIfThere(fs: Fs, path: string): number | undefined {
  try {
    return onDisk(path, () => openPlainFile(fs, path, O.O_RDONLY))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}

function* readLines(fs: Fs, path: string, fd: number, from: number): Generator<LogLine, void, void> {
  const chunk = Buffer.alloc(LOG_READ_BYTES)
  // The beginning of a line whose end is in a later chunk; of an overlong one only the length is kept.
  let held: Buffer[] = []
  let heldBytes = 0
  let position = from
  for (;;) {
    const count = onDisk(path, () => fs.read(fd, chunk, position))
    if (count === 0) return
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1 && end < count; end = chunk.indexOf(NEWLINE, start)) {
      const offset = position + start - heldBytes
      const next = position + end + 1
      const rest = chunk.subarray(start, end)
      const bytes = held.length === 0 ? rest : Buffer.concat([...held, rest])
      held = []
      heldBytes = 0
      start = end + 1
      // Empty lines come from two writers sealing the same torn tail.
      if (next - offset > 1) yield lineOf(bytes, offset, next)
    }
    if (heldBytes + count - start <= LOG_LINE_BYTES_MAX) held.push(Buffer.from(chunk.subarray(start, count)))
    heldBytes += count - start
    position += count
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function lineOf(bytes: Buffer, offset: number, next: number): LogLine {
  const isWhole = next - offset === bytes.byteLength + 1 && next - offset <= LOG_LINE_BYTES_MAX && !bytes.includes(0)
  try {
    return { offset, next, text: utf8.decode(bytes), isTorn: !isWhole }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { offset, next, text: bytes.toString(), isTorn: true }
  }
}
