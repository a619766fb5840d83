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

export function diskError(what: string, error: unknown): unknown {
  if (isErrno(error, 'ENOSPC', 'EDQUOT'))
    return new HeimdallError('STORE_FULL', `no space left to write ${what}`, {
      hint: 'free some space and run the command again; nothing was lost',
      cause: error,
    })
  if (isErrno(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EIO', 'EMFILE', 'ENFILE'))
    return new HeimdallError('STORE_UNREADABLE', `cannot use ${what}: ${error.message}`, {
      hint: 'check its owner and permissions',
      cause: error,
    })
  return error
}
