// Append-only line log with many writers: one write per line, torn tails repaired, acknowledged means on disk.
import { dirname } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { LOG_LINE_BYTES_MAX } from '../limits.ts'
import { readRange } from './atomic-file.ts'
import { diskError, onDisk } from './faults.ts'
import { closeFlushed, type Fs, O, realFs } from './fs.ts'
import { groupCommit } from './group-commit.ts'
import { openPlainFile } from './plain-file.ts'

const NEWLINE = 0x0a
const SEAL = Buffer.of(NEWLINE)

export interface AppendLog {
  /** Writes one line (without its newline) in one write. It is in the page cache when this returns: it survives the process, not a power cut. */
  append(line: string): void
  /** Like `append`, and resolves when the line is on disk. Many waiting callers share one flush. */
  appendDurably(line: string): Promise<void>
  /** No more lines. Those still waiting for the disk are acknowledged as usual. */
  close(): void
}

interface OpenFile {
  readonly fd: number
  readonly size: number
  /** The file ends where our last line ended, so its tail is known to be whole without a look. */
  readonly isOurs: boolean
}

/**
 * Opens a log for appending. A last line without newline is what a writer killed in mid-write left behind: it is
 * closed with a newline, and readers tell it from a whole one. Nothing is ever cut off, because another writer may
 * be appending at this very moment; if it is, the kernel puts our newline behind its line, and the log has gained
 * an empty line, which readers skip.
 */
export function openAppendLog(path: string, options: { fs?: Fs; mode?: number } = {}): AppendLog {
  const fs = options.fs ?? realFs
  const open = (): number => openPlainFile(fs, path, O.O_RDWR | O.O_APPEND | O.O_CREAT, options.mode ?? 0o600)
  let fd: number | undefined
  let isClosed = false
  let isNameDurable = false
  let ownEnd = -1

  /** The open file and its size. Opens it anew after a failed flush, and after somebody removed it: lines written to a file without a name are lost. */
  const current = (): OpenFile => {
    if (isClosed) throw new HeimdallError('INTERNAL', `${path} is closed, no line can be added`)
    fd ??= open()
    const facts = fs.stat(fd)
    if (facts.links > 0) return { fd, size: facts.size, isOurs: facts.size === ownEnd }
    release()
    fd = open()
    return { fd, size: fs.stat(fd).size, isOurs: false }
  }
  const release = (): void => {
    if (fd === undefined) return
    const old = fd
    fd = undefined
    isNameDurable = false
    ownEnd = -1
    closeFlushed(fs, old)
  }

  const commit = groupCommit(async () => {
    try {
      await fs.syncDataLater(fd ?? current().fd)
      if (isNameDurable) return
      await syncFolderLater(fs, dirname(path))
      isNameDurable = true
    } catch (error) {
      // After a failed flush the kernel calls the lost pages clean, so this file may never be asked again.
      release()
      throw diskError(path, error)
    }
  })

  const append = (line: string): void => {
    const bytes = encodeLine(line)
    onDisk(path, () => {
      ownEnd = appendLine(fs, current(), path, bytes) ?? -1
    })
  }

  try {
    onDisk(path, () => sealTornTail(fs, current()))
  } catch (error) {
    release()
    throw error
  }
  return {
    append,
    async appendDurably(line) {
      append(line)
      await commit.flushed()
    },
    close() {
      isClosed = true
      commit.whenIdle(release)
    },
  }
}

function encodeLine(line: string): Buffer {
  const bytes = Buffer.from(`${line}\n`)
  if (bytes.byteLength > LOG_LINE_BYTES_MAX)
    throw new HeimdallError('LINE_TOO_LARGE', `log line of ${bytes.byteLength} bytes, limit ${LOG_LINE_BYTES_MAX}`, {
      hint: 'keep the body in a side file and log its hash',
    })
  // Readers take the first for two lines, the second for a torn one, and skip the third.
  if (line.includes('\n') || line.includes('\0') || line === '')
    throw new HeimdallError('INTERNAL', 'a log line is empty or contains a newline or a zero byte')
  return bytes
}

/**
 * One write; a second one only when another writer died in the middle of its line just before ours, which fused
 * the two. Looking at the tail first is not enough, since that death may come between the look and the write, so
 * the place where the line landed is looked at too. The second attempt brings its own newline and cannot be fused.
 * Returns where the file ends, if nobody else was writing.
 */
function appendLine(fs: Fs, { fd, size, isOurs }: OpenFile, path: string, line: Buffer): number | undefined {
  if (!isOurs && isTorn(fs, fd, size)) {
    writeWhole(fs, fd, path, Buffer.concat([SEAL, line]))
    return undefined
  }
  writeWhole(fs, fd, path, line)
  const end = size + line.byteLength
  if (endsAt(fs, fd, end)) return end
  if (!standsAlone(fs, fd, size, line)) writeWhole(fs, fd, path, Buffer.concat([SEAL, line]))
  return undefined
}

function isTorn(fs: Fs, fd: number, size: number): boolean {
  return size > 0 && readRange(fs, fd, size - 1, 1)[0] !== NEWLINE
}

const probe = Buffer.alloc(2)

/** True when there is one byte before this place and none after it: cheaper than asking for the size. */
function endsAt(fs: Fs, fd: number, end: number): boolean {
  return fs.read(fd, probe, end - 1) === 1
}

/** True when `line`, written since the file had `sizeBefore` bytes and a whole last line, begins where a line begins. */
function standsAlone(fs: Fs, fd: number, sizeBefore: number, line: Buffer): boolean {
  const since = readRange(fs, fd, sizeBefore, fs.stat(fd).size - sizeBefore)
  for (let at = since.indexOf(line); at !== -1; at = since.indexOf(line, at + 1))
    if (at === 0 || since[at - 1] === NEWLINE) return true
  return false
}

/** A short write means that the disk filled up in the middle. What is there stays, unterminated, for the next writer to seal. */
function writeWhole(fs: Fs, fd: number, path: string, bytes: Buffer): void {
  const written = fs.write(fd, bytes)
  if (written === bytes.byteLength) return
  throw new HeimdallError('STORE_FULL', `only ${written} of ${bytes.byteLength} bytes of a line fitted into ${path}`, {
    hint: 'free some space and run the command again; nothing that was acknowledged is lost',
  })
}

function sealTornTail(fs: Fs, { fd, size }: OpenFile): void {
  if (isTorn(fs, fd, size)) fs.write(fd, SEAL)
}

/** A new file's name is part of its folder: without this a power cut could take the whole log. */
async function syncFolderLater(fs: Fs, dir: string): Promise<void> {
  const fd = fs.open(dir, O.O_RDONLY)
  try {
    await fs.syncLater(fd)
  } finally {
    fs.close(fd)
  }
}
