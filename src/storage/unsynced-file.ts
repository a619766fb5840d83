// Whole files read and replaced without a sync, for what is not worth more than its process to a power cut.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isErrno } from '../errors.ts'
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

/** The whole text, or nothing where there is no such file. One call and no look at the file before it: fifty are read at once. */
export function readIfThere(path: string): string | undefined {
  return onDisk(path, () => {
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
      throw error
    }
  })
}
