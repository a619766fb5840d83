// The folder of sockets, as a start needs it: made where it is absent, and with paths that the kernel takes.
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { SOCKET_PATH_BYTES_MAX } from '../limits.ts'
import { checkSessionDir } from '../session-folder.ts'
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
  onDisk(dir, () => checkSessionDir(dir, uid))
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
