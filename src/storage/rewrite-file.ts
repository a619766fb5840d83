// Whole-file replace of a file that belongs to another program: it keeps its mode and its owner, and a link to it stays one.
import { fchmodSync, fchownSync, fstatSync, realpathSync, statSync } from 'node:fs'
import { HeimdallError } from '../errors.ts'
import { readFileIfThere, WholeFile } from './atomic-file.ts'
import { onDisk } from './faults.ts'

/**
 * False, and nothing written, when the file no longer holds `before`: its owner was faster. Looked at as late as can
 * be; a write between that look and the rename would be lost.
 */
export function rewriteFile(path: string, before: Uint8Array, after: Uint8Array): boolean {
  const real = onDisk(path, () => realpathSync.native(path))
  const { mode, uid, gid } = onDisk(real, () => statSync(real))
  if (readFileIfThere(real)?.equals(before) !== true) return false
  const file = new WholeFile(real)
  try {
    file.write(after)
    // Narrow until it is whole; its owner's before it has the name, so that no kill leaves it with another mode.
    file.dress((fd) => {
      if (uid !== process.geteuid?.() || gid !== process.getegid?.()) giveTo(fd, real, uid, gid)
      fchmodSync(fd, mode & 0o7777)
    })
    file.keep()
  } finally {
    file.close()
  }
  return true
}

function giveTo(fd: number, path: string, uid: number, gid: number): void {
  const now = fstatSync(fd)
  if (now.uid === uid && now.gid === gid) return
  try {
    fchownSync(fd, uid, gid)
  } catch (error) {
    throw new HeimdallError('STORE_UNREADABLE', `${path} belongs to ${uid}:${gid}, to whom a new one cannot be given`, {
      hint: 'run the command as that user; nothing was written',
      cause: error,
    })
  }
}
