// Whole-file replace: after a crash a reader sees the old bytes or the new ones, never a mixture.
import { dirname } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { STATE_FILE_BYTES_MAX } from '../limits.ts'
import { linkError, onDisk } from './faults.ts'
import { type Fs, O, realFs } from './fs.ts'
import { openPlainFile } from './plain-file.ts'
import { createTemporaryFile, type TemporaryFile } from './temporary-file.ts'

/** Temporary file in the same folder, fsync, rename, fsync of the folder: without the last one the rename may be undone by a power cut. */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  options: { mode?: number; fs?: Fs } = {},
): void {
  const file = new WholeFile(path, options)
  try {
    file.write(typeof content === 'string' ? Buffer.from(content) : content)
    file.keep()
  } finally {
    file.close()
  }
}

/** The same for what can be made anew: nothing waits for the disk, and a power cut may leave an empty file. */
export function replaceCache(path: string, content: string): void {
  const file = new WholeFile(path)
  try {
    file.write(Buffer.from(content))
    file.rename()
  } finally {
    file.close()
  }
}

/** A file that takes its name only when all of it is there; what was left behind half way is gone again. */
export class WholeFile {
  readonly #path: string
  readonly #fs: Fs
  readonly #temporary: TemporaryFile
  #isRenamed = false

  constructor(path: string, options: { mode?: number; fs?: Fs } = {}) {
    const fs = options.fs ?? realFs
    this.#path = path
    this.#fs = fs
    this.#temporary = onDisk(path, () => {
      refuseOtherThanFile(fs, path)
      return createTemporaryFile(fs, path, options.mode ?? 0o600)
    })
  }

  write(bytes: Uint8Array): void {
    onDisk(this.#path, () => writeAll(this.#fs, this.#temporary.fd, bytes))
  }

  /** Gives it the mode and the owner that it shall have, before anybody sees it under its name. */
  dress(act: (fd: number) => void): void {
    onDisk(this.#path, () => act(this.#temporary.fd))
  }

  /** When this returns, the name means the new file, also after a power cut. */
  keep(): void {
    onDisk(this.#path, () => {
      this.#fs.sync(this.#temporary.fd)
      this.#fs.rename(this.#temporary.path, this.#path)
      this.#isRenamed = true
      syncFolder(this.#fs, dirname(this.#path))
    })
  }

  /** Readers see the new file from here on; a power cut may yet take its bytes. */
  rename(): void {
    onDisk(this.#path, () => this.#fs.rename(this.#temporary.path, this.#path))
    this.#isRenamed = true
  }

  close(): void {
    onDisk(this.#path, () => {
      // Closed last: with it goes the lock, and an unlocked temporary file is anyone's to remove.
      try {
        if (!this.#isRenamed) this.#fs.unlink(this.#temporary.path)
      } finally {
        this.#fs.close(this.#temporary.fd)
      }
    })
  }
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

const NO_FILES = { link: 'a symbolic link', folder: 'a folder', other: 'a device, a pipe or a socket' } as const

/** The rename would not follow a link but destroy it, and whoever made it would not learn why nothing arrives. */
function refuseOtherThanFile(fs: Fs, path: string): void {
  const kind = fs.lstat(path)?.kind ?? 'file'
  if (kind !== 'file') throw linkError(path, NO_FILES[kind])
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
    // The folder above is there, so it is one that takes none, as below /proc; removed meanwhile, it ends the same.
    if (isErrno(error, 'ENOENT'))
      throw new HeimdallError('STORE_UNREADABLE', `${parent} takes no folders, and ${path} cannot be made`, {
        hint: 'name another folder: HOME, or one of the XDG folders, leads there',
        cause: error,
      })
    // Another process was faster.
    if (!isErrno(error, 'EEXIST')) throw error
  }
  syncFolder(fs, parent)
}
