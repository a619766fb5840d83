// heimdall worktree list: what each agent has done in its worktree.
import { escapeControls } from '../../../ids.ts'
import { type Env, findProject } from '../../../paths.ts'
import { repositoryOf } from '../../../spine/worktrees/give.ts'
import { sessionIn } from '../../../spine/worktrees/in-use.ts'
import { named } from '../../../spine/worktrees/refusals.ts'
import { overlapsOf, type WorktreeStanding, standings, unfinishedElsewhere } from '../../../spine/worktrees/standing.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { worktreeList } from '../../table/worktree.ts'

export const run: Run<typeof worktreeList> = async ({ cwd, env, style }) => {
  const project = findProject(cwd, env)
  repositoryOf(project)
  const all = await standings(project, env)
  const worktrees = all.map((one) => recordOf(one, all, env))
  const elsewhere = await unfinishedElsewhere(project, env)
  const data = { worktrees, unfinished: elsewhere }
  const warnings = elsewhere.map(({ said }) => said)
  if (worktrees.length === 0) return { data, text: ['no agent has a worktree here', ...warnings].join('\n') }
  const table = renderTable(
    style,
    ['AGENT', 'BRANCH', 'STATE', 'AHEAD', 'BEHIND', 'UNCOMMITTED', 'MERGED', 'SESSION', 'PATH'],
    worktrees.map((one) => [
      one.agent,
      escapeControls(one.branch ?? '(detached)'),
      one.unfinished === null ? one.state : `in a ${one.unfinished}`,
      String(one.ahead),
      String(one.behind),
      String(one.dirty.length + one.copies_changed.length),
      one.merged,
      one.session ?? '-',
      escapeControls(one.path),
    ]),
  )
  const collisions = worktrees.flatMap(({ agent, collides_with }) =>
    // Each pair once.
    collides_with
      .filter((other) => agent < other.agent)
      .map(({ agent: other, paths }) => `${agent} and ${other} have both changed ${named(paths)}`),
  )
  return { data, text: [table, ...collisions, ...warnings].join('\n') }
}

function recordOf(one: WorktreeStanding, all: readonly WorktreeStanding[], env: Env) {
  const { worktree, presence, against } = one
  return {
    agent: worktree.agent,
    path: worktree.path,
    state: presence,
    branch: one.branch ?? (presence === 'ready' ? null : worktree.branch),
    base: worktree.base,
    against: against.name,
    tip: one.tip ?? null,
    ahead: one.ahead,
    behind: one.behind,
    merged: one.merged,
    dirty: one.dirty,
    copies_changed: one.copiesChanged,
    left_behind: one.leftBehind,
    unfinished: one.unfinished ?? null,
    locked: one.lockedFor ?? null,
    session: presence === 'ready' ? (sessionIn(worktree.path, env) ?? null) : null,
    made_at: worktree.madeAt,
    collides_with: overlapsOf(one, all),
  }
}
