// Names in a folder that may not be there.
import { readdirSync } from 'node:fs'
import { isErrno } from '../errors.ts'

/** In no order; none where nothing is. */
export const namesIn = (folder: string): string[] => namesUnless(folder, 'ENOENT')

/** The same for a path where somebody else may have put a file. */
export const namesInIfFolder = (path: string): string[] => namesUnless(path, 'ENOENT', 'ENOTDIR')

function namesUnless(folder: string, ...none: readonly string[]): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isErrno(error, ...none)) return []
    throw error
  }
}
