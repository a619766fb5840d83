// What an import has put into which file, kept for the way back: one record for each file, whichever hosts read it.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { type Env, stateFolder } from '../paths.ts'
import { ensureFolder, readFileIfThere, removeIfThere, replaceFile } from '../storage/atomic-file.ts'
import { namesIn } from '../storage/folder-names.ts'
import { isObject } from '../plain-object.ts'
import type { ConfigFormat } from './config-files.ts'
import type { HostName } from './host-table.ts'
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

/** By the real path: two hosts that read one file have one record. */
export const recordPath = (env: Env, realPath: string): string =>
  join(recordsDir(env), `${sha256(realPath).slice(0, 32)}.json`)

export function readRecord(env: Env, realPath: string): ImportRecord | undefined {
  return parseRecord(recordPath(env, realPath))
}

/** Every record of the user; of files that are gone as well. */
export function allRecords(env: Env): ImportRecord[] {
  return namesIn(recordsDir(env))
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .flatMap((name) => parseRecord(join(recordsDir(env), name)) ?? [])
}

export function writeRecord(env: Env, record: ImportRecord): void {
  ensureFolder(recordsDir(env))
  replaceFile(recordPath(env, record.path), `${JSON.stringify(record)}\n`)
}

export function removeRecord(env: Env, realPath: string): void {
  removeIfThere(recordPath(env, realPath))
}

function parseRecord(path: string): ImportRecord | undefined {
  const text = readFileIfThere(path)?.toString('utf8')
  if (text === undefined) return undefined
  let record: unknown
  try {
    record = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw unreadable(path, error)
  }
  // Written whole by this room alone; a later version may write another one.
  if (!isObject(record) || record['v'] !== 1) throw unreadable(path)
  return record as unknown as ImportRecord
}

function unreadable(path: string, cause?: unknown): HeimdallError {
  return new HeimdallError('STORE_CORRUPT', `${path} is not a record of an import that this version can read`, {
    hint: 'move it away; restore then takes out what it still knows by the lines themselves',
    cause,
  })
}
