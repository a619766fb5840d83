// The folder of sockets: whoever can write to a socket types into a terminal, so the folder is checked whenever it is used.
import { lstatSync, mkdirSync, realpathSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { SOCKET_PATH_BYTES_MAX } from '../limits.ts'
import { onDisk } from '../storage/faults.ts'
import { sessionPaths } from './session-files.ts'

/** Makes the folder (0700) when it is absent; refuses one that is a link, another user's, or open to anyone else. */
export function ensureSessionDir(dir: string, uid: number): void {
  onDisk(dir, () => {
    mkdirSync(dirname(dir), { recursive: true })
    // Not recursive for the last step: a mode given there would also be left to the umask of the ones above.
    const isThere = lstatSync(dir, { throwIfNoEntry: false }) !== undefined
    if (!isThere) mkdirSync(dir, { recursive: true, mode: 0o700 })
  })
  checkSessionDir(dir, uid)
}

export function checkSessionDir(dir: string, uid: number): void {
  const stats = onDisk(dir, () => lstatSync(dir))
  refuse(dir, uid, stats, OPEN)
}

/**
 * For whoever only looks at sessions or speaks to them: what the files say is believed, down to which processes are
 * ended, so nobody else may have written them. That others can read names there is no danger. An absent folder has none.
 */
export function checkSessionDirIfThere(dir: string, uid: number): void {
  const stats = onDisk(dir, () => lstatSync(dir, { throwIfNoEntry: false }))
  // In a plain file nobody finds a session: whoever reads it says so.
  if (stats !== undefined && !stats.isFile()) refuse(dir, uid, stats, WRITABLE)
}

const OPEN = { bits: 0o077, verb: 'entered' }
const WRITABLE = { bits: 0o022, verb: 'written' }

function refuse(dir: string, uid: number, stats: Stats, { bits, verb }: typeof OPEN): void {
  const problem = stats.isSymbolicLink()
    ? 'is a symbolic link'
    : !stats.isDirectory()
      ? 'is not a folder'
      : stats.uid !== uid
        ? `belongs to user ${stats.uid}, not to ${uid}`
        : (stats.mode & bits) !== 0
          ? `can be ${verb} by others (mode ${(stats.mode & 0o777).toString(8)})`
          : undefined
  if (problem === undefined) return
  throw new HeimdallError('SESSION_DIR_UNSAFE', `${printable(dir)} ${problem}`, {
    hint: stats.isDirectory() && stats.uid === uid ? `chmod 700 ${dir}` : 'name another folder with --socket-dir',
  })
}

/** The kernel cuts longer paths or refuses them with an error that names nothing. */
export function checkSocketPath(dir: string, id: string): void {
  const path = sessionPaths(realpathSync(dir), id).socket
  const bytes = Buffer.byteLength(path)
  if (bytes <= SOCKET_PATH_BYTES_MAX) return
  throw new HeimdallError(
    'SESSION_PATH_TOO_LONG',
    `socket path of ${bytes} bytes, limit ${SOCKET_PATH_BYTES_MAX}: ${path}`,
    { hint: 'use a shorter --socket-dir or id' },
  )
}
