// Records of what was put into files of hosts, kept for the way back: one JSON for each file, written whole.
import { join } from 'node:path'
import type { HeimdallError } from '../errors.ts'
import type { Env } from '../paths.ts'
import { isObject } from '../plain-object.ts'
import { ensureFolder, readFileIfThere, removeIfThere, replaceFile } from '../storage/atomic-file.ts'
import { namesIn } from '../storage/folder-names.ts'
import { recordPathIn } from './record-path.ts'

interface FileRecord {
  readonly v: 1
  /** The real one. */
  readonly path: string
}

export interface FileRecords<R extends FileRecord> {
  readonly read: (env: Env, realPath: string) => R | undefined
  /** Every record of the user; of files that are gone as well. */
  readonly all: (env: Env) => R[]
  readonly write: (env: Env, record: R) => void
  readonly remove: (env: Env, realPath: string) => void
}

/** `unreadable`: what is said of a record that another version, or somebody else, has written. */
export function fileRecords<R extends FileRecord>(
  folderOf: (env: Env) => string,
  unreadable: (path: string, cause?: unknown) => HeimdallError,
): FileRecords<R> {
  const read = (path: string): R | undefined => {
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
    return record as unknown as R
  }
  return {
    read: (env, realPath) => read(recordPathIn(folderOf(env), realPath)),
    all: (env) =>
      namesIn(folderOf(env))
        .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
        .flatMap((name) => read(join(folderOf(env), name)) ?? []),
    write(env, record) {
      ensureFolder(folderOf(env))
      replaceFile(recordPathIn(folderOf(env), record.path), `${JSON.stringify(record)}\n`)
    },
    remove: (env, realPath) => void removeIfThere(recordPathIn(folderOf(env), realPath)),
  }
}
