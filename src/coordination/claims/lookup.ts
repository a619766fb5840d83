// The disk as scopes need to know it: real paths inside the project, files or folders, and whether case matters here.
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isErrno } from '../../errors.ts'
import { contains, type Project } from '../../paths.ts'
import type { PathOnDisk, Lookup, ScopeContext } from '../../scopes/scope.ts'

/** How scopes typed in `cwd` are read in this project. */
export function scopeContext(project: Project, cwd: string, caseSensitive: boolean): ScopeContext {
  return {
    root: project.root,
    otherRoots: worktreeRoots(project),
    cwd,
    caseSensitive,
    lookup: diskLookup(project.root),
  }
}

export function diskLookup(root: string): Lookup {
  return {
    look(path): PathOnDisk {
      const plain = lookPlainly(root, path)
      if (plain !== undefined) return plain
      const real = realPath(join(root, path))
      if (!contains(root, real.path)) return { kind: 'outside', path: real.path }
      return { kind: real.kind, path: relative(root, real.path).split(sep).join('/').normalize('NFC') }
    },
  }
}

/**
 * Most paths have no link in them, and then one look per segment settles it: no error is made for what is missing,
 * which costs more than all the looks. Nothing as soon as there is a link, or anything else out of the ordinary.
 */
function lookPlainly(root: string, path: string): PathOnDisk | undefined {
  if (path.length > PLAIN_PATH_CHARS_MAX) return undefined
  let at = root
  let isFolder = true
  for (const name of path.split('/')) {
    if (!isFolder) return { kind: 'missing', path }
    if (name === '' || name === '.' || name === '..') return undefined
    at = `${at}${sep}${name}`
    const stats = lstatSync(at, { throwIfNoEntry: false })
    if (stats === undefined) return { kind: 'missing', path }
    if (stats.isSymbolicLink()) return undefined
    isFolder = stats.isDirectory()
  }
  return { kind: isFolder ? 'dir' : 'file', path }
}

/** A name or path that the system refuses for its length is left to the slower way, which knows what to make of it. */
const PLAIN_PATH_CHARS_MAX = 200

/** As many links in a row as Linux follows. */
const LINKS_MAX = 40

/** Follows links in the part that exists and keeps the rest as written. */
function realPath(path: string, links = 0): { kind: 'file' | 'dir' | 'missing'; path: string } {
  const rest: string[] = []
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      const real = realpathSync(existing)
      const kind = rest.length > 0 ? 'missing' : statSync(real).isDirectory() ? 'dir' : 'file'
      return { kind, path: join(real, ...rest) }
    } catch (error) {
      if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP')) throw error
      // A link to something that does not exist yet still decides where a write through it would land.
      const target = links < LINKS_MAX ? linkTarget(existing) : undefined
      if (target !== undefined) return realPath(join(target, ...rest), links + 1)
      if (dirname(existing) === existing) return { kind: 'missing', path }
      rest.unshift(basename(existing))
    }
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path))
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EINVAL')) return undefined
    throw error
  }
}

/** Roots of all worktrees of the repository, this one included. */
export function worktreeRoots(project: Project): string[] {
  const { gitCommonDir } = project
  if (gitCommonDir === undefined) return [project.root]
  const linked = namesIn(join(gitCommonDir, 'worktrees')).flatMap((name) => {
    const gitFile = readIfThere(join(gitCommonDir, 'worktrees', name, 'gitdir'))?.trim()
    return gitFile === undefined ? [] : [dirname(gitFile)]
  })
  return [...new Set([project.root, ...(basename(gitCommonDir) === '.git' ? [dirname(gitCommonDir)] : []), ...linked])]
}

/** Measured, not guessed from the name of the system: does another spelling of a file that is there lead to it? */
export function measureCase(project: Project): boolean {
  const probe = namesIn(project.root).find((name) => swapCase(name) !== name)
  if (probe !== undefined) return isOtherFile(project.root, probe)
  const name = `.heimdall-case-${process.pid}`
  try {
    writeFileSync(join(project.root, name), '', { flag: 'wx' })
    return isOtherFile(project.root, name)
  } catch (error) {
    // A folder that cannot be written to: nothing is lost by the common answer.
    if (isErrno(error, 'EACCES', 'EROFS', 'EEXIST')) return true
    throw error
  } finally {
    rmSync(join(project.root, name), { force: true })
  }
}

function isOtherFile(folder: string, name: string): boolean {
  const here = lstatSync(join(folder, name), { throwIfNoEntry: false })
  const there = lstatSync(join(folder, swapCase(name)), { throwIfNoEntry: false })
  return here === undefined || there === undefined || here.ino !== there.ino || here.dev !== there.dev
}

function swapCase(text: string): string {
  return text.replace(/\p{L}/gu, (char) => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()))
}

function namesIn(folder: string): string[] {
  // Asked on every check, and mostly not there: making an error for that costs more than the look.
  if (!existsSync(folder)) return []
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}
