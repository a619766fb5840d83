// What a commit on a command line would hold: hosts may run git without its hooks, so it is looked at before.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { WritePath } from '../../coordination/claims/writes.ts'
import type { CommitWords } from '../../shell/writes.ts'
import { type Env, homeDir } from '../../paths.ts'
import { askGit } from './ask-git.ts'
import { absolute } from './hook-place.ts'

/** Absolute. Where git does not answer there is nothing to commit, as git will say itself. */
export function commitPaths({ cwd: below, all, paths }: CommitWords, folder: string, env: Env): WritePath[] {
  const home = homeDir(env)
  const cwd = absolute(folder, { path: '', cwd: below }, home)
  const root = asked(cwd, env, ['rev-parse', '--show-toplevel'])[0]?.trim()
  if (root === undefined) return []
  // What a merge brings in is history already, and judged by nobody.
  if (asked(cwd, env, ['rev-parse', '--verify', '--quiet', 'MERGE_HEAD']).length > 0) return []
  const listed = ['--name-only', '--no-renames', '-z']
  const named = paths.map((target) => ({ path: absolute(folder, target, home), isPattern: target.isPattern }))
  // Of a folder goes in what has changed, and nothing else that is in it.
  const folders = named.filter((one) => !one.isPattern && isFolder(one.path)).map(({ path }) => path)
  const changed = (below: readonly string[]): string[] =>
    asked(root, env, ['--literal-pathspecs', 'diff', ...listed, '--', ...below])
  const made = (below: readonly string[]): string[] =>
    asked(root, env, ['--literal-pathspecs', 'ls-files', '--others', '--exclude-standard', '-z', '--', ...below])
  const found = [
    ...asked(root, env, ['diff', '--cached', ...listed]),
    ...(all === null ? [] : changed([])),
    ...(all === 'everything' ? made([]) : []),
    ...(folders.length === 0 ? [] : [...changed(folders), ...made(folders)]),
  ]
  return [
    ...found.map((path) => ({ path: join(root, path), isPattern: false })),
    ...named.filter(({ path }) => !folders.includes(path)),
  ]
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const asked = (cwd: string, env: Env, args: readonly string[]): string[] =>
  askGit(cwd, env, args)
    .split('\0')
    .filter((text) => text !== '')
