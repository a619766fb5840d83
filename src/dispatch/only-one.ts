// Of all who would do the same for one repository, one does: the kernel knows whether that one lives.
import fs from 'node:fs'
import { dirname } from 'node:path'
import { onDisk } from '../storage/faults.ts'
import { tryLock } from '../storage/kernel-lock.ts'

/** How to let go of it; nothing while another has it. */
export function takeAlone(path: string): (() => void) | undefined {
  const fd = onDisk(path, () => {
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return fs.openSync(path, 'a+', 0o600)
  })
  if (tryLock(fd)) return () => fs.closeSync(fd)
  fs.closeSync(fd)
  return undefined
}
