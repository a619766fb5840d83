// heimdall worktree, diff, merge: what agents have changed in their worktrees, and how it comes back.
import { spawn } from 'node:child_process'
import { HeimdallError } from '../../errors.ts'
import { escapeControls } from '../../ids.ts'
import { type Env, findProject } from '../../paths.ts'
import { requirePerson } from '../../person.ts'
import { type AgentDiff, diffedFiles, withAgentDiff } from '../../spine/worktrees/agent-diff.ts'
import { repositoryOf } from '../../spine/worktrees/give.ts'
import { sessionIn } from '../../spine/worktrees/in-use.ts'
import { type Merged, mergeWorktree } from '../../spine/worktrees/merge.ts'
import { named } from '../../spine/worktrees/refusals.ts'
import { type Removed, type RemoveWish, removeWorktree } from '../../spine/worktrees/remove-worktree.ts'
import { overlapsOf, standings, unfinishedElsewhere, type WorktreeStanding } from '../../spine/worktrees/standing.ts'
import { type Answer, type Command, command, type Context, type FlagSpec } from '../command.ts'
import { momentIn } from '../moment-in.ts'
import { renderTable } from '../render/style.ts'

export const diffFlags = {
  stat: { help: 'changed lines per file' },
  'name-only': { help: 'names of files' },
  since: {
    value: 'TIME|COMMIT',
    help: 'only later changes: 2h for two hours ago, a time such as 2026-11-16T08:00Z, or a commit',
  },
} as const satisfies Record<string, FlagSpec>

export const commands: readonly Command[] = [
  command({
    names: ['heimdall diff'],
    summary: 'Show what an agent has changed in its worktree, committed or not',
    about:
      'From the last commit that the agent’s work has in common with the branch it was made from, to the files as they are now, including untracked ones. With --since, from where the worktree stood at that time, by its reflog; uncommitted files that were not modified since are left out. It is git’s own diff, with your pager and settings.',
    args: [
      { name: 'agent', help: 'agent, or a task; default: the agent of this worktree, or the only one', optional: true },
    ],
    flags: diffFlags,
    examples: {
      'heimdall diff amber-otter': 'shows everything that amber-otter has changed',
      'heimdall diff amber-otter --since 2h': 'shows what it has changed in the last two hours',
      'heimdall diff amber-otter --stat': 'shows changed lines per file',
    },
    output:
      'agent, from (commit that the diff begins at), tip (last commit of the agent), files (path, status, added, deleted; null for binary files)',
    run: (context, { flags, args }) => {
      return diffOf(context, args.agent, flags)
    },
  }),
  command({
    names: ['heimdall merge'],
    changes: true,
    summary: 'Merge an agent’s commits into your branch',
    about:
      'Tried in memory first: where both sides changed the same lines, or an uncommitted file of your checkout would be overwritten, nothing is changed and the files are named. It is your git merge, with your hooks and settings.',
    args: [{ name: 'agent', help: 'agent whose work to merge; for tasks: heimdall task merge' }],
    flags: {
      squash: { help: 'as one commit' },
      message: { value: 'TEXT', short: 'm', help: 'message of the merge or squashed commit' },
      into: { value: 'BRANCH', help: 'another branch than that of this checkout' },
      commit: { value: 'TEXT', help: 'first commit the uncommitted changes, with this message' },
      remove: { help: 'then remove the worktree and its branch' },
      'while-running': { help: 'merge although the agent is still working there' },
    },
    examples: {
      'heimdall merge amber-otter': 'merges its branch into the one that is checked out here',
      'heimdall merge amber-otter --squash -m "Login form" --remove':
        'merges it as one commit and removes the worktree',
    },
    output:
      'how (nothing new, fast-forward, merge or squash), into, commits, from, before, after, checkout (that has the branch, or null), committed (commit that --commit made, or null), left_behind (commits on the agent’s first branch that were not merged), removed (or null)',
    run: async (context, { flags, args: { agent } }) => {
      const { cwd, env, note } = context
      const project = findProject(cwd, env)
      repositoryOf(project)
      const { leftBehind, ...merged } = await mergeWorktree({
        project,
        agent,
        into: flags.into,
        isSquash: flags.squash === true,
        message: flags.message,
        commitMessage: flags.commit,
        mayRun: flags['while-running'] === true,
        env,
      })
      if (leftBehind > 0) note(`warning: ${countOf(leftBehind)} on the first branch of ${agent} not merged`)
      const text = mergedText(agent, merged)
      const removal = { project, agent, isForced: false, keepsBranch: false, env }
      const removed = flags.remove === true ? await removeMerged(context, removal, text) : undefined
      return {
        data: { ...merged, left_behind: leftBehind, removed: removed === undefined ? null : removedRecord(removed) },
        text: [text, ...(removed === undefined ? [] : [removedText(removed)])].join('\n'),
      }
    },
  }),
  command({
    names: ['heimdall worktree list'],
    summary: 'List agents’ worktrees, what each has changed, and which collide',
    about:
      'Ahead, behind and merged are relative to the branch that the worktree was made from. Files that two agents have both changed are named: the second merge will conflict there.',
    examples: {
      'heimdall worktree list': 'one line for each agent',
      'heimdall worktree list --json': 'the same with every path',
    },
    output:
      'worktrees (agent, task (or null), path, state (ready, half made, gone, absent), branch, base, against, tip, ahead, behind, merged (history, content, no), dirty, copies_changed, left_behind, unfinished, locked, session, made_at, collides_with), unfinished',
    run: async ({ cwd, env, style }) => {
      const project = findProject(cwd, env)
      repositoryOf(project)
      const all = await standings(project, env)
      const worktrees = all.map((one) => recordOf(one, all, env))
      const unfinished = await unfinishedElsewhere(project, env)
      const warnings = unfinished.map(({ said }) => said)
      const data = { worktrees, unfinished }
      if (worktrees.length === 0) return { data, text: ['no agent has a worktree here', ...warnings].join('\n') }
      const table = renderTable(
        style,
        ['AGENT', 'TASK', 'BRANCH', 'STATE', 'AHEAD', 'BEHIND', 'UNCOMMITTED', 'MERGED', 'SESSION', 'PATH'],
        worktrees.map((one) => [
          one.agent,
          escapeControls(one.task ?? '-'),
          escapeControls(one.branch ?? '(detached)'),
          one.unfinished === null ? one.state : `in a ${one.unfinished}`,
          String(one.ahead),
          String(one.behind),
          String(one.dirty.length + one.copies_changed.length),
          one.merged !== 'no' && one.dirty.length > 0 ? 'no, not committed' : one.merged,
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
    },
  }),
  command({
    names: ['heimdall worktree remove'],
    changes: true,
    summary: 'Remove an agent’s worktree if nothing is lost',
    about:
      'Uncommitted changes are never removed. Commits that no other branch has are refused; a human may say --force, and then they stay under refs/heimdall/removed/. Files that git ignores are removed with the folder.',
    args: [{ name: 'agent', help: 'agent whose worktree to remove' }],
    flags: {
      'keep-branch': { help: 'remove the folder and keep the branch' },
      force: { help: 'also with unmerged commits; needs a human at a terminal' },
    },
    examples: {
      'heimdall worktree remove amber-otter': 'removes the folder and the branch, when all is merged',
      'heimdall worktree remove amber-otter --keep-branch': 'removes only the folder',
    },
    output:
      'agent, path, deleted_branch (or null), kept_branch (or null), kept_under (refs that keep commits which no branch has)',
    run: async ({ cwd, env }, { flags, args: { agent } }) => {
      if (flags.force === true) requirePerson('heimdall worktree remove --force')
      const project = findProject(cwd, env)
      repositoryOf(project)
      const keepsBranch = flags['keep-branch'] === true
      const removed = await removeWorktree({ project, agent, isForced: flags.force === true, keepsBranch, env })
      return { data: removedRecord(removed), text: removedText(removed) }
    },
  }),
]

interface DiffFlags {
  readonly stat: boolean | undefined
  readonly 'name-only': boolean | undefined
  readonly since: string | undefined
}

export function diffOf(context: Context, agent: string | undefined, flags: DiffFlags): Promise<Answer> {
  const { cwd, env, clock } = context
  const since = flags.since === undefined ? undefined : (momentIn(flags.since, clock.wallMs()) ?? flags.since)
  const form = [...(flags.stat === true ? ['--stat'] : []), ...(flags['name-only'] === true ? ['--name-only'] : [])]
  return withAgentDiff({ project: findProject(cwd, env), env, agent, since }, (diff) =>
    context.json ? filesAnswer(diff) : showDiff(context, diff, form),
  )
}

async function filesAnswer(diff: AgentDiff): Promise<Answer> {
  const { worktree, tip } = diff.standing
  return { data: { agent: worktree.agent, from: diff.range[0], tip, files: await diffedFiles(diff) }, text: '' }
}

/** On the caller's terminal or pipe, so that git's own rules for pagers apply; colour by ours, which know NO_COLOR. */
async function showDiff(
  { style, note }: Context,
  { where: { cwd, env }, range, paths, standing }: AgentDiff,
  form: readonly string[],
): Promise<Answer> {
  const color = style.color.bold('x') === 'x' ? 'never' : 'always'
  const words = ['diff', `--color=${color}`, ...form, ...range, '--', ...paths]
  const child = spawn('git', words, { cwd, env: { ...env }, stdio: 'inherit' })
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (ended, by) => resolve({ code: ended, signal: by }))
  })
  // The reader has closed the pipe (`| head`).
  if (code !== 0 && signal !== 'SIGPIPE' && code !== 141)
    throw new HeimdallError('GIT_FAILED', `git diff ended with ${signal ?? code}`)
  const { worktree, merged, against, changed } = standing
  if (changed.length === 0)
    note(
      merged === 'history'
        ? `${escapeControls(against.name)} has all changes of ${worktree.agent}`
        : `${worktree.agent} has changed nothing`,
    )
  return { data: null, text: '', streamed: true }
}

/** The merge stands when the worktree cannot be removed, and the message says both. */
async function removeMerged({ note }: Context, wish: RemoveWish, merged: string): Promise<Removed> {
  try {
    return await removeWorktree(wish)
  } catch (error) {
    if (error instanceof HeimdallError) note(`${merged}; the worktree stays`)
    throw error
  }
}

const countOf = (commits: number): string => (commits === 1 ? '1 commit' : `${commits} commits`)

export function mergedText(agent: string, { how, into, commits, after }: Omit<Merged, 'leftBehind'>): string {
  const branch = escapeControls(into)
  if (how === 'nothing new') return `${branch} has all commits of ${agent} already`
  const as = { 'fast-forward': '', merge: ' as a merge', squash: ' as one commit' }[how]
  return `${countOf(commits)} of ${agent} merged into ${branch}${as}: ${after.slice(0, 12)}`
}

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

function recordOf(one: WorktreeStanding, all: readonly WorktreeStanding[], env: Env) {
  const { worktree, presence, against } = one
  return {
    agent: worktree.agent,
    task: worktree.task,
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
