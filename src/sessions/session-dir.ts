// The folder of sockets, as a start needs it: made where it is absent.
import { lstatSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { checkSessionDir } from '../session-folder.ts'
import { onDisk } from '../storage/faults.ts'

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
