// Whole-file replace: after a crash a reader sees the old bytes or the new ones, never a mixture.
import { dirname } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { STATE_FILE_BYTES_MAX } from '../limits.ts'
import { linkError, onDisk } from './faults.ts'
import { type Fs, O, realFs } from './fs.ts'
import { openPlainFile } from './plain-file.ts'
import { createTemporaryFile } from './temporary-file.ts'

/** Temporary file in the same folder, fsync, rename, fsync of the folder: without the last one the rename may be undone by a power cut. */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  options: { mode?: number; fs?: Fs } = {},
): void {
  const fs = options.fs ?? realFs
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  onDisk(path, () => {
    refuseOtherThanFile(fs, path)
    const temporary = createTemporaryFile(fs, path, options.mode ?? 0o600)
    let isRenamed = false
    try {
      writeAll(fs, temporary.fd, bytes)
      fs.sync(temporary.fd)
      fs.rename(temporary.path, path)
      isRenamed = true
    } finally {
      // Closed last: with it goes the lock, and an unlocked temporary file is anyone's to remove.
      try {
        if (!isRenamed) fs.unlink(temporary.path)
      } finally {
        fs.close(temporary.fd)
      }
    }
    syncFolder(fs, dirname(path))
  })
}

/** The file's bytes, or nothing when there is no such file. */
export function readFileIfThere(path: string, fs: Fs = realFs): Buffer | undefined {
  return onDisk(path, () => {
    let fd: number
    try {
      fd = openPlainFile(fs, path, O.O_RDONLY)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
    try {
      const { size } = fs.stat(fd)
      if (size > STATE_FILE_BYTES_MAX)
        throw new HeimdallError('STORE_CORRUPT', `${path} has ${size} bytes, limit ${STATE_FILE_BYTES_MAX}`)
      return readRange(fs, fd, 0, size)
    } finally {
      fs.close(fd)
    }
  })
}

/** Removes the file; false when there was none. */
export function removeIfThere(path: string, fs: Fs = realFs): boolean {
  return onDisk(path, () => {
    try {
      fs.unlink(path)
      return true
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return false
      throw error
    }
  })
}

/** Makes the folder and those above it that are missing, and their names durable. */
export function ensureFolder(path: string, fs: Fs = realFs): void {
  onDisk(path, () => {
    if (!isFolder(fs, path)) makeFolder(fs, path)
  })
}

/** Up to `length` bytes from `position`; fewer where the file ends. */
export function readRange(fs: Fs, fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    const count = fs.read(fd, bytes.subarray(filled), position + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

export function syncFolder(fs: Fs, dir: string): void {
  const fd = fs.open(dir, O.O_RDONLY)
  try {
    fs.sync(fd)
  } finally {
    fs.close(fd)
  }
}

function writeAll(fs: Fs, fd: number, bytes: Uint8Array): void {
  for (let sent = 0; sent < bytes.byteLength;) sent += fs.write(fd, bytes.subarray(sent))
}

/** The rename would not follow a link but destroy it, and whoever made it would not learn why nothing arrives. */
function refuseOtherThanFile(fs: Fs, path: string): void {
  const kind = fs.lstat(path)?.kind ?? 'file'
  if (kind !== 'file') throw linkError(path, kind === 'link' ? 'a symbolic link' : `a ${kind}`)
}

/** Follows links: a person may keep the folder elsewhere, and what may lie where is decided by whoever names the path. */
function isFolder(fs: Fs, path: string): boolean {
  try {
    fs.close(fs.open(path, O.O_RDONLY | O.O_DIRECTORY))
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}

function makeFolder(fs: Fs, path: string): void {
  const parent = dirname(path)
  if (parent !== path && !isFolder(fs, parent)) makeFolder(fs, parent)
  try {
    fs.mkdir(path, 0o700)
  } catch (error) {
    // Another process was faster.
    if (!isErrno(error, 'EEXIST')) throw error
  }
  syncFolder(fs, parent)
}
