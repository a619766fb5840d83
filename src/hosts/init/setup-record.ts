// What `heimdall init` has put into which file, kept for the way back: places and lengths, never what else stands in the file.
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { SETUP_LOCK_WAIT_MS } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import { ensureFolder, readFileIfThere, removeIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { removeFileLock, withFileLock } from '../../storage/file-lock.ts'
import { fileRecords } from '../file-records.ts'
import { hookRecordsDir } from '../hooks/guarding-files.ts'
import type { HostName } from '../host-table.ts'

/** A piece that was inserted: cut out in this order, the text is what it was. */
export interface Inserted {
  readonly at: number
  readonly length: number
}

export interface SetupRecord {
  readonly v: 1
  readonly path: string
  readonly host: HostName
  /** The file is ours: it was not there before. */
  readonly made: boolean
  /** Folders of it that were not there before either, the innermost first; absent in records of an older version. */
  readonly folders?: readonly string[]
  /** SHA-256 of the text before and after. */
  readonly before: string
  readonly after: string
  readonly inserted: readonly Inserted[]
  /** What it starts, by which `doctor` sees whether it is still there. */
  readonly own: { readonly node: string; readonly launcher: string }
}

export const {
  read: readSetup,
  all: allSetups,
  write: writeSetup,
  remove: removeSetup,
} = fileRecords<SetupRecord>(
  hookRecordsDir,
  (path, cause) =>
    new HeimdallError('STORE_CORRUPT', `${path} is not a record of heimdall init that this version can read`, {
      hint: 'move it away; heimdall uninstall then takes out what it knows by the lines themselves',
      cause,
    }),
)

/** One init or uninstall at a time: of two, one would take out of a host what the other has just put in. */
export async function settingUp<T>(env: Env, act: () => Promise<T>): Promise<T> {
  const path = join(hookRecordsDir(env), 'setup')
  ensureFolder(hookRecordsDir(env))
  try {
    return await withFileLock(path, act, { waitMs: SETUP_LOCK_WAIT_MS })
  } finally {
    removeFileLock(path)
  }
}

/** Repositories into which init has put the git guard, by their roots. */
const guardsPath = (env: Env): string => join(hookRecordsDir(env), 'guards')

/** Nothing where there is no record of it. */
export function guardedRoots(env: Env): string[] | undefined {
  const text = readFileIfThere(guardsPath(env))?.toString('utf8')
  return text?.split('\n').filter((line) => line !== '')
}

export function noteGuards(env: Env, roots: readonly string[]): void {
  ensureFolder(hookRecordsDir(env))
  if (roots.length === 0) removeIfThere(guardsPath(env))
  else replaceFile(guardsPath(env), `${[...new Set(roots)].join('\n')}\n`)
}
