// Gives an agent a worktree and a branch of its own, or the one back that it has. Each step may be the last: what was begun is known by its record, and done to its end the next time.
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { escapeControls, printable } from '../../ids.ts'
import type { Env, Project } from '../../paths.ts'
import { ensureFolder } from '../../storage/atomic-file.ts'
import { copyFiles, filesToCopy, includedFiles, notThere, type WantedPath } from './carry-over.ts'
import { branchOf } from './condition.ts'
import { ask, askIfThere, commitOf, git, type Git, gitIn, lastWords } from './git.ts'
import { freeBranch, freePath, refuseInside } from './new-place.ts'
import { type AgentWorktree, readRecord, removeRecord, withWorktrees, writeRecord } from './owner-record.ts'
import { presenceOf, registeredWorktrees } from './registered.ts'

export interface WorktreeWish {
  readonly project: Project
  readonly agent: string
  /** A revision; HEAD of the project's checkout when absent. */
  readonly base: string | undefined
  /** Folder that worktrees go to. */
  readonly dir: string
  readonly copy: readonly WantedPath[]
  /** Shell command that prepares a new worktree. */
  readonly setup: string | null
  /** The task that the agent works on. */
  readonly task: string | null
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
}

export interface Given {
  readonly worktree: AgentWorktree
  /** Made just now; false when the agent had it already. */
  readonly isNew: boolean
}

export async function giveWorktree(wish: WorktreeWish): Promise<Given> {
  const { project, agent } = wish
  const at = gitIn(project.root, wish.env)
  const gitCommonDir = repositoryOf(project)
  await requireGit(at)
  const files = filesToCopy(project.root, wish.copy, await includedFiles(at))
  return withWorktrees(project, async () => {
    const known = readRecord(project, agent)
    const registered = known === undefined ? undefined : await find(at, known.path)
    const presence = presenceOf(registered)
    if (known !== undefined && presence === 'half made') throw halfMade(known)
    const branchTip = known === undefined ? undefined : await commitOf(at, `refs/heads/${known.branch}`)
    if (known !== undefined && wish.base !== undefined && branchTip !== undefined)
      wish.note(`${agent} goes on in the worktree that it has, begun at ${known.base.slice(0, 12)}; --base is not used`)
    if (known !== undefined && presence === 'ready')
      return { worktree: await finish(wish, at, known, files), isNew: false }
    if (known !== undefined && branchTip !== undefined) {
      await putBack(at, known, registered !== undefined)
      return { worktree: await finish(wish, at, known, files), isNew: false }
    }
    const record = await planned(wish, at, gitCommonDir)
    writeRecord(project, record)
    await add(wish, at, record, ['--no-track', '-b', record.branch], record.base)
    return { worktree: await finish(wish, at, record, files), isNew: true }
  })
}

export function repositoryOf(project: Project): string {
  if (project.gitCommonDir !== undefined) return project.gitCommonDir
  throw new HeimdallError('WORKTREE_NO_REPOSITORY', `${printable(project.root)} is not in a git checkout`, {
    hint: 'cd into a checkout; in a bare repository, into one of its worktrees',
  })
}

const GIT_MIN = [2, 38] as const

/** Merges are tried in memory first (`git merge-tree --write-tree`), which came with this version. */
export async function requireGit(at: Git): Promise<void> {
  const text = await ask(at, ['version'])
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(text) ?? []
  const isEnough = Number(major) > GIT_MIN[0] || (Number(major) === GIT_MIN[0] && Number(minor) >= GIT_MIN[1])
  if (!isEnough)
    throw new HeimdallError('GIT_FAILED', `${text} is too old; worktrees take ${GIT_MIN.join('.')} or later`)
}

async function find(at: Git, path: string) {
  return (await registeredWorktrees(at)).find((one) => one.path === path)
}

async function planned(wish: WorktreeWish, at: Git, gitCommonDir: string): Promise<AgentWorktree> {
  const { agent, dir } = wish
  const base = await commitOf(at, wish.base ?? 'HEAD')
  if (base === undefined) throw noBase(wish)
  const checkouts = (await registeredWorktrees(at)).filter(({ isBare }) => !isBare).map(({ path }) => path)
  refuseInside([...checkouts, gitCommonDir], dir)
  const branch = await branchOf(at)
  const isBranch = wish.base !== undefined && (await commitOf(at, `refs/heads/${wish.base}`)) === base
  return {
    v: 1,
    agent,
    path: freePath(dir, gitCommonDir, agent),
    branch: await freeBranch(at, agent),
    base,
    baseBranch: wish.base === undefined ? (branch ?? null) : isBranch ? wish.base : null,
    madeAt: new Date(wish.clock.wallMs()).toISOString(),
    copied: [],
    task: wish.task,
    isPrepared: wish.setup === null,
  }
}

function noBase({ project, base }: WorktreeWish): HeimdallError {
  return base === undefined
    ? new HeimdallError('WORKTREE_NO_BASE', `${printable(project.root)} has no commit yet to begin a worktree at`, {
        hint: 'commit once: git commit --allow-empty -m start',
      })
    : new HeimdallError('WORKTREE_NO_BASE', `${printable(base)} is not a commit of this repository`, {
        hint: '--base takes a branch, a tag or a commit',
      })
}

/** Somebody has removed the folder and left the branch: its commits are the agent's work, and it goes on there. */
async function putBack(at: Git, { path, branch }: AgentWorktree, isRegistered: boolean): Promise<void> {
  if (isRegistered) await git(at, ['worktree', 'remove', '--', path])
  ensureFolder(dirname(path))
  await git(at, ['worktree', 'add', '--quiet', '--', path, branch])
}

/** Git takes back a worktree that it cannot make, but not the branch; and a hook may fail when all is there. */
async function add(wish: WorktreeWish, at: Git, record: AgentWorktree, options: string[], from: string): Promise<void> {
  ensureFolder(dirname(record.path))
  const said = await git(at, ['worktree', 'add', '--quiet', ...options, '--', record.path, from], {
    answers: [1, 2, 128, 255],
  })
  if (said.code === 0) return
  if (presenceOf(await find(at, record.path)) === 'ready') {
    wish.note(`the worktree is made, and a hook of the repository failed: ${lastWords(said)}`)
    return
  }
  await askIfThere(at, ['update-ref', '-d', `refs/heads/${record.branch}`, record.base])
  removeRecord(wish.project, record.agent)
  throw new HeimdallError('GIT_FAILED', `git worktree add: ${lastWords(said)}`)
}

/** What comes after git, done again as often as it takes. */
async function finish(
  { project, note }: WorktreeWish,
  at: Git,
  record: AgentWorktree,
  files: readonly string[],
): Promise<AgentWorktree> {
  const here = { ...at, cwd: record.path }
  const isFirst = record.copied.length === 0
  const brought = copyFiles(project.root, record.path, files)
  const known = new Set(record.copied.map(({ path }) => path))
  const done = { ...record, copied: [...record.copied, ...brought.filter(({ path }) => !known.has(path))] }
  if (done.copied.length !== record.copied.length) writeRecord(project, done)
  if (isFirst) await sayWhatIsMissing(at, here, [...files, `${relative(project.root, project.planningDir)}/`], note)
  return done
}

async function sayWhatIsMissing(at: Git, here: Git, shared: readonly string[], note: (line: string) => void) {
  const missing = await notThere(at, shared)
  if (missing !== undefined) note(`not in the worktree: ${missing}; --copy or .worktreeinclude brings files along`)
  if (existsSync(join(here.cwd, '.gitmodules')))
    note(`submodules are not checked out there: git -C ${escapeControls(here.cwd)} submodule update --init`)
}

export function halfMade({ agent, path }: AgentWorktree): HeimdallError {
  return new HeimdallError('WORKTREE_HALF_MADE', `git was killed while it made ${printable(path)}, or is still at it`, {
    hint: `heimdall worktree remove ${agent}`,
  })
}
