// The folder of sockets: whoever can write to a socket types into a terminal, so the folder is checked at every start.
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
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
  const problem = stats.isSymbolicLink()
    ? 'is a symbolic link'
    : !stats.isDirectory()
      ? 'is not a folder'
      : stats.uid !== uid
        ? `belongs to user ${stats.uid}, not to ${uid}`
        : (stats.mode & 0o077) !== 0
          ? `can be entered by others (mode ${(stats.mode & 0o777).toString(8)})`
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
