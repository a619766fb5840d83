// Which files the ledger has, and a signature of them by which everybody sees whether something arrived from elsewhere.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../errors.ts'
import { REMOTE_FILES_MAX } from '../limits.ts'
import type { Project } from '../paths.ts'
import { haidFileName } from './haid.ts'
import type { Reader } from './store.ts'
import type { View } from './view.ts'

export const ledgerDir = (project: Project): string => join(project.planningDir, 'ledger')
export const claimFileName = (haid: string): string => `${haidFileName(haid)}.json`
export const claimFilePath = (dir: string, haid: string): string => join(dir, 'claims', claimFileName(haid))
export const EVENTS_FILE = 'events.jsonl'

/** File to size, time and inode. */
export type Signature = Readonly<Record<string, string>>

export function ledgerSignature(project: Project): Signature {
  const dir = ledgerDir(project)
  const files = [EVENTS_FILE, ...claimFileNames(dir).map((name) => `claims/${name}`)]
  return Object.fromEntries(
    files.flatMap((name) => {
      const stamp = stampOf(join(dir, name))
      return stamp === undefined ? [] : [[name, stamp]]
    }),
  )
}

export function stampOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.size}:${stats.mtimeMs}:${stats.ino}`
}

export function claimFileNames(dir: string): string[] {
  try {
    return readdirSync(join(dir, 'claims'))
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .sort()
      .slice(0, REMOTE_FILES_MAX)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

/** Linked worktrees share the store but have a planning folder each. */
export const signatureKey = (project: Project): string => `ledger:${project.planningDir}`

/** What was taken in, or written by ourselves, when somebody last looked. */
export function knownSignature(rows: Reader, project: Project): Signature {
  return JSON.parse(rows.setting(signatureKey(project)) ?? '{}') as Signature
}

/** True when files of the ledger have changed since they were last taken in. */
export function hasNews(view: Pick<View, 'project' | 'store'>, signature: Signature): boolean {
  return !isSameSignature(
    view.store.read((rows) => knownSignature(rows, view.project)),
    signature,
  )
}

function isSameSignature(a: Signature, b: Signature): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}
