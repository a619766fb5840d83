// Whole-file replace: after a crash a reader sees the old bytes or the new ones, never a mixture.
import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { STATE_FILE_BYTES_MAX } from '../limits.ts'
import { onDisk } from './faults.ts'
import { type Fs, O, realFs } from './fs.ts'

/** Temporary file in the same folder, fsync, rename, fsync of the folder: without the last one the rename may be undone by a power cut. */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  options: { mode?: number; fs?: Fs } = {},
): void {
  const fs = options.fs ?? realFs
  const dir = dirname(path)
  const temporary = join(dir, `.${basename(path)}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`)
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  onDisk(path, () => {
    const fd = fs.open(temporary, O.O_WRONLY | O.O_CREAT | O.O_EXCL, options.mode ?? 0o600)
    try {
      try {
        writeAll(fs, fd, bytes)
        fs.sync(fd)
      } finally {
        fs.close(fd)
      }
      fs.rename(temporary, path)
    } catch (error) {
      removeIfThere(fs, temporary)
      throw error
    }
    syncFolder(fs, dir)
  })
}

/** The file's bytes, or nothing when there is no such file. */
export function readFileIfThere(path: string, fs: Fs = realFs): Buffer | undefined {
  return onDisk(path, () => {
    let fd: number
    try {
      fd = fs.open(path, O.O_RDONLY)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
    try {
      const size = fs.size(fd)
      if (size > STATE_FILE_BYTES_MAX)
        throw new HeimdallError('STORE_CORRUPT', `${path} has ${size} bytes, limit ${STATE_FILE_BYTES_MAX}`)
      const bytes = Buffer.alloc(size)
      let filled = 0
      while (filled < size) {
        const count = fs.read(fd, bytes.subarray(filled), filled)
        if (count === 0) break
        filled += count
      }
      return bytes.subarray(0, filled)
    } finally {
      fs.close(fd)
    }
  })
}

export function ensureFolder(path: string, fs: Fs = realFs): void {
  onDisk(path, () => fs.mkdir(path, 0o700))
}

export function writeAll(fs: Fs, fd: number, bytes: Uint8Array): void {
  for (let sent = 0; sent < bytes.byteLength;) sent += fs.write(fd, bytes.subarray(sent))
}

export function syncFolder(fs: Fs, dir: string): void {
  const fd = fs.open(dir, O.O_RDONLY)
  try {
    fs.sync(fd)
  } finally {
    fs.close(fd)
  }
}

function removeIfThere(fs: Fs, path: string): void {
  try {
    fs.unlink(path)
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
  }
}
