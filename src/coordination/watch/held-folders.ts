// The folders that the system has to tell of, so that no write into some scopes goes unseen.
import { type Dirent, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Project } from '../../paths.ts'
import type { Scope } from '../../scopes/scope.ts'
import { entriesOf, isSkipped } from '../claims/held-files.ts'
import { ignoredPaths } from './git-answers.ts'

/** From the root on; nothing where they are more than `most`. What git ignores is nobody's work and is not among them. */
export async function heldFolders(
  project: Pick<Project, 'root' | 'gitCommonDir'>,
  scopes: readonly Scope[],
  most: number,
): Promise<ReadonlySet<string> | undefined> {
  const found = new Set<string>()
  let level = [...new Set(scopes.flatMap((scope) => (scope.kind === 'virtual' ? [] : [startOf(project.root, scope)])))]
  while (level.length > 0) {
    for (const folder of level) found.add(folder)
    if (found.size > most) return undefined
    const below = level
      .filter((folder) => scopes.some((scope) => isAt(scope, folder)))
      .flatMap((folder) => foldersIn(project.root, folder))
      .filter((folder) => !found.has(folder))
    // Each level is asked about before it is entered: what is ignored may be larger than all the rest.
    const ignored = await ignoredPaths(project, below)
    level = below.filter((folder) => !ignored.has(folder))
  }
  return found
}

/** The scope's own folder, else the nearest one above it that is there. */
function startOf(root: string, { base }: Scope): string {
  let folder = base
  while (folder !== '' && statSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() !== true)
    folder = dirname(folder) === '.' ? '' : dirname(folder)
  return folder
}

/** Everything below the folder may be the scope's. */
const isAt = ({ kind, base }: Scope, folder: string): boolean =>
  kind !== 'virtual' && (base === '' || folder === base || folder.startsWith(`${base}/`))

const foldersIn = (root: string, folder: string): string[] =>
  entriesOf(join(root, folder))
    .filter((entry: Dirent) => entry.isDirectory() && !isSkipped(entry.name))
    .map(({ name }) => (folder === '' ? name : `${folder}/${name}`))
