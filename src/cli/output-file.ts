// A file that a flag names to be written to.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { HeimdallError } from '../errors.ts'

/** The path, when its folder is there: a name that was mistyped is said before anything is done. */
export function outputPath(path: string): string {
  const folder = dirname(path)
  if (existsSync(folder)) return path
  throw new HeimdallError('USAGE', `there is no folder ${folder} to write to`, {
    hint: 'make the folder, or name a file in another one',
  })
}
