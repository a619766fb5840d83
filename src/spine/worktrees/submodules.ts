// Submodules of a worktree: repositories inside of it, whose commits may be nowhere else.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ask, fieldsOf, foldersOf, type Git } from './git.ts'
import { entryAt } from './entry-at.ts'

export interface Submodules {
  /** The commit has some: git alone then removes the worktree with force or not at all, also when they are empty. */
  readonly areThere: boolean
  /** What is kept of them there: folders that are not empty, and repositories that were fetched for this worktree. */
  readonly checkedOut: readonly string[]
}

export async function submodulesIn(here: Git): Promise<Submodules> {
  const paths = fieldsOf(await ask(here, ['ls-files', '--stage', '-z']))
    .filter((entry) => entry.startsWith('160000 '))
    .map((entry) => entry.slice(entry.indexOf('\t') + 1))
  const modules = join(foldersOf(here).gitDir, 'modules')
  const full = paths.filter((path) => {
    const folder = join(here.cwd, path)
    return entryAt(folder)?.isDirectory() === true && readdirSync(folder).length > 0
  })
  return { areThere: paths.length > 0, checkedOut: existsSync(modules) ? [...new Set([...full, modules])] : full }
}
