// Of all who would keep a run, one does: the kernel knows whether that one lives.
import fs from 'node:fs'
import { removeIfThere } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import { tryLock } from '../storage/kernel-lock.ts'

export interface KeepingLock {
  /** The run is closed: nobody will want the lock. Whoever has the file open finds no sheet. */
  remove(): void
  release(): void
}

const lockPath = (sheet: string): string => `${sheet}.lock`

/** Nothing while another keeps it. */
export function takeKeeping(sheet: string): KeepingLock | undefined {
  const path = lockPath(sheet)
  const fd = onDisk(path, () => fs.openSync(path, 'a+', 0o600))
  if (!tryLock(fd)) {
    fs.closeSync(fd)
    return undefined
  }
  return {
    remove: () => void removeIfThere(path),
    release: () => fs.closeSync(fd),
  }
}
