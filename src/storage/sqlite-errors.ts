// SQLite's result codes as errors of ours.
import { HeimdallError } from '../errors.ts'
import { READ_ONLY_HINT } from './faults.ts'

/** The last eight bits of a result code are the primary one; https://sqlite.org/rescode.html */
const RESULT = {
  PERM: 3,
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  CONSTRAINT: 19,
  MISMATCH: 20,
  NOTADB: 26,
} as const

/** The driver leaves the code out of errors that come while it reads rows; SQLite's text for these codes is fixed. */
const TEXTS: Readonly<Record<string, number>> = {
  'access permission denied': RESULT.PERM,
  'database is locked': RESULT.BUSY,
  'database table is locked': RESULT.LOCKED,
  'attempt to write a readonly database': RESULT.READONLY,
  'disk I/O error': RESULT.IOERR,
  'database disk image is malformed': RESULT.CORRUPT,
  'database or disk is full': RESULT.FULL,
  'unable to open database file': RESULT.CANTOPEN,
  'file is not a database': RESULT.NOTADB,
}

/** EFBIG, ENOSPC and EDQUOT as numbers: with an I/O error SQLite passes on the system's own. */
const NO_SPACE_ERRNOS: readonly unknown[] = [27, 28, 122]

/** EROFS, likewise. */
const READ_ONLY_ERRNO = 30

/** Runs a call of the driver and translates what it throws; errors that are not the disk's come out unchanged. */
export function onDatabase<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw databaseError(path, error)
  }
}

const isSqliteError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'

function resultCodeOf(error: unknown): number | undefined {
  if (!isSqliteError(error)) return undefined
  return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : TEXTS[error.message]
}

/** The values of a statement do not fit its table, or those in it. While it reads rows the driver leaves the code out of these too, and their texts name columns. */
export function isMisfit(error: unknown): boolean {
  const code = resultCodeOf(error)
  if (code !== undefined) return code === RESULT.CONSTRAINT || code === RESULT.MISMATCH
  return isSqliteError(error) && MISFIT.test(error.message)
}

const MISFIT = /constraint failed|^cannot store \w+ value in|^datatype mismatch/

export const isBusy = (error: unknown): boolean => resultCodeOf(error) === RESULT.BUSY

export function databaseError(path: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const hasNoSpace = 'systemErrno' in error && NO_SPACE_ERRNOS.includes(error.systemErrno)
  switch (resultCodeOf(error)) {
    case RESULT.CORRUPT:
    case RESULT.NOTADB:
      return new HeimdallError('STORE_CORRUPT', `${path} is not a readable database: ${error.message}`, {
        hint: 'move it aside and run the command again; exports beside the project are untouched',
        cause: error,
      })
    case RESULT.BUSY:
    case RESULT.LOCKED:
      return new HeimdallError('STORE_BUSY', `${path} is locked by another process`, {
        hint: 'run the command again',
        cause: error,
      })
    case RESULT.FULL:
      return full(path, error)
    case RESULT.IOERR:
    case RESULT.CANTOPEN:
    case RESULT.READONLY:
    case RESULT.PERM:
      return hasNoSpace ? full(path, error) : unusable(path, error)
    case undefined:
    default:
      return error
  }
}

function full(path: string, cause: Error): HeimdallError {
  return new HeimdallError('STORE_FULL', `no space left to write ${path}`, {
    hint: 'free some space and run the command again; nothing that was acknowledged is lost',
    cause,
  })
}

function unusable(path: string, cause: Error): HeimdallError {
  return new HeimdallError('STORE_UNREADABLE', `cannot use ${path}: ${cause.message}`, {
    hint:
      'systemErrno' in cause && cause.systemErrno === READ_ONLY_ERRNO
        ? READ_ONLY_HINT
        : 'check its owner and permissions',
    cause,
  })
}
