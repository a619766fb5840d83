// What an agent has changed since its work forked off, committed or not, as `git diff` shows it.
import { HeimdallError } from '../../errors.ts'
import type { Env, Project } from '../../paths.ts'
import { parseSince, stoodAt, untouchedSince } from './changed-since.ts'
import { withIndexCopy, withScratchObjects } from './condition.ts'
import { ask, fieldsOf, git, type Git, gitIn, isAncestor } from './git.ts'
import { halfMade, repositoryOf } from './give.ts'
import { type AgentWorktree, readRecords, recordOfTask } from './owner-record.ts'
import { notFound } from './refusals.ts'
import { registeredWorktrees } from './registered.ts'
import { standingOf, type WorktreeStanding } from './standing.ts'

export interface DiffRequest {
  readonly project: Project
  readonly env: Env
  /** Default: the agent whose worktree the project is, or the only one. */
  readonly agent: string | undefined
  /** A time, or the text of a commit or time. */
  readonly since: number | string | undefined
}

/** Where `git diff` with this range and these paths shows the changes. */
export interface AgentDiff {
  readonly where: Git
  readonly range: readonly string[]
  readonly paths: readonly string[]
  readonly standing: WorktreeStanding
}

export async function withAgentDiff<T>(
  { project, env, agent, since }: DiffRequest,
  act: (diff: AgentDiff) => Promise<T>,
): Promise<T> {
  repositoryOf(project)
  const record = chosen(project, agent)
  const at = gitIn(project.root, env)
  const standing = await standingOf(at, record, await registeredWorktrees(at))
  if (standing.presence === 'half made') throw halfMade(record)
  const result = await withWholeDiff(at, standing, async (where, whole) => ({
    of: await act({ where, standing, ...(await sinceThen(where, whole, since)) }),
  }))
  if (result === undefined) throw notFound(record.agent, [])
  return result.of
}

function chosen(project: Project, agent: string | undefined): AgentWorktree {
  const records = readRecords(project)
  const own = records.find(({ path }) => path === project.root)
  const found =
    agent === undefined
      ? (own ?? (records.length === 1 ? records[0] : undefined))
      : (records.find((one) => one.agent === agent) ?? recordOfTask(project, agent))
  if (found !== undefined) return found
  if (agent !== undefined) throw notFound(agent, records)
  if (records.length === 0)
    throw new HeimdallError('WORKTREE_NOT_FOUND', 'no agent has a worktree in this repository', {
      hint: 'heimdall run --worktree makes one',
    })
  throw new HeimdallError('USAGE', 'several agents have worktrees here', {
    hint: `name one: ${records.map((one) => one.agent).join(', ')}`,
  })
}

/** The range and paths for `git diff` where only the later part of the work is wanted. */
async function sinceThen(
  where: Git,
  whole: readonly string[],
  wanted: number | string | undefined,
): Promise<Pick<AgentDiff, 'range' | 'paths'>> {
  if (wanted === undefined) return { range: whole, paths: [] }
  const since = typeof wanted === 'number' ? { atMs: wanted } : await parseSince(where, wanted)
  const [fork = '', ...tip] = whole
  if ('commit' in since) return { range: [since.commit, ...tip], paths: [] }
  const stood = await stoodAt(where, since.atMs, ...tip)
  // Before the worktree was made: all of the work is later.
  if (stood === undefined || stood.by === 'history' || (await isAncestor(where, stood.commit, fork)))
    return { range: whole, paths: [] }
  const range = [stood.commit, ...tip]
  // Without a checkout an agent has commits only.
  if (tip.length > 0) return { range, paths: [] }
  const names = await ask(where, ['diff', '--no-renames', '--name-only', '-z', stood.commit, '--'])
  const older = await untouchedSince(where, stood.commit, since.atMs, fieldsOf(names))
  const excluded = [...older].map((path) => `:(top,exclude,literal)${path}`)
  return { range, paths: excluded.length === 0 ? [] : [':/', ...excluded] }
}

export interface DiffedFile {
  readonly path: string
  /** Git's letter. */
  readonly status: string
  /** Null for binary files. */
  readonly added: number | null
  readonly deleted: number | null
}

export async function diffedFiles({ where, range, paths }: AgentDiff): Promise<DiffedFile[]> {
  const diff = async (form: string): Promise<string[]> =>
    fieldsOf(await ask(where, ['diff', '--no-renames', '--no-ext-diff', '-z', form, ...range, '--', ...paths]))
  // Git prints a dash for binary files.
  const countOf = (text: string): number | null => (text === '-' ? null : Number(text))
  const counts = new Map(
    (await diff('--numstat')).map((line) => {
      const [added = '', deleted = '', ...path] = line.split('\t')
      return [path.join('\t'), { added: countOf(added), deleted: countOf(deleted) }] as const
    }),
  )
  const letters = await diff('--name-status')
  return letters.flatMap((status, i) => {
    const path = letters[i + 1] ?? ''
    return i % 2 === 0 ? [{ path, status, ...(counts.get(path) ?? { added: null, deleted: null }) }] : []
  })
}

/**
 * Hands `act` a checkout in which `git diff` followed by the given words shows everything. Untracked files are entered
 * in a copy of the index, by name alone: nothing is added to the repository.
 */
async function withWholeDiff<T>(
  at: Git,
  { worktree, presence, fork, tip, untracked }: WorktreeStanding,
  act: (where: Git, range: readonly string[]) => Promise<T>,
): Promise<T | undefined> {
  if (fork === undefined || tip === undefined) return undefined
  if (presence !== 'ready') return act(at, [fork, tip])
  const here = { ...at, cwd: worktree.path }
  return withScratchObjects(here, (scratch) =>
    withIndexCopy(scratch, async (copy) => {
      if (untracked.length > 0)
        await git(
          { ...copy, env: { ...copy.env, GIT_LITERAL_PATHSPECS: '1' } },
          ['add', '--intent-to-add', '--pathspec-from-file=-', '--pathspec-file-nul'],
          { input: `${untracked.join('\0')}\0` },
        )
      return act(copy, [fork])
    }),
  )
}
