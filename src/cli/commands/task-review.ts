// heimdall task diff, merge, pr, discard, reply: what becomes of the work of a task that has ended.
import { StringDecoder } from 'node:string_decoder'
import type { Coordination } from '../../coordination/coordination.ts'
import { lastResult } from '../../dispatch/parking.ts'
import { redactText } from '../../dispatch/redacted.ts'
import {
  hasWorktree,
  mergeOrder,
  putReview,
  refuseUnended,
  replyToTask,
  reviewOf,
  untilLeft,
  worktreeOf,
} from '../../dispatch/review.ts'
import { listDispatched, type ShownTask, showTask } from '../../dispatch/tasks.ts'
import { EXIT, HeimdallError } from '../../errors.ts'
import { escapeControls, escapeText, printable } from '../../ids.ts'
import { PR_BODY_BYTES_MAX } from '../../limits.ts'
import { refuseAgent } from '../../person.ts'
import { quoted } from '../../quoted.ts'
import { gitIn } from '../../spine/worktrees/git.ts'
import { branchToPropose, type Merged, mergeWorktree } from '../../spine/worktrees/merge.ts'
import { propose } from '../../spine/worktrees/pull-request.ts'
import { named } from '../../spine/worktrees/refusals.ts'
import { registeredWorktrees } from '../../spine/worktrees/registered.ts'
import { type Removed, removeWorktree } from '../../spine/worktrees/remove-worktree.ts'
import { standingOf } from '../../spine/worktrees/standing.ts'
import { ignoredIn } from '../../spine/worktrees/tidy.ts'
import { type Answer, type Command, command, type Context } from '../command.ts'
import { consent } from '../consent.ts'
import { withStore, withStoreToRead } from '../coordination-store.ts'
import { textOrInput } from '../input-file.ts'
import { idNamed, taskArg, waitFlag } from './task.ts'
import { RECORD, record } from './task-text.ts'
import { diffFlags, diffOf, mergedText, removedRecord, removedText } from './worktree.ts'

interface MergeFlags {
  readonly squash: boolean | undefined
  readonly message: string | undefined
  readonly into: string | undefined
  readonly commit: string | undefined
  readonly keep: boolean | undefined
  readonly 'no-check': boolean | undefined
}

/** Asks whether to commit what the agent has left, where a human is there to answer; otherwise the refusal stands. */
async function committing<T>(
  context: Context,
  { task: { taskId, title } }: ShownTask,
  given: string | undefined,
  act: (commitMessage: string | undefined) => Promise<T>,
): Promise<T> {
  try {
    return await act(given)
  } catch (error) {
    const paths = error instanceof HeimdallError ? error.details?.['uncommitted'] : undefined
    if (!(error instanceof HeimdallError) || error.code !== 'WORKTREE_UNCOMMITTED' || given !== undefined) throw error
    const files = Array.isArray(paths) ? named(paths.map(String)) : 'files'
    if (context.json || !context.stdin.isTTY || !context.stderr.isTTY)
      throw new HeimdallError(
        'WORKTREE_UNCOMMITTED',
        `the agent of ${escapeControls(taskId)} has not committed ${files}`,
        {
          hint: `--commit ${quoted(title)} commits it first`,
          ...(error.details === undefined ? {} : { details: error.details }),
        },
      )
    const plan = `the agent of ${escapeControls(taskId)} has not committed ${files}`
    if (!(await consent(context, false, plan, `Commit it as ${printable(title)}?`))) throw error
    return await act(title)
  }
}

/** An ended task whose worktree nothing is at work in. */
async function reviewed(
  { env }: Context,
  db: Coordination,
  taskId: string,
): Promise<{ readonly shown: ShownTask; readonly agent: string }> {
  const shown = showTask(db, taskId)
  refuseUnended(shown)
  const worktree = worktreeOf(db, shown)
  await untilLeft(db, env, worktree)
  return { shown, agent: worktree.agent }
}

interface MergedTask extends Omit<Merged, 'leftBehind'> {
  readonly taskId: string
  readonly removed: Removed | null
}

async function mergeOne(context: Context, db: Coordination, taskId: string, flags: MergeFlags): Promise<MergedTask> {
  const { env, clock, note } = context
  const { project } = db
  const { shown, agent } = await reviewed(context, db, taskId)
  const settings = await context.settings()
  const command = flags['no-check'] === true ? null : (settings['worktree.check'].value as string | null)
  if (command !== null) note(`checking ${escapeControls(taskId)}: ${escapeControls(command)}`)
  const { leftBehind, ...merged } = await committing(context, shown, flags.commit, (commitMessage) =>
    mergeWorktree({
      project,
      agent,
      into: flags.into,
      isSquash: flags.squash === true,
      message: flags.message ?? (flags.squash === true ? shown.task.title : undefined),
      commitMessage,
      mayRun: false,
      ...(command === null
        ? {}
        : { check: { command, setup: settings['worktree.setup'].value as string | null, clock } }),
      env,
    }),
  )
  await putReview(db, taskId, { state: 'merged', into: merged.into, commit: merged.after })
  if (leftBehind > 0) note(`warning: ${agent} left ${leftBehind} commits on the branch that it began with; not merged`)
  return { taskId, ...merged, removed: flags.keep === true ? null : await removedAfter(context, db, agent) }
}

/** The merge stands when the worktree cannot be removed; a note says why. */
async function removedAfter({ env, note }: Context, { project }: Coordination, agent: string): Promise<Removed | null> {
  try {
    return await removeWorktree({ project, agent, isForced: false, keepsBranch: false, env })
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    note(`the worktree stays: ${error.message}`)
    return null
  }
}

/** All that are ready, or the named ones, in the order in which they are merged. */
async function ordered(context: Context, db: Coordination, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 1) return [...ids]
  const at = gitIn(db.project.root, context.env)
  const registered = await registeredWorktrees(at)
  const tasks = []
  for (const taskId of ids) {
    const shown = showTask(db, taskId)
    const { changed } = await standingOf(at, worktreeOf(db, shown), registered)
    const { after, scopes } = shown.contract.task
    tasks.push({ taskId, after, paths: [...changed, ...scopes] })
  }
  return mergeOrder(tasks).map(({ taskId }) => taskId)
}

async function mergeTasks(
  context: Context,
  db: Coordination,
  names: readonly string[],
  flags: MergeFlags & { readonly ready: boolean | undefined },
): Promise<Answer> {
  const all = flags.ready === true ? listDispatched(db).map(({ taskId }) => showTask(db, taskId)) : []
  const ready = all.filter((one) => reviewOf(one) === 'ready').map(({ task }) => task.taskId)
  const here = ready.filter((taskId) => hasWorktree(db, taskId))
  if (here.length < ready.length) {
    const left = ready.filter((taskId) => !here.includes(taskId)).map(escapeControls)
    context.note(`not merged, because their worktrees are not on this machine or were removed: ${left.join(', ')}`)
  }
  const ids = [...new Set([...names.map((name) => idNamed(db, name)), ...here])]
  if (ids.length === 0)
    throw new HeimdallError(
      'USAGE',
      flags.ready === true ? 'no task with a worktree on this machine is ready for review' : 'no task given',
      {
        hint: 'heimdall task list shows tasks that are ready for review',
      },
    )
  const merged: MergedTask[] = []
  for (const taskId of await ordered(context, db, ids))
    try {
      const one = await mergeOne(context, db, taskId, flags)
      merged.push(one)
      if (ids.length > 1) context.note(escapeControls(mergedText(taskId, one)))
    } catch (error) {
      if (!(error instanceof HeimdallError) || merged.length === 0) throw error
      const before = merged.map((one) => one.taskId).join(', ')
      throw new HeimdallError(error.code, `${escapeControls(taskId)}, after ${before}: ${error.message}`, {
        ...(error.hint === undefined ? {} : { hint: error.hint }),
        details: { ...error.details, merged: merged.map((one) => one.taskId) },
      })
    }
  const text = merged.flatMap((one) => [
    mergedText(one.taskId, one),
    ...(one.removed === null ? [] : [removedText(one.removed)]),
  ])
  return {
    data: merged.map(({ taskId, removed, ...one }) => ({
      task_id: taskId,
      ...one,
      removed: removed === null ? null : removedRecord(removed),
    })),
    text: escapeText(text.join('\n')),
  }
}

/** An argument of a program has at most 128 KiB, and the description of a pull request on GitHub 65,536 characters. */
function descriptionOf(reply: string): string {
  const bytes = Buffer.from(redactText(reply))
  if (bytes.byteLength <= PR_BODY_BYTES_MAX) return bytes.toString('utf8')
  return `${new StringDecoder('utf8').write(bytes.subarray(0, PR_BODY_BYTES_MAX))}\n\n(cut)`
}

async function proposeTask(
  context: Context,
  db: Coordination,
  taskId: string,
  flags: { readonly into: string | undefined; readonly title: string | undefined; readonly commit: string | undefined },
): Promise<Answer> {
  const { shown, agent } = await reviewed(context, db, taskId)
  const at = gitIn(db.project.root, context.env)
  const { branch, into } = await committing(context, shown, flags.commit, (commitMessage) =>
    branchToPropose({ project: db.project, agent, into: flags.into, commitMessage, env: context.env }),
  )
  const reply = lastResult(shown.attempts)?.reply
  const proposed = await propose(at, {
    branch,
    into,
    title: flags.title ?? shown.task.title,
    body: typeof reply === 'string' ? descriptionOf(reply) : '',
  })
  const { remote, url, compare, failure } = proposed
  if (url !== null) await putReview(db, taskId, { state: 'proposed', into, pr: url })
  if (failure !== null) context.note(`warning: ${failure}`)
  const where = url ?? (compare === null ? 'open the pull request on the page of your forge' : `open it at ${compare}`)
  return {
    data: { task_id: taskId, branch, into, remote, pr: url, compare, failure },
    text: escapeText(`${branch} pushed to ${remote}; ${url === null ? '' : 'pull request '}${where}`),
    ...(failure === null ? {} : { exit: EXIT.failure }),
  }
}

/** Records the decision about work whose worktree was removed, or is on another machine. */
async function discardWithout(db: Coordination, taskId: string): Promise<Answer> {
  const shown = showTask(db, taskId)
  refuseUnended(shown)
  const review = reviewOf(shown)
  // Refuses what has no work to discard, with the reason.
  if (review !== 'ready' && review !== 'proposed') worktreeOf(db, shown)
  await putReview(db, taskId, { state: 'discarded' })
  return {
    data: { agent: null, path: null, deleted_branch: null, kept_branch: null, kept_under: [] },
    text: `${escapeControls(taskId)} is discarded; its worktree is not on this machine, or was removed`,
  }
}

async function agreeToLose(context: Context, isYes: boolean, ignored: readonly string[]): Promise<void> {
  const plan = `git ignores ${named(ignored)}: deleted with the worktree, and kept nowhere`
  const unasked = { what: plan, hint: 'move away what is wanted; --yes deletes it' }
  if (!(await consent(context, isYes, plan, 'Delete them?', unasked)))
    throw new HeimdallError('CONSENT_REQUIRED', 'nothing was discarded')
  refuseAgent('deleting files that git ignores')
}

const reviewFlags = {
  into: { value: 'BRANCH', help: 'another branch than that of this checkout' },
  commit: { value: 'TEXT', help: 'first commit the uncommitted changes, with this message' },
} as const

export const commands: readonly Command[] = [
  command({
    names: ['heimdall task diff'],
    summary: 'Show what a task has changed, committed or not',
    args: [taskArg],
    flags: diffFlags,
    examples: { 'heimdall task diff T-9': 'shows everything that T-9 has changed, with your pager' },
    output: 'agent, from (commit that the diff begins at), tip, files (path, status, added, deleted)',
    run: (context, { args, flags }) =>
      withStoreToRead(
        context,
        (db) => diffOf(context, worktreeOf(db, showTask(db, idNamed(db, args.task))).agent, flags),
        () => {
          throw new HeimdallError('TASK_NOT_FOUND', `no task ${printable(args.task)}`)
        },
      ),
  }),
  command({
    names: ['heimdall task merge'],
    changes: true,
    summary: 'Merge the work of tasks into your branch, and remove their worktrees',
    about:
      'Tried in memory first, then checked with worktree.check of the settings, if that is set: where one of them fails, ' +
      'nothing is changed. Several tasks are merged one after the other, what others build on first; the first that ' +
      'fails stops it, and those before stay merged.',
    args: [{ name: 'task', help: 'task ids, or unique prefixes', variadic: true, optional: true }],
    flags: {
      ready: { help: 'all tasks that are ready for review' },
      ...reviewFlags,
      squash: { help: 'as one commit' },
      message: { value: 'TEXT', short: 'm', help: 'message of the merge or squashed commit' },
      keep: { help: 'keep the worktree and its branch' },
      'no-check': { help: 'without worktree.check' },
    },
    examples: {
      'heimdall task merge T-9': 'merges T-9 into the branch that is checked out here',
      'heimdall task merge --ready --squash': 'merges every task that is ready, each as one commit',
    },
    output:
      'array of task_id, how (nothing new, fast-forward, merge or squash), into, commits, from, before, after, checkout, committed, removed (or null)',
    run: (context, { args, flags }) => withStore(context, (db) => mergeTasks(context, db, args.task, flags)),
  }),
  command({
    names: ['heimdall task pr'],
    changes: true,
    summary: 'Push the branch of a task, and open a pull request',
    about:
      'With gh or glab where it is installed; otherwise prints the page on which you open it. The reply of the agent ' +
      'becomes the description, without what looks like a secret.',
    args: [taskArg],
    flags: { ...reviewFlags, title: { value: 'TEXT', help: 'title; default: that of the task' } },
    examples: { 'heimdall task pr T-9': 'pushes the branch of T-9 and opens a pull request for it' },
    output: 'task_id, branch, into, remote, pr (its address, or null), compare (page to open it on, or null), failure',
    run: (context, { args, flags }) =>
      withStore(context, (db) => proposeTask(context, db, idNamed(db, args.task), flags)),
  }),
  command({
    names: ['heimdall task discard'],
    changes: true,
    summary: 'Remove the worktree and the branch of a task without merging',
    about:
      'Commits, and what was not committed, stay under refs/heimdall/removed. Files that git ignores are deleted with the ' +
      'folder: they are listed, and a human has to agree.',
    args: [taskArg],
    flags: { yes: { short: 'y', help: 'delete ignored files without asking; not for agents' } },
    examples: { 'heimdall task discard T-9': 'removes the worktree and the branch of T-9' },
    output:
      'agent and path (null without a worktree on this machine), deleted_branch (or null), kept_branch (or null), kept_under (refs that keep its commits)',
    run: (context, { args, flags }) =>
      withStore(context, async (db) => {
        const taskId = idNamed(db, args.task)
        if (!hasWorktree(db, taskId)) return await discardWithout(db, taskId)
        const { shown, agent } = await reviewed(context, db, taskId)
        const { project } = db
        const ignored = await ignoredIn(project, worktreeOf(db, shown), context.env)
        if (ignored.length > 0) await agreeToLose(context, flags.yes === true, ignored)
        const wish = { project, agent, isForced: true, keepsBranch: false, discards: true, env: context.env } as const
        const removed = await removeWorktree(wish)
        await putReview(db, shown.task.taskId, { state: 'discarded' })
        return { data: removedRecord(removed), text: removedText(removed) }
      }),
  }),
  command({
    names: ['heimdall task reply'],
    changes: true,
    summary: 'Continue an ended task in the same worktree and conversation',
    args: [
      taskArg,
      { name: 'text', help: 'what is to be done next; without it, or with -, read from stdin', optional: true },
    ],
    flags: { budget: { type: 'integer', value: 'TOKENS', help: 'new token budget for all attempts' }, wait: waitFlag },
    examples: { 'heimdall task reply T-9 "also handle an empty password"': 'sends T-9 back to its worker' },
    output: RECORD,
    run: (context, { args, flags }) =>
      withStore(context, async (db) => {
        const taskId = idNamed(db, args.task)
        const text = await textOrInput(context, args.text, `reply to ${taskId}`)
        const { state } = await replyToTask(db, taskId, text, flags.budget)
        if (flags.wait === true) return await (await import('./task-wait.ts')).waitForTask(context, db, taskId)
        return { data: record(showTask(db, taskId)), text: `${taskId} is ${state} again` }
      }),
  }),
]
