// Taking a name that one process alone may have.
import { lstatSync } from 'node:fs'
import { type LockOptions, withFileLock } from './file-lock.ts'
import { replaceUnsynced } from './unsynced-file.ts'

export interface TakeName extends LockOptions {
  readonly text: string
  /** Where the text is written first: a name of the taker's own. */
  readonly draft: string
  /** Whatever of these is there has the name already, as does the file itself. */
  readonly inTheWay: readonly string[]
}

/**
 * False when somebody has it. Under a lock, so that of two takers one finds the name taken; by a rename, so that the
 * file has one name at any moment, and is whole.
 */
export function takeName(path: string, { text, draft, inTheWay, ...lock }: TakeName): Promise<boolean> {
  return withFileLock(
    path,
    () => {
      if ([path, ...inTheWay].some(isThere)) return false
      replaceUnsynced(path, text, draft)
      return true
    },
    lock,
  )
}

export const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
