// What is at a path, links not followed.
import { lstatSync, type Stats } from 'node:fs'
import { isErrno } from '../../errors.ts'

/** Nothing where there is nothing, also where a file stands in place of a folder on the way. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (isErrno(error, 'ENOTDIR')) return undefined
    throw error
  }
}
