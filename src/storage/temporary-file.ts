// Temporary files beside a target, in numbered places that the next writer takes back from one that was killed.
import { basename, dirname, join } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { TEMPORARY_FILES_MAX } from '../limits.ts'
import { type Fs, isStillNamed, O, realFs } from './fs.ts'

export interface TemporaryFile {
  readonly fd: number
  readonly path: string
}

const placeOf = (target: string, place: number): string => join(dirname(target), `.${basename(target)}.${place}.tmp`)

/**
 * Creates a temporary file that is ours alone until `fd` is closed. Who holds its kernel lock owns it, so a
 * leftover of a killed writer is known by its lock being free, without reading pids, ages or the folder's list.
 */
export function createTemporaryFile(fs: Fs, target: string, mode: number): TemporaryFile {
  for (let place = 0; place < TEMPORARY_FILES_MAX; place += 1) {
    const path = placeOf(target, place)
    const fd = createOwned(fs, path, mode) ?? (removeAbandoned(fs, path) ? createOwned(fs, path, mode) : undefined)
    if (fd !== undefined) return { fd, path }
  }
  throw new HeimdallError('STORE_BUSY', `${TEMPORARY_FILES_MAX} processes replace ${target} at once`, {
    hint: `if there are none, remove the files ${placeOf(target, 0)} and so on`,
  })
}

/** Takes away what writers that were killed have left beside the target; what is being written stays. */
export function clearAbandoned(target: string, fs: Fs = realFs): void {
  for (let place = 0; place < TEMPORARY_FILES_MAX; place += 1) {
    const path = placeOf(target, place)
    if (fs.lstat(path)?.kind === 'file') removeAbandoned(fs, path)
  }
}

/** Never opens what it did not create: a link planted at the place must not be written through. */
function createOwned(fs: Fs, path: string, mode: number): number | undefined {
  let fd: number
  try {
    fd = fs.open(path, O.O_WRONLY | O.O_CREAT | O.O_EXCL, mode)
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return undefined
    throw error
  }
  return keepIfOwned(fs, path, fd) ? fd : undefined
}

/** True when the place is free now. A file that may not be opened or is locked belongs to somebody; so does a link. */
function removeAbandoned(fs: Fs, path: string): boolean {
  let fd: number
  try {
    fd = fs.open(path, O.O_RDWR | O.O_NOFOLLOW | O.O_NONBLOCK)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return true
    if (isErrno(error, 'EACCES', 'EPERM', 'ELOOP', 'EISDIR', 'ENXIO')) return false
    throw error
  }
  if (!keepIfOwned(fs, path, fd)) return false
  try {
    fs.unlink(path)
  } finally {
    fs.close(fd)
  }
  return true
}

/**
 * Takes the lock and then looks whether the name still means this file: between the open and the lock another
 * process may have removed it or renamed it to its target. Only a holder of the lock does either, so the answer stays true.
 */
function keepIfOwned(fs: Fs, path: string, fd: number): boolean {
  let isOwned = false
  try {
    isOwned = fs.tryLock(fd, 0) && isStillNamed(fs, path, fd)
  } finally {
    if (!isOwned) fs.close(fd)
  }
  return isOwned
}
