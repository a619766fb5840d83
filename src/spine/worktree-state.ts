// How a worktree stands, as git says it: its commit, and what is not committed. What changed between two looks.
import { spawn } from 'node:child_process'
import { closeSync, fstatSync, lstatSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { isSystemError } from '../errors.ts'
import { FILES_RECORDED_MAX } from '../limits.ts'
import type { Env, Project } from '../paths.ts'
import type { FilesChanged } from '../runs/owned-run.ts'
import { readRange } from '../storage/atomic-file.ts'
import { realFs } from '../storage/fs.ts'
import { openUnlinked } from '../storage/unlinked-file.ts'

export interface WorktreeState {
  /** Null in a repository without commits. */
  readonly commit: string | null
  /** Null when no branch is checked out. */
  readonly branch: string | null
  /** The first of the paths that are not committed, with what tells a later state of the file from this one. */
  readonly dirty: readonly (readonly [path: string, stamp: string])[]
  readonly dirtyTotal: number
}

/** Nothing without git, or where it does not answer in time. It takes no lock of the repository. */
export async function lookAtWorktree(project: Project, env: Env, waitMs: number): Promise<WorktreeState | undefined> {
  if (project.gitCommonDir === undefined) return undefined
  const text = await git(project, env, waitMs, ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all'])
  return text === undefined ? undefined : parseStatus(project, text)
}

/** What is other than it was. Of files that were dirty before, those whose stamp is another one. */
export async function changesSince(
  project: Project,
  env: Env,
  before: WorktreeState,
  waitMs: number,
): Promise<FilesChanged | undefined> {
  const after = await lookAtWorktree(project, env, waitMs)
  if (after === undefined) return undefined
  const files = new Set(await committedSince(project, env, before.commit, after.commit, waitMs))
  const stamps = new Map(before.dirty)
  for (const [path, stamp] of after.dirty) if (stamps.get(path) !== stamp) files.add(path)
  for (const [path, stamp] of before.dirty) if (stampOf(project.root, path) !== stamp) files.add(path)
  const isSame = before.commit === after.commit
  const count = isSame
    ? '0'
    : await git(project, env, waitMs, ['rev-list', '--count', range(before.commit, after.commit)])
  const sorted = [...files].sort()
  return {
    commit_before: before.commit,
    commit_after: after.commit,
    commits: count === undefined ? null : Number(count),
    files: sorted.slice(0, FILES_RECORDED_MAX),
    total: sorted.length,
  }
}

const range = (before: string | null, after: string | null): string =>
  before === null ? (after ?? 'HEAD') : `${before}..${after ?? 'HEAD'}`

async function committedSince(
  project: Project,
  env: Env,
  before: string | null,
  after: string | null,
  waitMs: number,
): Promise<string[]> {
  if (before === after || after === null) return []
  const args =
    before === null
      ? ['ls-tree', '-r', '--name-only', '-z', after]
      : ['diff', '--name-only', '--no-renames', '-z', before, after]
  const text = await git(project, env, waitMs, args)
  return text === undefined ? [] : text.split('\0').filter((path) => path !== '' && !isOwn(project, path))
}

/** Below the planning folder: what is written out of the store with each change, by whoever makes one. */
const OWN_FILES = ['ledger/', 'protocol.log', '.heimdall/', 'protocol/ledger.jsonl']
/** What commands of ours keep there for agents and people; a change of it is somebody's, and stands in no task's way. */
const SHARED_FILES = ['blackboard.json', 'protocol/']

const isBelow = ({ root, planningDir }: Project, path: string, names: readonly string[]): boolean =>
  names.some((name) => path.startsWith(`${relative(root, planningDir)}/${name}`))

const isOwn = (project: Project, path: string): boolean => isBelow(project, path, OWN_FILES)

/** Whether somebody's work is in it that is not committed. What is written by our own commands is none. */
export function hasWork(project: Project, { dirty, dirtyTotal }: WorktreeState): boolean {
  const theirs = dirty.filter(([path]) => !isBelow(project, path, SHARED_FILES))
  return theirs.length > 0 || dirtyTotal > dirty.length
}

/** The second version of the format says everything in one go; with -z a path stands as it is. */
function parseStatus(project: Project, text: string): WorktreeState {
  const fields = text.split('\0')
  const paths: string[] = []
  let commit: string | null = null
  let branch: string | null = null
  for (let i = 0; i < fields.length; i += 1) {
    const field = fields[i] ?? ''
    const oid = /^# branch\.oid ([0-9a-f]+)$/.exec(field)?.[1]
    const head = /^# branch\.head (.+)$/.exec(field)?.[1]
    if (oid !== undefined) commit = oid
    if (head !== undefined && head !== '(detached)') branch = head
    // Fields before the path: 8 of a changed entry, 9 of a renamed one, 10 of one in conflict.
    const before = { '1': 8, '2': 9, u: 10, '?': 1 }[field[0] ?? '']
    if (before === undefined) continue
    paths.push(field.split(' ').slice(before).join(' '))
    if (field.startsWith('2')) {
      i += 1
      paths.push(fields[i] ?? '')
    }
  }
  const theirs = paths.filter((path) => !isOwn(project, path))
  return {
    commit,
    branch,
    dirty: theirs.slice(0, FILES_RECORDED_MAX).map((path) => [path, stampOf(project.root, path)]),
    dirtyTotal: theirs.length,
  }
}

function stampOf(root: string, path: string): string {
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false })
  return stats === undefined ? 'gone' : `${stats.size} ${stats.mtimeMs}`
}

/** Of an answer that is larger than this, nobody would read the list. */
const ANSWER_BYTES_MAX = 16 << 20

/** Nothing where there is no git, no answer in time, or a repository that it cannot read: then it is not known. */
async function git(project: Project, env: Env, waitMs: number, args: readonly string[]): Promise<string | undefined> {
  const file = answerFile()
  try {
    const child = spawn('git', ['--no-optional-locks', '-C', project.root, ...args], {
      stdio: ['ignore', file ?? 'pipe', 'ignore'],
      env: { ...env },
      timeout: waitMs,
      killSignal: 'SIGKILL',
    })
    const piped = child.stdout === null ? undefined : allOf(child.stdout)
    const isAnswered = await new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false))
      child.once('close', (code) => resolve(code === 0))
    })
    const answer = file === undefined ? await piped : readAll(file)
    return isAnswered ? answer?.toString('utf8') : undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Every start of a run asks git, and to listen at a pipe takes Node three times as long as to read a file. Nothing where no file can be made. */
function answerFile(): number | undefined {
  try {
    return openUnlinked(tmpdir())
  } catch (error) {
    if (!isSystemError(error)) throw error
    return undefined
  }
}

function readAll(fd: number): Buffer | undefined {
  const { size } = fstatSync(fd)
  return size > ANSWER_BYTES_MAX ? undefined : readRange(realFs, fd, 0, size)
}

/** Read to its end all the same, so that whoever writes can end. */
async function allOf(pipe: Readable): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of pipe as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes <= ANSWER_BYTES_MAX) parts.push(part)
  }
  return bytes > ANSWER_BYTES_MAX ? undefined : Buffer.concat(parts)
}
