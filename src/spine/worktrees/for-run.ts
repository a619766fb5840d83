// The worktree that a run takes place in: given before its session starts, and taken back if that fails.
import { join, relative } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { escapeControls } from '../../ids.ts'
import { findProject, type Project } from '../../paths.ts'
import { entryAt } from './entry-at.ts'
import { giveWorktree, type WorktreeWish } from './give.ts'
import { type AgentWorktree, writeRecord } from './owner-record.ts'
import { removeWorktree } from './remove-worktree.ts'
import { failureOfCommand } from './shell-command.ts'

export interface RunPlace {
  readonly worktree: AgentWorktree
  readonly project: Project
  /** Where in it the command runs: the same folder below the top as it was asked for, if the commit has that. */
  readonly cwd: string
  /** Removes it if it was made for this run; what somebody has put there meanwhile stays, with a word. */
  readonly undo: () => Promise<void>
}

export async function placeForRun(wish: WorktreeWish, cwd: string): Promise<RunPlace> {
  const { project, agent, env, note } = wish
  const { worktree, isNew } = await giveWorktree(wish)
  const undo = async (): Promise<void> => {
    if (!isNew) return
    try {
      await removeWorktree({ project, agent, isForced: false, keepsBranch: false, env })
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      note(`the worktree ${worktree.path} stays: ${error.message}`)
    }
  }
  await prepare(wish, worktree, undo)
  const inside = join(worktree.path, relative(project.root, cwd))
  const isThere = entryAt(inside)?.isDirectory() === true
  return {
    worktree,
    project: findProject(worktree.path, env),
    cwd: isThere ? inside : worktree.path,
    undo,
  }
}

/** Outside of the lock of worktrees: an install may take minutes. One that was killed is run again by the next start. */
async function prepare(wish: WorktreeWish, worktree: AgentWorktree, undo: () => Promise<void>): Promise<void> {
  const { project, setup, env, clock, note } = wish
  if (worktree.isPrepared || setup === null) return
  note(`preparing the worktree: ${escapeControls(setup)}`)
  const place = { cwd: worktree.path, checkout: project.root, env, clock }
  const failure = await failureOfCommand({ command: setup, ...place }).catch(async (error: unknown) => {
    await undo()
    throw error
  })
  if (failure === undefined) return writeRecord(project, { ...worktree, isPrepared: true })
  await undo()
  throw new HeimdallError('WORKTREE_SETUP_FAILED', `${escapeControls(setup)} failed in the new worktree: ${failure}`, {
    hint: 'the setting worktree.setup names the command',
  })
}
