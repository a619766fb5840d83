// The branch that an agent's work is merged into, and whether the checkout that has it would lose anything.
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import { entryAt, filesBelow } from './entry-at.ts'
import { branchOf, uncommitted, unfinished } from './condition.ts'
import { ask, fieldsOf, type Git, tipsOf } from './git.ts'
import { isUnfinished, named } from './refusals.ts'
import type { Registered } from './registered.ts'

export interface MergeTarget {
  readonly branch: string
  readonly commit: string
  /** The checkout that has the branch; nothing when none has. */
  readonly checkout: Git | undefined
}

export async function targetOf(
  at: Git,
  into: string | undefined,
  registered: readonly Registered[],
): Promise<MergeTarget> {
  const own = await branchOf(at)
  const branch = into ?? own
  if (branch === undefined)
    throw unfit(`no branch is checked out in ${printable(at.cwd)}`, 'git switch BRANCH, or name one with --into')
  const commit = (await tipsOf(at, [branch])).get(branch)
  if (commit === undefined) throw unfit(`${printable(branch)} is not a branch with commits`, 'git branch lists them')
  if (branch === own) return { branch, commit, checkout: at }
  const elsewhere = registered.find((one) => one.branch === branch && !one.isBare)
  return { branch, commit, checkout: elsewhere === undefined ? undefined : { ...at, cwd: elsewhere.path } }
}

const unfit = (message: string, hint: string): HeimdallError =>
  new HeimdallError('WORKTREE_TARGET_UNFIT', message, { hint })

export function refuseItself(
  { branch, checkout }: MergeTarget,
  agentsPath: string,
  agentsBranch: string | undefined,
): void {
  if (branch === agentsBranch || checkout?.cwd === agentsPath)
    throw unfit(
      `${escapeControls(branch)} is the agent’s own branch`,
      'call it in your checkout, or name one with --into',
    )
}

export function refuseUnfinished(checkout: Git): void {
  const operation = unfinished(checkout)
  if (operation !== undefined) throw isUnfinished(checkout.cwd, operation)
}

/** Refuses before anything is begun: git would do so for most of this in the middle, and for ignored files not at all. */
export async function refuseLosses({ commit }: MergeTarget, checkout: Git, tree: string): Promise<void> {
  const changes = await uncommitted(checkout)
  const staged = changes.filter(({ letters }) => !/^[ ?]/.test(letters)).map(({ path }) => path)
  if (staged.length > 0) throw dirty(checkout, 'staged and not committed', staged)
  const { touched, added } = await changesOf(checkout, commit, tree)
  const own = changes.map(({ path }) => path).filter((path) => touched.some((other) => isOneInOther(path, other)))
  if (own.length > 0) throw dirty(checkout, 'not committed, and the merge would change', own)
  const ways = new Set(touched)
  const ignored = [...new Set(added.flatMap((path) => inTheWay(checkout.cwd, path, ways)))]
  if (ignored.length > 0) throw dirty(checkout, 'not in git, and the merge would overwrite', ignored)
}

/** Files that differ between the two, and those of them that only the second has. */
async function changesOf(at: Git, from: string, to: string): Promise<Record<'touched' | 'added', readonly string[]>> {
  const fields = fieldsOf(await ask(at, ['diff-tree', '-r', '-z', '--name-status', '--no-renames', from, to]))
  const touched = fields.filter((_, index) => index % 2 === 1)
  return { touched, added: touched.filter((_, index) => fields[2 * index] === 'A') }
}

function dirty({ cwd }: Git, what: string, paths: readonly string[]): HeimdallError {
  return new HeimdallError('WORKTREE_TARGET_DIRTY', `in ${printable(cwd)} there is, ${what}: ${named(paths)}`, {
    hint: 'commit it or move it out of the way, then merge again',
    details: { checkout: cwd, paths },
  })
}

const isOneInOther = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`)

/** What is on disk where the merge would put a new file, and is no file that the merge itself takes away. */
function inTheWay(root: string, path: string, touched: ReadonlySet<string>): string[] {
  const segments = path.split('/')
  for (let length = 1; length <= segments.length; length += 1) {
    const part = segments.slice(0, length).join('/')
    const stats = entryAt(join(root, part))
    if (stats === undefined) return []
    if (!stats.isDirectory()) return length < segments.length && touched.has(part) ? [] : [part]
  }
  return filesBelow(root, path).filter((file) => !touched.has(file))
}
