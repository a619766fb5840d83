// Whether a folder takes more: known only by writing, since quotas and reserved blocks show in no count of free ones.
import { fsyncSync, writeSync } from 'node:fs'
import { onDisk } from './faults.ts'
import { closeFlushed, realFs } from './fs.ts'
import { openUnlinked } from './unlinked-file.ts'

/** Throws what a command that writes there would meet; leaves nothing behind. */
export function tryRoom(folder: string, bytes: number): void {
  onDisk(folder, () => {
    const fd = openUnlinked(folder)
    try {
      // Random: some file systems keep zeros for nothing. Loaded here: a look at the fleet has no use for it.
      const content = process.getBuiltinModule('node:crypto').randomBytes(bytes)
      for (let sent = 0; sent < bytes;) sent += writeSync(fd, content, sent)
      fsyncSync(fd)
    } finally {
      closeFlushed(realFs, fd)
    }
  })
}
