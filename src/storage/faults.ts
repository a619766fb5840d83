// System errors of the disk as errors of ours.
import { HeimdallError, isErrno } from '../errors.ts'

/** Runs a disk operation; a full disk and a refused path come out with their own code, everything else unchanged. */
export function onDisk<T>(what: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw diskError(what, error)
  }
}

/** Owner and permissions may be all right there. */
export const READ_ONLY_HINT =
  'its file system is mounted read-only: mount it to be written to, or use a folder elsewhere'

export function diskError(what: string, error: unknown): unknown {
  // EFBIG is the limit of a user or of the file system on the size of one file: no room, all the same.
  if (isErrno(error, 'ENOSPC', 'EDQUOT', 'EFBIG'))
    return new HeimdallError('STORE_FULL', `no space left to write ${what}`, {
      hint: 'free some space and run the command again; nothing that was acknowledged is lost',
      cause: error,
    })
  if (isErrno(error, 'EROFS'))
    return new HeimdallError('STORE_UNREADABLE', `cannot use ${what}: ${error.message}`, {
      hint: READ_ONLY_HINT,
      cause: error,
    })
  if (isErrno(error, 'EISDIR')) return folderError(what, error)
  if (isErrno(error, 'ELOOP')) return linkError(what, 'a symbolic link', error)
  if (isErrno(error, 'ENOTDIR'))
    return new HeimdallError('STORE_UNREADABLE', `cannot use ${what}: ${error.message}`, {
      hint: 'a folder belongs where there is a file: move the file away, or name another path',
      cause: error,
    })
  // A folder that cannot be made below one that is there: Node.js says so of a read-only file system, the kernel of /proc.
  const isUnmakeable = isErrno(error, 'ENOENT') && error.syscall === 'mkdir'
  if (
    isUnmakeable ||
    isErrno(error, 'EACCES', 'EPERM', 'EIO', 'EMFILE', 'ENFILE', 'ENAMETOOLONG', 'ENOLCK', 'ENOTSUP', 'ENXIO')
  )
    return new HeimdallError('STORE_UNREADABLE', `cannot use ${what}: ${error.message}`, {
      hint: 'check its owner and permissions',
      cause: error,
    })
  return error
}

export function folderError(what: string, cause?: unknown): HeimdallError {
  return new HeimdallError('STORE_UNREADABLE', `cannot use ${what}: it is a folder`, {
    hint: 'a file belongs there: move the folder away, or name another path',
    cause,
  })
}

/** A state file that is not a plain file with one name could be a door to somewhere else. */
export function linkError(what: string, seen: string, cause?: unknown): HeimdallError {
  return new HeimdallError('STORE_UNREADABLE', `${what} is ${seen}, expected a plain file with one name`, {
    hint: 'move it away, or replace it by a copy of its content',
    cause,
  })
}
