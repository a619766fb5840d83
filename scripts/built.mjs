// Whether dist/ is what a build would make now.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDERS = ['src', 'dashboard', 'scripts']
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.types.json']
const NOTE = '.build/built-from'

/** Taken before a build: what is changed while it goes on is not in it for certain. */
export function inputs() {
  const hash = createHash('sha256')
  const paths = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  for (const path of [...FILES, ...paths.toSorted()]) hash.update(`\0${path}\0`).update(readFileSync(path))
  return hash.digest('hex')
}

export const isBuilt = (from, { types }) =>
  existsSync(NOTE) &&
  readFileSync(NOTE, 'utf8') === from &&
  existsSync('dist/cli.cjs') &&
  (!types || existsSync('dist/types'))

/** A build that is broken off has made nothing. */
export const forget = () => rmSync(NOTE, { force: true })

export function note(from) {
  mkdirSync('.build', { recursive: true })
  writeFileSync(NOTE, from)
}
