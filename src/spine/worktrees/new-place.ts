// Where an agent's worktree goes and what its branch is called: outside of every checkout, under names that are free.
import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { HeimdallError, isErrno } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { contains, type Env, stateDir } from '../../paths.ts'
import { ask, fieldsOf, type Git } from './git.ts'

/** `worktree.dir` of the settings, or a folder beside the runs: no checkout has it inside, so no tool walks into it. */
export function worktreesDir(env: Env, configured: string | null, cwd: string): string {
  return configured === null ? join(stateDir(env), 'worktrees') : resolve(cwd, configured)
}

/** A folder that is free, named after the project and the agent. The digits tell two projects of one name apart. */
export function freePath(dir: string, gitCommonDir: string, agent: string): string {
  if (/[\n\r]/.test(dir))
    throw new HeimdallError(
      'WORKTREE_PLACE_UNFIT',
      `${printable(dir)} has a line feed in its name, which git cannot keep`,
    )
  const name = basename(gitCommonDir) === '.git' ? basename(dirname(gitCommonDir)) : basename(gitCommonDir, '.git')
  const digits = createHash('sha256').update(gitCommonDir).digest('hex').slice(0, 8)
  const folder = join(dir, `${name.replaceAll(/[^A-Za-z0-9._-]+/g, '-')}-${digits}`)
  return firstFree(
    (ending) => join(folder, `${agent}${ending}`),
    (path) => existsSync(path),
  )
}

/** Inside a checkout its files would be the other's untracked ones, and a cleaning there would take them. */
export function refuseInside(checkouts: readonly string[], dir: string): void {
  const real = realPath(dir)
  const around = checkouts.find((root) => contains(root, real))
  if (around === undefined) return
  throw new HeimdallError('WORKTREE_PLACE_UNFIT', `${printable(dir)} is inside of the checkout ${printable(around)}`, {
    hint: 'set worktree.dir to a folder outside of the repository',
  })
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (!isErrno(error, 'ENOENT') || dirname(path) === path) throw error
    return join(realPath(dirname(path)), basename(path))
  }
}

/** `heimdall/amber-otter`, or the next name after it that is neither taken nor a folder of other branches. */
export async function freeBranch(at: Git, agent: string): Promise<string> {
  const taken = fieldsOf(
    await ask(at, ['for-each-ref', '--format=%(refname:lstrip=2)%00', 'refs/heads/']).then(oneLine),
  )
  // A branch that is called heimdall leaves no room for others below it.
  const first = taken.includes('heimdall') ? `heimdall-${agent}` : `heimdall/${agent}`
  return firstFree(
    (ending) => `${first}${ending}`,
    (name) => taken.some((branch) => branch === name || branch.startsWith(`${name}/`)),
  )
}

const oneLine = (text: string): string => text.replaceAll('\n', '')

function firstFree(name: (ending: string) => string, isTaken: (name: string) => boolean): string {
  for (let number = 1; ; number += 1) {
    const one = name(number === 1 ? '' : `-${number}`)
    if (!isTaken(one)) return one
  }
}
