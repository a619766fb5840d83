// Why a worktree is left as it is, in words that say what to do.
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import { WORKTREE_NAMED_MAX } from '../../limits.ts'
import { didYouMean } from '../../suggest.ts'
import type { AgentWorktree } from './owner-record.ts'

export function named(paths: readonly string[]): string {
  const shown = paths.slice(0, WORKTREE_NAMED_MAX).map(escapeControls).join(', ')
  return paths.length > WORKTREE_NAMED_MAX ? `${shown} and ${paths.length - WORKTREE_NAMED_MAX} more` : shown
}

export function notFound(agent: string, known: readonly AgentWorktree[]): HeimdallError {
  const names = known.map((one) => one.agent)
  return new HeimdallError('WORKTREE_NOT_FOUND', `${printable(agent)} has no worktree in this repository`, {
    hint:
      known.length === 0
        ? 'heimdall run --worktree makes one'
        : didYouMean(agent, names, `those that have: ${names.join(', ')}`),
  })
}

export function hasUncommitted({ agent, path }: AgentWorktree, paths: readonly string[]): HeimdallError {
  return new HeimdallError('WORKTREE_UNCOMMITTED', `${agent} has not committed ${named(paths)}`, {
    hint: `commit it (git -C ${escapeControls(path)} commit, or heimdall merge ${agent} --commit MESSAGE); what is not wanted, take away there yourself`,
    details: { agent, path, uncommitted: paths },
  })
}

export function hasRepositories({ agent, path }: AgentWorktree, paths: readonly string[]): HeimdallError {
  return new HeimdallError(
    'WORKTREE_UNCOMMITTED',
    `${named(paths)}: a repository of its own, of which a commit would hold a link and none of the files; nothing was committed`,
    {
      hint: `in ${escapeControls(path)}: move it elsewhere, make it a submodule (git submodule add), or take its .git away so that its files are ${agent}’s`,
      details: { agent, path, uncommitted: paths },
    },
  )
}

export function isUnfinished(where: string, operation: string): HeimdallError {
  return new HeimdallError('WORKTREE_UNFINISHED', `a ${operation} is under way in ${printable(where)}`, {
    hint: `git -C ${escapeControls(where)} status says how to go on with it or to give it up`,
  })
}
