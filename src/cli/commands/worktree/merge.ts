// heimdall worktree merge: an agent's commits into the caller's branch.
import { HeimdallError } from '../../../errors.ts'
import { escapeControls } from '../../../ids.ts'
import { findProject } from '../../../paths.ts'
import { repositoryOf } from '../../../spine/worktrees/give.ts'
import { type Merged, mergeWorktree } from '../../../spine/worktrees/merge.ts'
import { type Removed, type RemoveWish, removeWorktree } from '../../../spine/worktrees/remove-worktree.ts'
import type { Context, Run } from '../../command.ts'
import type { worktreeMerge } from '../../table/worktree.ts'
import { removedRecord, removedText } from './removed.ts'

export const run: Run<typeof worktreeMerge> = async (context, { flags, args: { agent } }) => {
  const { cwd, env, note } = context
  const project = findProject(cwd, env)
  repositoryOf(project)
  const merged = await mergeWorktree({
    project,
    agent,
    into: flags.into,
    isSquash: flags.squash === true,
    message: flags.message,
    commitMessage: flags.commit,
    mayRun: flags['while-running'] === true,
    env,
  })
  if (merged.leftBehind > 0)
    note(`warning: ${agent} has left ${countOf(merged.leftBehind)} on the branch that it began with; not merged`)
  const removed =
    flags.remove === true
      ? await remove(context, { project, agent, isForced: false, keepsBranch: false, env }, merged)
      : undefined
  const { leftBehind, ...rest } = merged
  return {
    data: { ...rest, left_behind: leftBehind, removed: removed === undefined ? null : removedRecord(removed) },
    text: [textOf(agent, merged), ...(removed === undefined ? [] : [removedText(removed)])].join('\n'),
  }
}

/** What was merged stays merged when the worktree cannot go, and whoever asked is told both. */
async function remove(context: Context, wish: RemoveWish, merged: Merged): Promise<Removed> {
  try {
    return await removeWorktree(wish)
  } catch (error) {
    if (error instanceof HeimdallError) context.note(`${textOf(wish.agent, merged)}; the worktree stays`)
    throw error
  }
}

const countOf = (commits: number): string => (commits === 1 ? '1 commit' : `${commits} commits`)

function textOf(agent: string, { how, into, commits, after }: Merged): string {
  const branch = escapeControls(into)
  if (how === 'nothing new') return `${branch} has everything that ${agent} has committed`
  const as = { 'fast-forward': '', merge: ' as a merge', squash: ' as one commit' }[how]
  return `${countOf(commits)} of ${agent} merged into ${branch}${as}: ${after.slice(0, 12)}`
}
