// Checks an output file that a flag names.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { usageError } from './usage-error.ts'

/** Returns the path if its folder exists, so that a typo is reported before any work. */
export function outputPath(path: string): string {
  const folder = dirname(path)
  if (existsSync(folder)) return path
  throw usageError(`no folder ${folder} to write to`, 'create the folder, or name a file in another one')
}
