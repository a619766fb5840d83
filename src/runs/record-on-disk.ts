// A record as it lies on the disk at this moment.
import fs from 'node:fs'
import { isErrno } from '../errors.ts'

export interface RecordOnDisk {
  readonly inode: number
  readonly changedMs: number
  readonly bytes: number
}

/** Nothing where there is none. */
export function recordOnDisk(path: string): RecordOnDisk | undefined {
  try {
    const { ino, mtimeMs, size } = fs.statSync(path)
    return { inode: ino, changedMs: mtimeMs, bytes: size }
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return undefined
    throw error
  }
}
