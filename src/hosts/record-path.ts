// Where the record about a file of a host lies: by its real path, for two hosts may read one file.
import { join } from 'node:path'

export function recordPathIn(folder: string, realPath: string): string {
  // Loaded where it is needed: most hooks are about files of a project, of which there is no record.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return join(folder, `${createHash('sha256').update(realPath).digest('hex').slice(0, 32)}.json`)
}
