// What an agent's worktree has become, against the branch that the work is meant for.
import type { HeimdallError } from '../../errors.ts'
import type { Env, Project } from '../../paths.ts'
import { changedCopies } from './carry-over.ts'
import { headOf, uncommitted, unfinished, withScratchObjects } from './condition.ts'
import { ask, commitOf, fieldsOf, git, type Git, gitIn, isAncestor, tipsOf } from './git.ts'
import { type AgentWorktree, type Copied, readRecords } from './owner-record.ts'
import { killedMerges, wasKilled } from './merging.ts'
import { isUnfinished } from './refusals.ts'
import { presenceOf, type Presence, type Registered, registeredWorktrees } from './registered.ts'

export interface WorktreeStanding {
  readonly worktree: AgentWorktree
  readonly presence: Presence
  readonly lockedFor: string | undefined
  /** Checked out now; nothing when HEAD is detached or the folder is gone. */
  readonly branch: string | undefined
  /** Where the agent's work ends: HEAD there, or its branch when the folder is gone. */
  readonly tip: string | undefined
  /** The tip of the branch that it was made with; nothing when that is gone. */
  readonly own: string | undefined
  /** The branch or commit that ahead, behind and merged are told against. */
  readonly against: Against
  /** The last commit that both have: what the agent has done begins there. */
  readonly fork: string | undefined
  readonly ahead: number
  readonly behind: number
  /** `history`: the commits are there. `content`: others with the same effect are, as after a squash. */
  readonly merged: 'history' | 'content' | 'no'
  /** Paths that are not committed; copied files are none of them. */
  readonly dirty: readonly string[]
  /** Those of them that git has never seen. */
  readonly untracked: readonly string[]
  /** Files that were brought along and that git does not have; and those of them that are no longer as they came. */
  readonly copies: readonly Copied[]
  readonly copiesChanged: readonly string[]
  /** Commits on the branch that it was made with, when the agent went on elsewhere and left them behind. */
  readonly leftBehind: number
  readonly unfinished: string | undefined
  /** Everything that the agent changed since the fork, committed or not. */
  readonly changed: readonly string[]
}

export interface Against {
  readonly name: string
  readonly commit: string | undefined
}

export async function standings(project: Project, env: Env): Promise<WorktreeStanding[]> {
  const records = readRecords(project)
  if (records.length === 0) return []
  const at = gitIn(project.root, env)
  const registered = await registeredWorktrees(at)
  const found: WorktreeStanding[] = []
  // One after another: each asks git a dozen things, and a machine has fewer cores than an owner agents.
  for (const record of records) found.push(await standingOf(at, record, registered))
  return found
}

export interface Unfinished {
  readonly path: string
  /** In words, with what to do. */
  readonly said: string
}

/** What is under way in checkouts that are no agent's, and what a merge that was killed has left there. */
export async function unfinishedElsewhere(project: Project, env: Env): Promise<Unfinished[]> {
  const records = readRecords(project)
  if (records.length === 0) return []
  const at = gitIn(project.root, env)
  const killed = (await killedMerges(project, at)).map((one) => ({ path: one.path, said: worded(wasKilled(one)) }))
  const known = new Set([...records, ...killed].map(({ path }) => path))
  const found: Unfinished[] = []
  for (const one of await registeredWorktrees(at)) {
    if (one.isBare || known.has(one.path) || presenceOf(one) !== 'ready') continue
    const operation = unfinished({ ...at, cwd: one.path })
    if (operation !== undefined) found.push({ path: one.path, said: worded(isUnfinished(one.path, operation)) })
  }
  return [...killed, ...found]
}

const worded = ({ message, hint = '' }: HeimdallError): string => `${message}: ${hint}`

export async function standingOf(
  at: Git,
  worktree: AgentWorktree,
  registered: readonly Registered[],
): Promise<WorktreeStanding> {
  const known = registered.find(({ path }) => path === worktree.path)
  const presence = presenceOf(known)
  const here = presence === 'ready' ? { ...at, cwd: worktree.path } : undefined
  const [tips, files] = await Promise.all([
    tipsOf(at, [worktree.branch, ...(worktree.baseBranch === null ? [] : [worktree.baseBranch])]),
    here === undefined ? { copies: [], dirty: [], untracked: [] } : filesOf(here, worktree),
  ])
  const own = tips.get(worktree.branch)
  const against = await againstOf(at, worktree, tips)
  const tip = (here === undefined ? undefined : known?.commit) ?? own
  const far = await distance(at, against.commit, tip)
  const [fork, merged, left] = await Promise.all([
    forkOf(at, worktree, tip, against.commit),
    mergedInto(at, tip, against.commit, far),
    leftBehind(at, own, tip),
  ])
  return {
    worktree,
    presence,
    lockedFor: known?.lockedFor,
    branch: here === undefined ? undefined : known?.branch,
    tip,
    own,
    against,
    fork,
    ...far,
    merged,
    ...files,
    copiesChanged: changedCopies(worktree.path, files.copies),
    leftBehind: left,
    unfinished: here === undefined ? undefined : unfinished(here),
    changed: [...new Set([...(await changedBetween(at, fork, tip)), ...files.dirty])].sort(),
  }
}

async function filesOf(
  here: Git,
  { copied }: AgentWorktree,
): Promise<Pick<WorktreeStanding, 'copies' | 'dirty' | 'untracked'>> {
  const [copies, all] = await Promise.all([untrackedOf(here, copied), uncommitted(here)])
  const brought = new Set(copies.map(({ path }) => path))
  const changes = all.filter(({ path }) => !brought.has(path))
  return {
    copies,
    dirty: changes.map(({ path }) => path),
    untracked: changes.filter(({ letters }) => letters === '??').map(({ path }) => path),
  }
}

/** A copy that has come to be tracked is like any other file. */
async function untrackedOf(here: Git, copied: readonly Copied[]): Promise<Copied[]> {
  if (copied.length === 0) return []
  const tracked = new Set(fieldsOf(await ask(here, ['ls-files', '-z'])))
  return copied.filter(({ path }) => !tracked.has(path))
}

async function leftBehind(at: Git, own: string | undefined, tip: string | undefined): Promise<number> {
  if (own === undefined || tip === undefined || own === tip) return 0
  return Number(await ask(at, ['rev-list', '--count', own, `^${tip}`]))
}

/** The branch that it was begun from; without one, or when that is gone, the checkout of whoever asks. */
async function againstOf(at: Git, { baseBranch }: AgentWorktree, tips: ReadonlyMap<string, string>): Promise<Against> {
  const tip = baseBranch === null ? undefined : tips.get(baseBranch)
  if (baseBranch !== null && tip !== undefined) return { name: baseBranch, commit: tip }
  const { branch, commit } = await headOf(at)
  return { name: branch ?? 'HEAD', commit }
}

async function forkOf(at: Git, { base }: AgentWorktree, tip: string | undefined, against: string | undefined) {
  if (tip === undefined || against === undefined) return undefined
  const { code, stdout } = await git(at, ['merge-base', tip, against], { answers: [1] })
  return code === 0 ? stdout.trim() : ((await commitOf(at, base)) ?? tip)
}

interface Distance {
  readonly ahead: number
  readonly behind: number
}

export async function distance(at: Git, against: string | undefined, tip: string | undefined): Promise<Distance> {
  if (against === undefined || tip === undefined) return { ahead: 0, behind: 0 }
  const [behind, ahead] = (await ask(at, ['rev-list', '--left-right', '--count', `${against}...${tip}`])).split('\t')
  return { ahead: Number(ahead), behind: Number(behind) }
}

async function mergedInto(
  at: Git,
  tip: string | undefined,
  target: string | undefined,
  { ahead }: Distance,
): Promise<WorktreeStanding['merged']> {
  if (tip === undefined || target === undefined) return 'no'
  if (ahead === 0) return 'history'
  return (await hasContentOf(at, target, tip)) ? 'content' : 'no'
}

/** Whether the target has the commits, or others with the same effect. */
export async function isMergedInto(at: Git, tip: string, target: string): Promise<boolean> {
  return (await isAncestor(at, tip, target)) || (await hasContentOf(at, target, tip))
}

/** Whether a merge of the tip would change nothing in the target. */
async function hasContentOf(at: Git, target: string, tip: string): Promise<boolean> {
  const { code, stdout } = await withScratchObjects(at, (scratch) =>
    git(scratch, ['merge-tree', '--write-tree', '--no-messages', target, tip], { answers: [1] }),
  )
  return code === 0 && stdout.trim() === (await ask(at, ['rev-parse', `${target}^{tree}`]))
}

async function changedBetween(at: Git, from: string | undefined, to: string | undefined): Promise<string[]> {
  if (from === undefined || to === undefined) return []
  return fieldsOf(await ask(at, ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to]))
}

interface Overlap {
  readonly agent: string
  readonly paths: readonly string[]
}

/** Files that another agent has changed as well, each on its own branch: whoever is merged second meets them. */
export function overlapsOf(one: WorktreeStanding, all: readonly WorktreeStanding[]): Overlap[] {
  const own = new Set(isBroughtBack(one) ? [] : one.changed)
  return all
    .filter((other) => other !== one && !isBroughtBack(other))
    .map(({ worktree, changed }) => ({ agent: worktree.agent, paths: changed.filter((path) => own.has(path)) }))
    .filter(({ paths }) => paths.length > 0)
}

const isBroughtBack = ({ merged, dirty }: WorktreeStanding): boolean => merged !== 'no' && dirty.length === 0
