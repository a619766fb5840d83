// Whole-file replace of a file that belongs to another program: it keeps its mode and its owner, and a link to it stays one.
import { chmodSync, chownSync, realpathSync, statSync } from 'node:fs'
import { HeimdallError } from '../errors.ts'
import { readFileIfThere, replaceFile } from './atomic-file.ts'
import { onDisk } from './faults.ts'

/**
 * False, and nothing written, when the file no longer holds `before`: its owner was faster. Looked at as late as can
 * be; a write between that look and the rename would be lost.
 */
export function rewriteFile(path: string, before: Uint8Array, after: Uint8Array): boolean {
  const real = onDisk(path, () => realpathSync.native(path))
  const { mode, uid, gid } = onDisk(real, () => statSync(real))
  if (readFileIfThere(real)?.equals(before) !== true) return false
  // Narrow until it is whole and its owner's.
  replaceFile(real, after)
  onDisk(real, () => {
    if (uid !== process.geteuid?.() || gid !== process.getegid?.()) giveTo(real, uid, gid)
    chmodSync(real, mode & 0o7777)
  })
  return true
}

function giveTo(path: string, uid: number, gid: number): void {
  const now = statSync(path)
  if (now.uid === uid && now.gid === gid) return
  try {
    chownSync(path, uid, gid)
  } catch (error) {
    throw new HeimdallError('STORE_UNREADABLE', `${path} was written, but cannot be given back to its owner ${uid}`, {
      hint: `chown ${uid}:${gid} it, or run the command as that user`,
      cause: error,
    })
  }
}
