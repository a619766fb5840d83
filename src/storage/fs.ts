// The one seam to the disk: storage calls these and nothing else, so that a test can record, fail or crash any of them.
import fs from 'node:fs'

/**
 * Synchronous, because each call is microseconds into the page cache and a synchronous update cannot be
 * interleaved with another one of the same process. Only the flush to the medium is worth leaving the thread for.
 */
export interface Fs {
  open(path: string, flags: number, mode?: number): number
  close(fd: number): void
  write(fd: number, bytes: Uint8Array): number
  read(fd: number, into: Uint8Array, position: number): number
  size(fd: number): number
  truncate(fd: number, bytes: number): void
  sync(fd: number): void
  syncLater(fd: number): Promise<void>
  rename(from: string, to: string): void
  link(from: string, to: string): void
  unlink(path: string): void
  mkdir(path: string, mode: number): void
  readdir(path: string): string[]
}

export const O = fs.constants

export const realFs: Fs = {
  open: (path, flags, mode = 0o600) => fs.openSync(path, flags, mode),
  close: (fd) => fs.closeSync(fd),
  write: (fd, bytes) => fs.writeSync(fd, bytes),
  read: (fd, into, position) => fs.readSync(fd, into, 0, into.byteLength, position),
  size: (fd) => fs.fstatSync(fd).size,
  truncate: (fd, bytes) => fs.ftruncateSync(fd, bytes),
  sync: (fd) => fs.fdatasyncSync(fd),
  syncLater: (fd) =>
    new Promise((resolve, reject) => fs.fdatasync(fd, (error) => (error === null ? resolve() : reject(error)))),
  rename: (from, to) => fs.renameSync(from, to),
  link: (from, to) => fs.linkSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  mkdir: (path, mode) => void fs.mkdirSync(path, { recursive: true, mode }),
  readdir: (path) => fs.readdirSync(path),
}
