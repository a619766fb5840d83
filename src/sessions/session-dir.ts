// The folder of sockets, as a start needs it: made where it is absent.
import { lstatSync } from 'node:fs'
import { checkSessionDir } from '../session-folder.ts'
import { ensureFolder } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'

/** Makes the folder (0700) when it is absent; refuses one that is a link, another user's, or open to anyone else. */
export function ensureSessionDir(dir: string, uid: number): void {
  const isThere = onDisk(dir, () => lstatSync(dir, { throwIfNoEntry: false }) !== undefined)
  // With those above, for whoever may write to one of them could put another in its place. One at a time: where a file
  // system takes no folders at all (a HOME below /proc), Node's recursive mkdir tries for ever.
  if (!isThere) ensureFolder(dir)
  onDisk(dir, () => checkSessionDir(dir, uid))
}
