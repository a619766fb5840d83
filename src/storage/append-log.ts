// Append-only line log with many writers: one write per line, torn tail repaired on open, acknowledged means on disk.
import { HeimdallError } from '../errors.ts'
import { LOG_LINE_BYTES_MAX } from '../limits.ts'
import { diskError, onDisk } from './faults.ts'
import { type Fs, O, realFs } from './fs.ts'

const NEWLINE = 0x0a

export interface AppendLog {
  /** Writes one line (without its newline) in one write. It is in the page cache when this returns: it survives the process, not a power cut. */
  append(line: string): void
  /** Like `append`, and resolves when the line is on disk. Many waiting callers share one flush. */
  appendDurably(line: string): Promise<void>
  close(): void
}

/**
 * Opens a log for appending. A last line without newline is what a writer killed in mid-write left behind: it is
 * closed with a newline so that the next line does not fuse with it, and readers skip it as unparsable.
 * Nothing is ever cut off, because another writer may be appending at this very moment.
 */
export function openAppendLog(path: string, options: { fs?: Fs; mode?: number } = {}): AppendLog {
  const fs = options.fs ?? realFs
  const fd = onDisk(path, () => fs.open(path, O.O_RDWR | O.O_APPEND | O.O_CREAT, options.mode ?? 0o600))
  onDisk(path, () => sealTornTail(fs, fd))
  let flush: Promise<void> | undefined
  let queued: Promise<void> | undefined

  const append = (line: string): void => {
    const bytes = encodeLine(line)
    onDisk(path, () => {
      const written = fs.write(fd, bytes)
      if (written === bytes.byteLength) return
      // A short write means the disk filled up in the middle of the line. Seal what is there, report the line as not written.
      fs.write(fd, Buffer.of(NEWLINE))
      throw new HeimdallError(
        'STORE_FULL',
        `only ${written} of ${bytes.byteLength} bytes of a line fitted into ${path}`,
      )
    })
  }

  // Group commit: while one flush runs, all later lines wait for the next one together.
  const nextFlush = (): Promise<void> => {
    queued ??= (flush ?? Promise.resolve()).then(() => {
      queued = undefined
      flush = fs.syncLater(fd).finally(() => {
        flush = undefined
      })
      return flush
    })
    return queued
  }

  return {
    append,
    async appendDurably(line) {
      append(line)
      await nextFlush().catch((error: unknown) => {
        throw diskError(path, error)
      })
    },
    close: () => fs.close(fd),
  }
}

function encodeLine(line: string): Buffer {
  const bytes = Buffer.from(`${line}\n`)
  if (bytes.byteLength > LOG_LINE_BYTES_MAX)
    throw new HeimdallError('LINE_TOO_LARGE', `log line of ${bytes.byteLength} bytes, limit ${LOG_LINE_BYTES_MAX}`)
  if (line.includes('\n')) throw new HeimdallError('INTERNAL', 'a log line contains a newline')
  return bytes
}

function sealTornTail(fs: Fs, fd: number): void {
  const size = fs.size(fd)
  if (size === 0) return
  const last = Buffer.alloc(1)
  fs.read(fd, last, size - 1)
  if (last[0] !== NEWLINE) fs.write(fd, Buffer.of(NEWLINE))
}
