// A database where nothing can be written: SQLite wants to make a file beside it even to read, so it is told that nobody writes.
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onDisk } from './faults.ts'

export interface StillPlace {
  readonly url: URL
  /** Removes what was made for it. */
  close(): void
}

/**
 * An unfinished log beside the database, which a crash left there before the disk became read-only, holds the latest
 * commits and cannot be read in place: then both are copied to where they can be.
 */
export function stillPlace(path: string): StillPlace {
  const log = `${path}-wal`
  const hasLog = onDisk(path, () => (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0)
  if (!hasLog) return { url: immutable(path), close: () => undefined }
  const folder = onDisk(tmpdir(), () => mkdtempSync(join(tmpdir(), 'heimdall-read-')))
  const copy = join(folder, basename(path))
  const close = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    onDisk(path, () => {
      copyFileSync(path, copy)
      copyFileSync(log, `${copy}-wal`)
    })
  } catch (error) {
    close()
    throw error
  }
  return { url: pathToFileURL(copy), close }
}

function immutable(path: string): URL {
  const url = pathToFileURL(path)
  url.searchParams.set('immutable', '1')
  return url
}
