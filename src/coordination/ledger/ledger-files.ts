// Which files the ledger has, and a signature of them by which everybody sees whether something arrived from elsewhere.
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../../errors.ts'
import { REMOTE_FILES_MAX } from '../../limits.ts'
import type { Project } from '../../paths.ts'
import { haidFileName } from '../who/haid.ts'
import type { Reader } from '../store.ts'
import type { View } from '../view.ts'

export const ledgerDir = (project: Project): string => join(project.planningDir, 'ledger')
export const claimFileName = (haid: string): string => `${haidFileName(haid)}.json`
export const claimFilePath = (dir: string, haid: string): string => join(dir, 'claims', claimFileName(haid))
export const EVENTS_FILE = 'events.jsonl'
/** Earlier files of events, set aside for their size. */
export const ASIDE_FOLDER = 'events'

/** File to size, time and inode. */
export type LedgerSignature = Readonly<Record<string, string>>

export function ledgerSignature(project: Project): LedgerSignature {
  const dir = ledgerDir(project)
  const files = [...eventFiles(dir), ...claimFileNames(dir).map((name) => `claims/${name}`)]
  return Object.fromEntries(
    files.flatMap((name) => {
      const stamp = stampOf(join(dir, name))
      return stamp === undefined ? [] : [[name, stamp]]
    }),
  )
}

/** Of the path itself: a link that leads nowhere, or round in circles, is a file like any other here. */
export function stampOf(path: string): string | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats === undefined ? undefined : `${stats.size}:${stats.mtimeMs}:${stats.ino}`
  } catch (error) {
    if (isErrno(error, 'ENOTDIR', 'EACCES')) return undefined
    throw error
  }
}

/** The present one, whether or not it is there, and those before it. */
export const eventFiles = (dir: string): string[] => [
  EVENTS_FILE,
  ...namesIn(join(dir, ASIDE_FOLDER), '.jsonl').map((name) => `${ASIDE_FOLDER}/${name}`),
]

export const isEventFile = (name: string): boolean => name === EVENTS_FILE || name.startsWith(`${ASIDE_FOLDER}/`)

export function claimFileNames(dir: string): string[] {
  return namesIn(join(dir, 'claims'), '.json')
}

function namesIn(folder: string, ending: string): string[] {
  // Asked by every command, and often not there: making an error for that costs more than the look.
  if (!existsSync(folder)) return []
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ending) && !name.startsWith('.'))
      .sort()
      .slice(0, REMOTE_FILES_MAX)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}

/** Linked worktrees share the store but have a planning folder each. */
export const signatureKey = (project: Project): string => `ledger:${project.planningDir}`

/** What was taken in, or written by ourselves, when somebody last looked. */
export function knownSignature(rows: Reader, project: Project): LedgerSignature {
  return JSON.parse(rows.localSetting(signatureKey(project)) ?? '{}') as LedgerSignature
}

/** True when files of the ledger have changed since they were last taken in. */
export function hasNews(view: Pick<View, 'project' | 'store'>, signature: LedgerSignature): boolean {
  return !isSameSignature(
    view.store.read((rows) => knownSignature(rows, view.project)),
    signature,
  )
}

export function isSameSignature(a: LedgerSignature, b: LedgerSignature): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}
