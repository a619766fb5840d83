// What a run that is over has changed: what was noted when it ended, and what git still knows of its commits.
import { HUB_DIFF_BYTES_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import { numberIn, objectIn, textIn } from '../../runs/index/call-facts.ts'
import { search } from '../../runs/index/search.ts'
import { ask, commitOf, fieldsOf, type Git, gitIn } from '../../spine/worktrees/git.ts'
import type { RunChangesReply } from '../contract.ts'
import type { OpenBook } from './call-book.ts'
import { isOurs } from './changes.ts'

export interface NotedChanges {
  readonly before: string | null
  readonly after: string | null
  readonly commits: number | null
  readonly files: readonly string[]
  readonly total: number
}

export function notedChanges(book: OpenBook, run: string): NotedChanges | undefined {
  const [entry] = search(book.index, { run, type: 'files_changed', order: 'newest', limit: 1 })
  const body = entry === undefined ? undefined : objectIn(book.lines.eventsOf(entry).first, 'changes')
  if (body === undefined) return undefined
  const named = Array.isArray(body['files']) ? body['files'] : []
  const files = named.filter((path): path is string => typeof path === 'string' && !isOurs(path))
  return {
    before: textIn(body, 'commit_before'),
    after: textIn(body, 'commit_after'),
    commits: numberIn(body, 'commits'),
    files,
    total: Math.max(files.length, (numberIn(body, 'total') ?? 0) - (named.length - files.length)),
  }
}

type Told = Pick<RunChangesReply, 'noted' | 'diff' | 'cut'>

/** In the project's own folder: its commits are there also when the worktree of the run is gone. */
export async function changesOfRun(
  noted: NotedChanges,
  root: string,
  path: string | undefined,
  env: Env,
): Promise<Told> {
  const at = gitIn(root, env)
  const range = await rangeOf(at, noted)
  const counts = range === undefined ? new Map<string, string>() : await countsIn(at, range)
  const diff = path === undefined || range === undefined || !counts.has(path) ? null : await diffIn(at, range, path)
  return {
    noted: {
      commit_before: noted.before,
      commit_after: noted.after,
      commits: noted.commits,
      total: noted.total,
      files: noted.files.map((file) => {
        const [added = '-', removed = '-'] = (counts.get(file) ?? '').split('\t')
        return { path: file, added: countOf(added), removed: countOf(removed), is_committed: counts.has(file) }
      }),
    },
    diff: diff === null ? null : diff.slice(0, HUB_DIFF_BYTES_MAX),
    cut: diff !== null && diff.length > HUB_DIFF_BYTES_MAX,
  }
}

type CommitRange = readonly [before: string, after: string]

/** Commits may be gone by now: thrown away, or never here. */
async function rangeOf(at: Git, { before, after }: NotedChanges): Promise<CommitRange | undefined> {
  if (before === null || after === null || before === after) return undefined
  const known = await Promise.all([before, after].map((commit) => commitOf(at, commit)))
  return known.includes(undefined) ? undefined : [before, after]
}

/** By path, lines added and removed. */
async function countsIn(at: Git, range: CommitRange): Promise<Map<string, string>> {
  const lines = fieldsOf(await ask(at, ['diff', '--no-renames', '--no-ext-diff', '--numstat', '-z', ...range, '--']))
  return new Map(
    lines.map((line) => {
      const [added = '', removed = '', ...path] = line.split('\t')
      return [path.join('\t'), `${added}\t${removed}`]
    }),
  )
}

function diffIn(at: Git, range: CommitRange, path: string): Promise<string> {
  const literal = { ...at, env: { ...at.env, GIT_LITERAL_PATHSPECS: '1' } }
  return ask(literal, ['diff', '--no-renames', '--no-ext-diff', '--no-color', ...range, '--', path])
}

/** Git has a dash for binary files. */
const countOf = (text: string): number | null => (text === '-' || text === '' ? null : Number(text))
