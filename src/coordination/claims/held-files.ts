// Files inside what others hold that have changed since a moment: a bounded look at the disk, never at more than is held.
import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../../errors.ts'
import { WATCH_ENTRIES_MAX } from '../../limits.ts'
import { holds } from '../../scopes/holds.ts'
import type { Scope } from '../../scopes/scope.ts'

/** Paths from `root` on that the scopes hold and that were written at or after `sinceMs`. */
export function changedFiles(root: string, scopes: readonly Scope[], sinceMs: number): string[] {
  const found = new Set<string>()
  let left = WATCH_ENTRIES_MAX
  for (const scope of scopes) {
    if (scope.kind === 'virtual') continue
    for (const path of filesBelow(root, scope.base)) {
      left -= 1
      if (left < 0) return [...found]
      if (holds(scope, path) && writtenMs(join(root, path)) >= sinceMs) found.add(path)
    }
  }
  return [...found]
}

/** The file itself, or everything below the folder; what git and package managers keep there is nobody's work. */
function* filesBelow(root: string, base: string): Generator<string> {
  const stats = statSync(join(root, base), { throwIfNoEntry: false })
  if (stats === undefined) return
  if (!stats.isDirectory()) {
    yield base
    return
  }
  for (const entry of entriesOf(join(root, base))) {
    const path = base === '' ? entry.name : `${base}/${entry.name}`
    if (!entry.isDirectory()) yield path
    else if (!isSkipped(entry.name)) yield* filesBelow(root, path)
  }
}

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules', '.planning'])
export const isSkipped = (name: string): boolean => SKIPPED.has(name)

export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}

/** When the content last changed; never for what is gone by now. */
const writtenMs = (path: string): number =>
  statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY
