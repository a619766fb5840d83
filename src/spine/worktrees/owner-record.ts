// Which worktree is whose: one small file for each agent, written before the worktree is made and removed after it is gone, so that whatever was cut short is known by name.
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import type { Project } from '../../paths.ts'
import { ensureFolder, readFileIfThere, removeIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { withFileLock } from '../../storage/file-lock.ts'
import { namesIn } from '../../storage/folder-names.ts'
import { WORKTREE_LOCK_WAIT_MS } from '../../limits.ts'

export interface AgentWorktree {
  readonly v: 1
  readonly agent: string
  readonly path: string
  /** The branch that it was made with; the agent may have switched to another. */
  readonly branch: string
  /** The commit that it was begun at. */
  readonly base: string
  /** The branch that the work is meant for; null when it was begun at a commit that no branch was named for. */
  readonly baseBranch: string | null
  readonly madeAt: string
  /** Files that were brought along, with what was in them. */
  readonly copied: readonly Copied[]
  /** The task that its agent works on, if it has one. */
  readonly task: string | null
  /** The setup command has succeeded, or there was none. */
  readonly isPrepared: boolean
}

export interface Copied {
  readonly path: string
  readonly sha256: string
}

/** Made by the first change of worktrees. */
export const folderOf = (project: Project): string => join(project.coordinationDir, 'worktrees')
const pathOf = (project: Project, agent: string): string => join(folderOf(project), `${agent}.json`)

/** One change of worktrees at a time in a repository; git itself has no lock for it. */
export async function withWorktrees<T>(project: Project, act: () => Promise<T>): Promise<T> {
  ensureFolder(folderOf(project))
  return withFileLock(join(folderOf(project), 'change'), act, { waitMs: WORKTREE_LOCK_WAIT_MS })
}

export function writeRecord(project: Project, record: AgentWorktree): void {
  replaceFile(pathOf(project, record.agent), `${JSON.stringify(record)}\n`)
}

export const removeRecord = (project: Project, agent: string): boolean => removeIfThere(pathOf(project, agent))

export function readRecord(project: Project, agent: string): AgentWorktree | undefined {
  const path = pathOf(project, agent)
  const text = readFileIfThere(path)?.toString('utf8')
  return text === undefined ? undefined : parse(path, text)
}

/** The latest worktree of a task. */
export function recordOfTask(project: Project, taskId: string): AgentWorktree | undefined {
  const ofTask = readRecords(project).filter(({ task }) => task === taskId)
  return ofTask.sort((a, b) => (a.madeAt < b.madeAt ? -1 : 1)).at(-1)
}

/** By name of agent. */
export function readRecords(project: Project): AgentWorktree[] {
  const dir = folderOf(project)
  return onDisk(dir, () => namesIn(dir))
    .flatMap((name) => /^([a-z0-9-]+)\.json$/.exec(name)?.[1] ?? [])
    .sort()
    .flatMap((agent) => readRecord(project, agent) ?? [])
}

function parse(path: string, text: string): AgentWorktree {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw corrupt(path)
  }
  if (isRecord(value)) return value
  throw corrupt(path)
}

function isRecord(value: unknown): value is AgentWorktree {
  if (typeof value !== 'object' || value === null) return false
  const { v, agent, path, branch, base, copied } = value as Partial<Record<keyof AgentWorktree, unknown>>
  return v === 1 && [agent, path, branch, base].every((one) => typeof one === 'string') && Array.isArray(copied)
}

const corrupt = (path: string): HeimdallError =>
  new HeimdallError('STORE_CORRUPT', `${path} is not the record of a worktree`, {
    hint: 'the worktree itself is git’s: git worktree list',
  })
