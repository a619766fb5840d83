// The one seam to the disk: storage calls these and nothing else, so that a test can record, fail or crash any of them.
import fs from 'node:fs'
import { ignore } from '../errors.ts'
import { tryLock, unlock } from './kernel-lock.ts'

export interface FileFacts {
  readonly size: number
  /** How many names the file has; 0 when it was removed while open. */
  readonly links: number
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  /** With `device`, which file it is, whatever its name. */
  readonly inode: number
  readonly device: number
}

/**
 * Synchronous, because each call is microseconds into the page cache and a synchronous update cannot be
 * interleaved with another one of the same process. Only the flush to the medium is worth leaving the thread for.
 */
export interface Fs {
  open(path: string, flags: number, mode?: number): number
  close(fd: number): void
  write(fd: number, bytes: Uint8Array): number
  read(fd: number, into: Uint8Array, position: number): number
  stat(fd: number): FileFacts
  /** Facts of the path itself, not of what a link points to; nothing when it does not exist. */
  lstat(path: string): FileFacts | undefined
  /** fsync. The only one that makes a rename or a new name durable when called on a folder: ext4's fdatasync skips it. */
  sync(fd: number): void
  syncLater(fd: number): Promise<void>
  /** fdatasync: content and size, without the times. */
  syncDataLater(fd: number): Promise<void>
  /** An exclusive kernel lock on one place of the open file; false when another open of the file has it. Closing frees it, and so does death. */
  tryLock(fd: number, place: number): boolean
  unlock(fd: number, place: number): void
  rename(from: string, to: string): void
  unlink(path: string): void
  mkdir(path: string, mode: number): void
}

export const O = fs.constants

export const realFs: Fs = {
  open: (path, flags, mode = 0o600) => fs.openSync(path, flags, mode),
  close: (fd) => fs.closeSync(fd),
  write: (fd, bytes) => fs.writeSync(fd, bytes),
  read: (fd, into, position) => fs.readSync(fd, into, 0, into.byteLength, position),
  stat: (fd) => factsOf(fs.fstatSync(fd)),
  lstat(path) {
    const stats = fs.lstatSync(path, { throwIfNoEntry: false })
    return stats === undefined ? undefined : factsOf(stats)
  },
  sync: (fd) => fs.fsyncSync(fd),
  syncLater: (fd) => new Promise((resolve, reject) => fs.fsync(fd, settle(resolve, reject))),
  syncDataLater: (fd) => new Promise((resolve, reject) => fs.fdatasync(fd, settle(resolve, reject))),
  tryLock,
  unlock,
  rename: (from, to) => fs.renameSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  mkdir(path, mode) {
    fs.mkdirSync(path, { mode })
  },
}

function factsOf(stats: fs.Stats): FileFacts {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'other'
  return { size: stats.size, links: stats.nlink, kind, inode: stats.ino, device: stats.dev }
}

function settle(resolve: () => void, reject: (error: Error) => void): (error: Error | null) => void {
  return (error) => (error === null ? resolve() : reject(error))
}

/** True when `path` still names the file that is open as `fd`: nobody removed or replaced it since. */
export function isStillNamed(fs: Fs, path: string, fd: number): boolean {
  const named = fs.lstat(path)
  const open = fs.stat(fd)
  return named !== undefined && named.inode === open.inode && named.device === open.device
}

/** Closes a file of which all that matters has been flushed, or nothing was promised: then `close` has nothing to report. */
export function closeFlushed(fs: Fs, fd: number): void {
  try {
    fs.close(fd)
  } catch (error) {
    ignore('EIO', 'ENOSPC', 'EDQUOT')(error)
  }
}
