// Whole-file replace without a sync, for what is not worth more than its process to a power cut.
import { renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { onDisk } from './faults.ts'

/** Whole or not at all. The draft has one name, so that a process that is killed leaves one at most. */
export function replaceUnsynced(
  path: string,
  content: string | Uint8Array,
  draft = join(dirname(path), `.${basename(path)}`),
): void {
  onDisk(path, () => {
    writeFileSync(draft, content, { mode: 0o600 })
    renameSync(draft, path)
  })
}
