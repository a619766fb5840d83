// What an import has put into which file, kept for the way back: one record for each file, whichever hosts read it.
import { createHash } from 'node:crypto'
import { HeimdallError } from '../errors.ts'
import { type Env, stateFolder } from '../paths.ts'
import type { ConfigFormat } from './config-files.ts'
import { fileRecords } from './file-records.ts'
import type { HostName } from './host-table.ts'
import { recordPathIn } from './record-path.ts'
import type { OwnCommand } from './shim-line.ts'
import type { Undo } from './wrap.ts'

export interface ImportRecord {
  readonly v: 1
  readonly path: string
  /** Records of earlier versions go by the path. */
  readonly format?: ConfigFormat
  readonly hosts: readonly HostName[]
  readonly at: string
  /** What its lines start: Node.js and the launcher. */
  readonly own: OwnCommand
  /** SHA-256 of the file as the import left it, and as it is once everything is taken out again. */
  readonly wrapped: string
  readonly restored: string
  readonly servers: readonly Undo[]
}

export const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')

export const recordsDir = (env: Env): string => stateFolder(env, 'imports')

export const recordPath = (env: Env, realPath: string): string => recordPathIn(recordsDir(env), realPath)

export const {
  read: readRecord,
  all: allRecords,
  write: writeRecord,
  remove: removeRecord,
} = fileRecords<ImportRecord>(
  recordsDir,
  (path, cause) =>
    new HeimdallError('STORE_CORRUPT', `${path} is not a record of an import that this version can read`, {
      hint: 'move it away; restore then takes out what it still knows by the lines themselves',
      cause,
    }),
)
