// Removes an agent's worktree when nothing is lost with it. What is uncommitted is never removed; commits that nothing else has are kept under a ref.
import { existsSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HeimdallError, isErrno } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import type { Env, Project } from '../../paths.ts'
import { removeIfThere } from '../../storage/atomic-file.ts'
import { commitAll, headOf, withIndexCopy } from './condition.ts'
import { isBeyondLink } from './entry-at.ts'
import { ask, fieldsOf, foldersOf, git, type Git, gitIn } from './git.ts'
import { requireGit } from './give.ts'
import { atWorkIn, sessionIn } from './in-use.ts'
import { type AgentWorktree, readRecord, readRecords, removeRecord, withWorktrees } from './owner-record.ts'
import { hasUncommitted, isUnfinished, named, notFound } from './refusals.ts'
import { registeredWorktrees } from './registered.ts'
import { type Submodules, submodulesIn } from './submodules.ts'
import { isMergedInto, type WorktreeStanding, standingOf } from './standing.ts'

export interface RemoveWish {
  readonly project: Project
  readonly agent: string
  /** A person has said that unmerged commits may go from the branches; they stay under a ref. */
  readonly isForced: boolean
  readonly keepsBranch: boolean
  /** What is not committed is committed first, so that it stays under a ref with the commits. */
  readonly discards?: true
  readonly env: Env
}

export interface Removed {
  readonly worktree: AgentWorktree
  /** The branch that went with it; null when it stayed, or was gone. */
  readonly deletedBranch: string | null
  /** A branch of the agent's own that stays. */
  readonly keptBranch: string | null
  /** Refs that keep commits which no branch has any more. */
  readonly keptUnder: readonly string[]
}

export async function removeWorktree(wish: RemoveWish): Promise<Removed> {
  const at = gitIn(wish.project.root, wish.env)
  await requireGit(at)
  return withWorktrees(wish.project, async () => {
    const record = readRecord(wish.project, wish.agent)
    if (record === undefined) throw notFound(wish.agent, readRecords(wish.project))
    const registered = await registeredWorktrees(at)
    const before = await standingOf(at, record, registered)
    const leftovers = wish.discards === true && before.presence === 'ready' ? before.dirty : []
    if (leftovers.length > 0) {
      refuseInUse(wish.env, record)
      if (before.unfinished !== undefined) throw isUnfinished(record.path, before.unfinished)
      // Without hooks: they judge work that is to be kept.
      await commitAll(at, record, leftovers, ['--no-verify', `--message=Discarded work of ${record.agent}`])
    }
    const standing = leftovers.length === 0 ? before : await standingOf(at, record, await registeredWorktrees(at))
    const submodules = await submodulesOf(at, standing)
    await refuseLosses(wish, at, standing, submodules)
    const lost = await lostTips(wish, at, standing)
    await refuseUnmerged(wish, at, standing, lost)
    const keptUnder = await keepTips(at, record, lost)
    await takeAway(at, standing, submodules)
    const { own } = standing
    // Somebody may have checked it out elsewhere, to look at it.
    const isOthers = registered.some(({ path, branch }) => branch === record.branch && path !== record.path)
    const deletes = own !== undefined && !wish.keepsBranch && !isOthers
    if (deletes) await git(at, ['update-ref', '-d', `refs/heads/${record.branch}`, own])
    removeRecord(wish.project, record.agent)
    removeFolderIfEmpty(dirname(record.path))
    const kept = standing.branch !== record.branch ? standing.branch : wish.keepsBranch ? record.branch : undefined
    return { worktree: record, deletedBranch: deletes ? record.branch : null, keptBranch: kept ?? null, keptUnder }
  })
}

async function submodulesOf(at: Git, { presence, worktree }: WorktreeStanding): Promise<Submodules> {
  return presence === 'ready' ? submodulesIn({ ...at, cwd: worktree.path }) : { areThere: false, checkedOut: [] }
}

async function refuseLosses(
  { env }: RemoveWish,
  at: Git,
  standing: WorktreeStanding,
  { checkedOut }: Submodules,
): Promise<void> {
  const { worktree, presence, lockedFor, dirty, copiesChanged } = standing
  const { agent, path } = worktree
  refuseInUse(env, worktree)
  if (presence === 'half made') return refuseForeignFiles(at, worktree)
  if (lockedFor !== undefined)
    throw new HeimdallError(
      'WORKTREE_IN_USE',
      `${printable(path)} is locked${lockedFor === '' ? '' : `: ${escapeControls(lockedFor)}`}`,
      { hint: `git worktree unlock ${escapeControls(path)}` },
    )
  if (standing.unfinished !== undefined) throw isUnfinished(path, standing.unfinished)
  if (dirty.length > 0) throw hasUncommitted(worktree, dirty)
  if (checkedOut.length > 0)
    throw new HeimdallError(
      'WORKTREE_UNCOMMITTED',
      `submodules are checked out there, and some of their commits may be nowhere else: ${named(checkedOut)}`,
      {
        hint: `push them, then: git -C ${escapeControls(path)} submodule deinit --all; and remove what is left of them`,
        details: { agent, path, uncommitted: checkedOut },
      },
    )
  if (copiesChanged.length > 0)
    throw new HeimdallError(
      'WORKTREE_UNCOMMITTED',
      `${agent} has changed what was copied for it: ${named(copiesChanged)}`,
      {
        hint: `look at it in ${escapeControls(path)}, bring home what is wanted, and delete the copy`,
        details: { agent, path, uncommitted: copiesChanged },
      },
    )
}

function refuseInUse(env: Env, { agent, path }: AgentWorktree): void {
  const session = sessionIn(path, env)
  if (session !== undefined)
    throw new HeimdallError('WORKTREE_IN_USE', `${agent} is still at work there, in session ${session}`, {
      hint: `heimdall kill ${session} ends it`,
    })
  const someone = atWorkIn(path).find(({ pid }) => pid !== process.pid)
  if (someone !== undefined)
    throw new HeimdallError(
      'WORKTREE_IN_USE',
      `${printable(someone.program)} (process ${someone.pid}) is in ${printable(path)}`,
      { hint: 'end it, or cd elsewhere if it is your own shell' },
    )
}

/** What a killed git has put there is missing or as in the commit; everything else is somebody's. */
async function refuseForeignFiles(at: Git, worktree: AgentWorktree): Promise<void> {
  if (!existsSync(worktree.path)) return
  const files = await withIndexCopy(at, async ({ env }) => {
    // Not asked of the worktree itself: what git knows of that may be as half made as its files.
    const outside = { cwd: at.cwd, env: { ...env, GIT_WORK_TREE: worktree.path, GIT_DIR: foldersOf(at).gitDir } }
    await git(outside, ['read-tree', worktree.base])
    return (await git(outside, ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all'])).stdout
  })
  const foreign = fieldsOf(files)
    .filter((field) => field[1] !== 'D' && field[1] !== ' ')
    .map((field) => field.slice(3))
  if (foreign.length > 0) throw hasUncommitted(worktree, foreign)
}

/**
 * What the worktree and the branch that goes with it end with, where nothing else has it. A branch that the agent made
 * itself stays, so it needs no keeping.
 */
async function lostTips({ keepsBranch }: RemoveWish, at: Git, standing: WorktreeStanding): Promise<string[]> {
  const { worktree, own, tip } = standing
  const head = standing.branch === undefined && tip !== own ? tip : undefined
  const lost: string[] = []
  for (const commit of [keepsBranch ? undefined : own, head])
    if (commit !== undefined && !(await isElsewhere(at, worktree, commit))) lost.push(commit)
  return lost
}

async function refuseUnmerged(
  wish: RemoveWish,
  at: Git,
  standing: WorktreeStanding,
  tips: readonly string[],
): Promise<void> {
  if (wish.isForced || tips.length === 0) return
  const targets = new Set([standing.against.commit, (await headOf(at)).commit])
  for (const commit of tips) {
    if (await isMergedIntoOne(at, commit, targets)) continue
    const { agent } = wish
    throw new HeimdallError(
      'WORKTREE_UNMERGED',
      `${agent} has commits that no other branch has (${standing.ahead} ahead of ${escapeControls(standing.against.name)})`,
      {
        hint: `heimdall merge ${agent}, or keep them where they are with --keep-branch; a human may remove it with --force`,
        details: { agent, tip: commit, ahead: standing.ahead },
      },
    )
  }
}

async function isMergedIntoOne(at: Git, commit: string, targets: Iterable<string | undefined>): Promise<boolean> {
  for (const target of targets) if (target !== undefined && (await isMergedInto(at, commit, target))) return true
  return false
}

/** On another branch, a remote's branch, a tag, or kept from an earlier removal. */
async function isElsewhere(at: Git, { branch }: AgentWorktree, commit: string): Promise<boolean> {
  const refs = await ask(at, [
    'for-each-ref',
    '--format=%(refname)',
    `--contains=${commit}`,
    'refs/heads',
    'refs/remotes',
    'refs/tags',
    REMOVED,
  ])
  return refs.split('\n').some((ref) => ref !== '' && ref !== `refs/heads/${branch}`)
}

const REMOVED = 'refs/heimdall/removed'

async function keepTips(at: Git, record: AgentWorktree, tips: readonly string[]): Promise<string[]> {
  const kept: string[] = []
  for (const commit of tips) {
    // What was kept before may lead to it.
    if (kept.length > 0 && (await isElsewhere(at, record, commit))) continue
    const ref = `${REMOVED}/${record.agent}/${commit.slice(0, 12)}`
    await git(at, ['update-ref', '-m', `worktree of ${record.agent} removed`, ref, commit])
    kept.push(ref)
  }
  return kept
}

/** That of the project, with its last worktree. */
function removeFolderIfEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error
  }
}

/** Without force: git looks itself once more at what is uncommitted, in the moment before it deletes. */
async function takeAway(
  at: Git,
  { presence, worktree: { path }, copies }: WorktreeStanding,
  { areThere: hasSubmodules }: Submodules,
): Promise<void> {
  if (presence === 'absent') return
  // Each is as it came: the checkout that it came from has it. Through a link it could be that checkout's own file.
  for (const copy of copies) if (!isBeyondLink(path, copy.path)) removeIfThere(join(path, copy.path))
  if (presence === 'half made') await git(at, ['worktree', 'unlock', '--', path])
  // Of empty submodules git asks for force; that they are empty, and the rest is clean, was looked at just now.
  const needsForce = presence === 'half made' || hasSubmodules
  await git(at, ['worktree', 'remove', ...(needsForce ? ['--force'] : []), '--', path])
}
