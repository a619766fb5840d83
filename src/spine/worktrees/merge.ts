// Brings an agent's commits back: tried in memory first, then done whole or not at all.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import type { Clock } from '../../clock.ts'
import { escapeControls } from '../../ids.ts'
import type { Env, Project } from '../../paths.ts'
import { ask, askIfThere, fieldsOf, foldersOf, git, type Git, gitIn, lastWords } from './git.ts'
import { commitAll } from './condition.ts'
import { halfMade, requireGit } from './give.ts'
import { sessionIn } from './in-use.ts'
import { killedMerges, refuseKilled, whileMerging } from './merging.ts'
import { refuseItself, refuseLosses, refuseUnfinished, type MergeTarget, targetOf } from './merge-target.ts'
import { failureOfCheck } from './merged-check.ts'
import { readRecord, readRecords, withWorktrees } from './owner-record.ts'
import { hasUncommitted, isUnfinished, named, notFound } from './refusals.ts'
import { registeredWorktrees } from './registered.ts'
import { distance, type WorktreeStanding, standingOf } from './standing.ts'

export interface MergeWish {
  readonly project: Project
  readonly agent: string
  /** The branch that is checked out in the project when absent. */
  readonly into: string | undefined
  readonly isSquash: boolean
  readonly message: string | undefined
  /** Commits first what the agent has not. */
  readonly commitMessage: string | undefined
  readonly mayRun: boolean
  /** Must succeed on the merged files before the branch is moved. */
  readonly check?: { readonly command: string; readonly setup: string | null; readonly clock: Clock }
  readonly env: Env
}

export interface Merged {
  readonly how: 'nothing new' | 'fast-forward' | 'merge' | 'squash'
  readonly into: string
  readonly commits: number
  /** Tip of the agent's work, and of the branch before and after. */
  readonly from: string
  readonly before: string
  readonly after: string
  /** The checkout that has the branch. */
  readonly checkout: string | null
  /** What was committed in the worktree before. */
  readonly committed: string | null
  /** Commits that the agent left on the branch that it began with. */
  readonly leftBehind: number
}

export async function mergeWorktree(wish: MergeWish): Promise<Merged> {
  const { project, agent } = wish
  for (const text of [wish.message, wish.commitMessage])
    if (text?.trim() === '')
      throw new HeimdallError('USAGE', 'the message is empty', { hint: 'name what was done, or leave it out' })
  const at = gitIn(project.root, wish.env)
  await requireGit(at)
  const tried = wish.check === undefined ? undefined : await checkMerged(wish, wish.check, at)
  return withWorktrees(project, async () => {
    const { standing, target, hasCommitted } = await readyToMerge(wish, at)
    if (tried !== undefined && tried.tree !== (await treeOf(at, standing, target)))
      throw new HeimdallError('WORKTREE_CHECK_FAILED', `${agent} or ${target.branch} changed during the check`, {
        hint: 'merge again',
      })
    const brought = await bring(wish, at, standing.tip, standing, target)
    const committed = hasCommitted || tried?.hasCommitted === true ? standing.tip : null
    return { ...brought, committed, leftBehind: standing.leftBehind }
  })
}

/** The branch with an agent's work, all of it committed, and the branch that it is meant for. */
export async function branchToPropose(
  wish: Pick<MergeWish, 'project' | 'agent' | 'into' | 'commitMessage' | 'env'>,
): Promise<{ readonly branch: string; readonly into: string }> {
  const at = gitIn(wish.project.root, wish.env)
  return withWorktrees(wish.project, async () => {
    const { standing, target } = await readyToMerge({ ...wish, isSquash: false, message: undefined, mayRun: false }, at)
    const { own, tip, worktree, leftBehind } = standing
    const { branch, path } = worktree
    if (tip === own) return { branch, into: target.branch }
    const where = standing.branch === undefined ? 'on no branch' : `on ${escapeControls(standing.branch)}`
    const inIt = `git -C ${escapeControls(path)}`
    throw new HeimdallError(
      'WORKTREE_TARGET_UNFIT',
      `the work of ${wish.agent} is ${where}, not on ${escapeControls(branch)}; nothing was pushed`,
      {
        hint:
          leftBehind === 0
            ? `${inIt} switch -C ${escapeControls(branch)} brings it there`
            : `${inIt} switch ${escapeControls(branch)}, then ${inIt} merge ${tip.slice(0, 12)}`,
      },
    )
  })
}

interface Ready {
  readonly standing: WorktreeStanding & { readonly tip: string }
  readonly target: MergeTarget
  readonly hasCommitted: boolean
}

/** Refuses whatever is in the way of a merge, and commits what the agent has not, if asked to. */
async function readyToMerge(wish: MergeWish, at: Git): Promise<Ready> {
  const { project, agent } = wish
  const record = readRecord(project, agent)
  if (record === undefined) throw notFound(agent, readRecords(project))
  const registered = await registeredWorktrees(at)
  const before = await standingOf(at, record, registered)
  if (before.presence === 'half made') throw halfMade(record)
  const target = await targetOf(at, wish.into, registered)
  refuseItself(target, record.path, before.branch ?? (before.presence === 'ready' ? undefined : record.branch))
  refuseAtWork(wish, before)
  if (target.checkout !== undefined) refuseKilled(await killedMerges(project, at), target.checkout.cwd)
  if (before.unfinished !== undefined) throw isUnfinished(record.path, before.unfinished)
  // As the user would: their hooks run, and may refuse. Copied files stay what they are.
  const hasCommitted = before.dirty.length > 0 && wish.commitMessage !== undefined
  if (hasCommitted) await commitAll(at, record, before.dirty, [`--message=${wish.commitMessage}`])
  const standing = hasCommitted ? await standingOf(at, record, await registeredWorktrees(at)) : before
  if (standing.dirty.length > 0) throw hasUncommitted(record, standing.dirty)
  const { tip } = standing
  if (tip === undefined)
    throw new HeimdallError('WORKTREE_NOT_FOUND', `${agent} has neither a folder nor a branch any more`, {
      hint: `heimdall worktree remove ${agent} forgets it`,
    })
  return { standing: { ...standing, tip }, target, hasCommitted }
}

/** Nothing where a merge would add nothing. */
const treeOf = async (at: Git, standing: Ready['standing'], target: MergeTarget): Promise<string | undefined> =>
  (await distance(at, target.commit, standing.tip)).ahead === 0
    ? undefined
    : await mergedTree(target.checkout ?? at, standing, target, standing.tip)

/** The check runs without the lock of worktrees, on files of its own, because it may take minutes. */
async function checkMerged(
  wish: MergeWish,
  check: NonNullable<MergeWish['check']>,
  at: Git,
): Promise<{ readonly tree: string | undefined; readonly hasCommitted: boolean }> {
  const { project, agent, env } = wish
  const { tree, commit, branch, hasCommitted } = await withWorktrees(project, async () => {
    const { standing, target, ...ready } = await readyToMerge(wish, at)
    const merged = await treeOf(at, standing, target)
    if (merged !== undefined && target.checkout !== undefined) await refuseLosses(target, target.checkout, merged)
    const parents = [target.commit, standing.tip]
    const commit = merged === undefined ? undefined : await commitTree(at, merged, parents, `check of ${agent}`)
    return { ...ready, tree: merged, commit, branch: target.branch }
  })
  if (commit === undefined) return { tree, hasCommitted }
  const failure = await failureOfCheck({ project, commit, ...check, env })
  if (failure === undefined) return { tree, hasCommitted }
  throw new HeimdallError(
    'WORKTREE_CHECK_FAILED',
    `${agent} merged into ${escapeControls(branch)} fails ${escapeControls(check.command)}: ${failure}; nothing was merged`,
    { hint: `run it in the worktree: ${escapeControls(readRecord(project, agent)?.path ?? '')}`, details: { agent } },
  )
}

function refuseAtWork({ mayRun, env }: MergeWish, { worktree: { agent, path } }: WorktreeStanding): void {
  const session = mayRun ? undefined : sessionIn(path, env)
  if (session === undefined) return
  throw new HeimdallError('WORKTREE_IN_USE', `${agent} is still at work there, in session ${session}`, {
    hint: `wait for its end (hm wait ${session}), or merge what it has committed so far with --while-running`,
  })
}

type Brought = Omit<Merged, 'committed' | 'leftBehind'>

async function bring(
  wish: MergeWish,
  at: Git,
  tip: string,
  standing: WorktreeStanding,
  target: MergeTarget,
): Promise<Brought> {
  const { commit, branch, checkout } = target
  const facts = { into: branch, from: tip, before: commit, checkout: checkout?.cwd ?? null }
  const { ahead: commits, behind } = await distance(at, commit, tip)
  if (commits === 0) return { ...facts, how: 'nothing new', commits, after: commit }
  if (checkout !== undefined) refuseUnfinished(checkout)
  const tree = await mergedTree(checkout ?? at, standing, target, tip)
  if (checkout !== undefined) await refuseLosses(target, checkout, tree)
  const name = standing.branch ?? standing.worktree.branch
  const isForward = !wish.isSquash && wish.message === undefined && behind === 0
  const merging = { commit, tip, tree, name, message: wish.message }
  const moved = async (): Promise<string> =>
    wish.isSquash
      ? await squashed(at, target, await squashMessage(at, wish, merging), merging)
      : checkout === undefined
        ? await mergedAside(at, branch, merging, isForward)
        : await mergedIn(checkout, merging)
  const after =
    checkout === undefined
      ? await moved()
      : await whileMerging(wish.project, { agent: wish.agent, checkout: checkout.cwd, before: commit }, moved)
  const how = wish.isSquash ? 'squash' : after === tip ? 'fast-forward' : 'merge'
  return { ...facts, how, commits, after }
}

interface Merging {
  readonly commit: string
  readonly tip: string
  readonly tree: string
  readonly name: string
  readonly message: string | undefined
}

/** The tree that the merge would have; refused with the files that both sides changed. Nothing but objects is written. */
async function mergedTree(
  at: Git,
  { worktree }: WorktreeStanding,
  { commit, branch }: MergeTarget,
  tip: string,
): Promise<string> {
  const { code, stdout } = await git(
    at,
    ['merge-tree', '--write-tree', '--name-only', '-z', '--no-messages', '--allow-unrelated-histories', commit, tip],
    { answers: [1] },
  )
  const [tree = '', ...conflicts] = fieldsOf(stdout)
  if (code === 0) return tree
  throw new HeimdallError(
    'WORKTREE_CONFLICT',
    `${worktree.agent} and ${escapeControls(branch)} have both changed ${named(conflicts)}; nothing was merged`,
    {
      hint: `settle it on the agent’s side: git -C ${escapeControls(worktree.path)} merge ${escapeControls(branch)}`,
      details: { agent: worktree.agent, into: branch, conflicts },
    },
  )
}

/** The user's own `git merge`, with their hooks and settings; only what would leave it half done is ruled out. */
async function mergedIn(checkout: Git, { tip, name, message }: Merging): Promise<string> {
  const said = await git(
    checkout,
    [
      'merge',
      '--no-edit',
      '--commit',
      '--no-squash',
      '--no-autostash',
      '--allow-unrelated-histories',
      ...(message === undefined ? [] : ['--no-ff']),
      `--message=${message ?? `Merge branch '${name}'`}`,
      tip,
    ],
    { answers: [1, 2, 128] },
  )
  if (said.code !== 0) {
    if (existsSync(join(foldersOf(checkout).gitDir, 'MERGE_HEAD'))) await git(checkout, ['merge', '--abort'])
    throw new HeimdallError('GIT_FAILED', `git merge: ${lastWords(said)}; nothing was merged`)
  }
  return ask(checkout, ['rev-parse', 'HEAD'])
}

/** No checkout has the branch, so none is touched: a commit is made, and the branch moved from where it was seen. */
async function mergedAside(at: Git, branch: string, merging: Merging, mayForward: boolean): Promise<string> {
  const { commit, tip, tree, name, message } = merging
  const forwards = (await askIfThere(at, ['config', '--get', 'merge.ff'])) !== 'false'
  const after =
    mayForward && forwards
      ? tip
      : await commitTree(at, tree, [commit, tip], message ?? `Merge branch '${name}' into ${branch}`)
  await git(at, ['update-ref', '-m', `merge ${name}`, `refs/heads/${branch}`, after, commit])
  return after
}

/** One commit, made aside and then only moved to: there is no moment at which half of it is there. */
async function squashed(
  at: Git,
  { branch, checkout }: MergeTarget,
  message: string,
  merging: Merging,
): Promise<string> {
  const { commit, tree, name } = merging
  const after = await commitTree(checkout ?? at, tree, [commit], await checkedMessage(checkout ?? at, message))
  if (checkout === undefined)
    await git(at, ['update-ref', '-m', `squash ${name}`, `refs/heads/${branch}`, after, commit])
  else await git(checkout, ['merge', '--quiet', '--ff-only', '--no-squash', '--no-autostash', after])
  return after
}

async function commitTree(at: Git, tree: string, parents: readonly string[], message: string): Promise<string> {
  const signs = (await askIfThere(at, ['config', '--type=bool', '--get', 'commit.gpgSign'])) === 'true'
  const args = ['commit-tree', ...(signs ? ['-S'] : []), ...parents.flatMap((one) => ['-p', one]), '-F', '-', tree]
  return (await git(at, args, { input: `${message.trimEnd()}\n` })).stdout.trim()
}

/** The repository's `commit-msg` hook reads it as it reads every message, may change it, and may refuse. */
async function checkedMessage(at: Git, message: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'heimdall-message-'))
  try {
    const file = join(folder, 'COMMIT_EDITMSG')
    writeFileSync(file, `${message.trimEnd()}\n`)
    await git(at, ['hook', 'run', '--ignore-missing', 'commit-msg', '--', file])
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What was done, and by whom: subjects of the commits, and the trailers that the guard put under them. */
async function squashMessage(at: Git, { agent, message }: MergeWish, { commit, tip }: Merging): Promise<string> {
  const log = (format: string): Promise<string> =>
    ask(at, ['log', '--reverse', '--no-merges', '--no-show-signature', `--format=${format}`, tip, `^${commit}`])
  const trailers = await log('%(trailers:key=Heimdall-Agent,key=Co-authored-by)')
  const unique = [...new Set(trailers.split('\n').filter((line) => line !== ''))].join('\n')
  const text = message ?? `Work of ${agent}\n\n${await log('* %s')}`
  return unique === '' ? text : `${text.trimEnd()}\n\n${unique}`
}
