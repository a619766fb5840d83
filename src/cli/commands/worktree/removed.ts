// What became of a worktree that was removed, for programs and for people.
import { escapeControls } from '../../../ids.ts'
import type { Removed } from '../../../spine/worktrees/remove-worktree.ts'

export const removedRecord = ({ worktree, deletedBranch, keptBranch, keptUnder }: Removed) => ({
  agent: worktree.agent,
  path: worktree.path,
  deleted_branch: deletedBranch,
  kept_branch: keptBranch,
  kept_under: keptUnder,
})

export function removedText({ worktree, deletedBranch, keptBranch, keptUnder }: Removed): string {
  return [
    `worktree of ${worktree.agent} removed`,
    ...(deletedBranch === null ? [] : [`branch ${escapeControls(deletedBranch)} deleted`]),
    ...(keptBranch === null ? [] : [`branch ${escapeControls(keptBranch)} stays`]),
    ...keptUnder.map((ref) => `its commits are kept: git log ${ref}`),
  ].join('; ')
}
