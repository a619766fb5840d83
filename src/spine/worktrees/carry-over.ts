// Files that git does not have and an agent needs: brought along when asked for, and the rest named, so that nobody wonders where they are.
import { createHash } from 'node:crypto'
import { constants, copyFileSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import { WORKTREE_COPIED_FILES_MAX, WORKTREE_NAMED_MAX } from '../../limits.ts'
import { resolveInside } from '../../paths.ts'
import { onDisk } from '../../storage/faults.ts'
import { entryAt, filesBelow, isBeyondLink } from './entry-at.ts'
import { ask, fieldsOf, git, type Git } from './git.ts'
import type { Copied } from './owner-record.ts'

export interface WantedPath {
  readonly path: string
  /** Asked for on the command line: then it has to be there. A setting names what some checkouts have. */
  readonly isRequired: boolean
}

const INCLUDE_FILE = '.worktreeinclude'

/** Files that git ignores and that match a pattern of `.worktreeinclude`, which has the syntax of `.gitignore`. */
export async function includedFiles(at: Git): Promise<string[]> {
  if (entryAt(join(at.cwd, INCLUDE_FILE))?.isFile() !== true) return []
  const matching = await ask(at, ['ls-files', '--others', '--ignored', `--exclude-from=${INCLUDE_FILE}`, '-z'])
  if (matching === '') return []
  // What is neither ignored nor committed is work in progress of the checkout, and stays there.
  const { stdout } = await git(at, ['check-ignore', '-z', '--stdin'], { input: matching, answers: [1] })
  // A repository inside of this one is named as one folder, and is not copied.
  return fieldsOf(stdout).filter((path) => !path.endsWith('/'))
}

/** All files that the wanted paths stand for, relative to the checkout; refused before anything is made. */
export function filesToCopy(from: string, wanted: readonly WantedPath[], included: readonly string[]): string[] {
  const asked = wanted.flatMap(({ path, isRequired }) => {
    const full = resolveInside(from, path)
    const name = relative(from, full)
    if (name === '' || name.split(sep)[0] === '.git')
      throw new HeimdallError('USAGE', `${printable(path)} cannot be copied into a worktree`, {
        hint: 'name files or folders that git does not have, such as .env',
      })
    if (entryAt(full) !== undefined) return filesBelow(from, name)
    if (!isRequired) return []
    throw new HeimdallError('USAGE', `${printable(path)} is not in ${printable(from)}`, {
      hint: '--copy names files of the checkout that the worktree is made from',
    })
  })
  const files = [...asked, ...included]
  if (files.length > WORKTREE_COPIED_FILES_MAX)
    throw new HeimdallError('USAGE', `${files.length} files to copy, limit ${WORKTREE_COPIED_FILES_MAX}`, {
      hint: 'what a tool can make again, such as node_modules, is better made in the worktree by worktree.setup',
    })
  return [...new Set(files)]
}

/** What is there already is left: it came with the commit, or the agent has changed it; no link is followed out of `to`. Says what is there of the source. */
export function copyFiles(from: string, to: string, files: readonly string[]): Copied[] {
  return files.flatMap((path) => {
    if (isBeyondLink(to, path)) return []
    const [source, target] = [join(from, path), join(to, path)]
    onDisk(target, () => {
      if (entryAt(target) !== undefined) return
      mkdirSync(dirname(target), { recursive: true })
      if (lstatSync(source).isSymbolicLink()) symlinkSync(readlinkSync(source), target)
      else copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    })
    const sha256 = contentOf(source)
    return sha256 !== undefined && sha256 === contentOf(target) ? [{ path, sha256 }] : []
  })
}

/** Copied files that are no longer as they came: git ignores most of them, so nobody else would see the change. */
export function changedCopies(at: string, copied: readonly Copied[]): string[] {
  return copied.flatMap(({ path, sha256 }) => {
    const now = isBeyondLink(at, path) ? undefined : contentOf(join(at, path))
    return now === undefined || now === sha256 ? [] : [path]
  })
}

function contentOf(path: string): string | undefined {
  const stats = entryAt(path)
  if (stats === undefined) return undefined
  const content = stats.isSymbolicLink() ? readlinkSync(path) : stats.isFile() ? readFileSync(path) : ''
  return createHash('sha256').update(content).digest('hex')
}

/** What the checkout has and the worktree has not, in a few words; nothing where they are alike. `shared` is there after all. */
export async function notThere(at: Git, shared: readonly string[]): Promise<string | undefined> {
  const text = await ask(at, [
    '--no-optional-locks',
    'status',
    '--porcelain=v1',
    '-z',
    '--no-renames',
    '--ignored=traditional',
    '--untracked-files=normal',
  ])
  const names = { untracked: [] as string[], changed: 0 }
  for (const field of fieldsOf(text)) {
    const path = field.slice(3)
    if (!/^(\?\?|!!) /.test(field)) names.changed += 1
    else if (!shared.some((file) => file === path || (path.endsWith('/') && file.startsWith(path))))
      names.untracked.push(path)
  }
  const parts = [
    ...(names.changed === 0 ? [] : [`uncommitted changes in ${names.changed} tracked files`]),
    ...names.untracked.slice(0, WORKTREE_NAMED_MAX).map(escapeControls),
    ...(names.untracked.length > WORKTREE_NAMED_MAX ? [`${names.untracked.length - WORKTREE_NAMED_MAX} more`] : []),
  ]
  return parts.length === 0 ? undefined : parts.join(', ')
}
