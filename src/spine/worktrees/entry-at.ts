// What is at a path, links not followed.
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
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

/** Whether `root`, or anything on the way from there to the path, is a link or a file: what is read or written there is then outside of `root`, or nothing. */
export function isBeyondLink(root: string, path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (entryAt(join(root, folder))?.isDirectory() === false) return true
    if (folder === '.') return false
  }
}

/** The path itself, or all files below it when it is a folder; links are not followed. */
export function filesBelow(root: string, path: string): string[] {
  if (!lstatSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path)).flatMap((name) => filesBelow(root, join(path, name)))
}
