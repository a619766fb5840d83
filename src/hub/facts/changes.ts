// What an agent has changed since its run began, since a time or since a commit, as git and the file system tell of it.
import { join, resolve, sep } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { parseSince, type Since, stoodAt, untouchedSince } from '../../spine/worktrees/changed-since.ts'
import { ask, askIfThere, fieldsOf, git, type Git, gitIn } from '../../spine/worktrees/git.ts'
import { HUB_DIFF_BYTES_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import type { ChangesReply } from '../contract.ts'

export interface ChangesWish {
  readonly agentId: string
  readonly cwd: string
  readonly runBegan: string | null
  /** The commit that was noted then. */
  readonly commitThen: string | null
  /** A time or a commit; the beginning of the run where nothing is said. */
  readonly since: string | undefined
  /** Its diff, besides the list. */
  readonly path: string | undefined
  readonly isClaimed: (path: string) => boolean
  readonly alsoHere: readonly string[]
}

export async function changesOf(wish: ChangesWish, env: Env): Promise<Omit<ChangesReply, 'at'>> {
  const at = gitIn(wish.cwd, env)
  const { base, basis, sinceMs } = await baseOf(at, wish)
  const isThere = (await askIfThere(at, ['rev-parse', '--verify', '--quiet', `${base}^{tree}`])) !== undefined
  const tracked = isThere ? await changedFiles(at, base, wish.isClaimed) : []
  const untracked = fieldsOf(
    (await askIfThere(at, ['ls-files', '-z', '--others', '--exclude-standard', '--full-name'])) ?? '',
  )
  const files = [
    ...tracked,
    ...untracked.map((path) => ({
      path,
      added: null,
      removed: null,
      kind: 'untracked' as const,
      in_own_claims: wish.isClaimed(path),
    })),
  ].filter(({ path }) => !isOurs(path))
  const paths = files.map(({ path }) => path)
  const older = sinceMs === null || !isThere ? new Set<string>() : await untouchedSince(at, base, sinceMs, paths)
  const diff = wish.path === undefined || !isThere ? null : await diffOf(at, base, wish.path, untracked)
  return {
    agent_id: wish.agentId,
    base,
    basis,
    since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    run_began: wish.runBegan,
    files: files.filter(({ path }) => !older.has(path)),
    older: older.size,
    also_here: [...wish.alsoHere],
    diff: diff === null ? null : diff.slice(0, HUB_DIFF_BYTES_MAX),
    cut: diff !== null && diff.length > HUB_DIFF_BYTES_MAX,
  }
}

interface Base {
  readonly base: string
  readonly basis: ChangesReply['basis']
  readonly sinceMs: number | null
}

/** The commit that changes are told against: since a run began, the one that was noted then. */
async function baseOf(at: Git, wish: ChangesWish): Promise<Base> {
  const since: Since | undefined =
    wish.since !== undefined
      ? await parseSince(at, wish.since)
      : wish.runBegan === null
        ? undefined
        : { atMs: Date.parse(wish.runBegan) }
  if (since === undefined) return { base: 'HEAD', basis: 'head', sinceMs: null }
  if ('commit' in since) return { base: since.commit, basis: 'named', sinceMs: null }
  const sinceMs = since.atMs
  if (wish.since === undefined && wish.commitThen !== null) return { base: wish.commitThen, basis: 'noted', sinceMs }
  const stood = await stoodAt(at, sinceMs)
  return stood === undefined
    ? { base: 'HEAD', basis: 'head', sinceMs }
    : { base: stood.commit, basis: stood.by, sinceMs }
}

/** Written by Heimdall after each change, and no work of an agent. */
export const isOurs = (path: string): boolean =>
  path.startsWith('.planning/ledger/') || path === '.planning/protocol.log'

type Changed = ChangesReply['files']

async function changedFiles(at: Git, base: string, isClaimed: (path: string) => boolean): Promise<Changed> {
  const diff = (form: string): Promise<string> =>
    ask(at, ['diff', '--no-renames', '--no-ext-diff', '-z', form, base, '--'])
  const letters = fieldsOf(await diff('--name-status'))
  const kinds = new Map<string, string>()
  for (let i = 0; i + 1 < letters.length; i += 2) kinds.set(letters[i + 1] ?? '', letters[i] ?? '')
  return fieldsOf(await diff('--numstat')).map((line) => {
    const [added = '', removed = '', ...rest] = line.split('\t')
    const path = rest.join('\t')
    const isBinary = added === '-'
    return {
      path,
      added: isBinary ? null : Number(added),
      removed: isBinary ? null : Number(removed),
      kind: isBinary ? 'binary' : (KINDS[kinds.get(path) ?? ''] ?? 'modified'),
      in_own_claims: isClaimed(path),
    }
  })
}

const KINDS: Readonly<Record<string, Changed[number]['kind']>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
}

/** The path is data: git is told so, and nothing in it is a pattern or an option. */
async function diffOf(at: Git, base: string, path: string, untracked: readonly string[]): Promise<string> {
  const literal: Git = { ...at, env: { ...at.env, GIT_LITERAL_PATHSPECS: '1' } }
  const top = (await ask(at, ['rev-parse', '--show-toplevel'])).replace(/\n$/, '')
  if (path === '') throw new HeimdallError('HUB_REQUEST_INVALID', 'path: which one?')
  if (!resolve(top, path).startsWith(join(top, sep)))
    throw new HeimdallError('PATH_OUTSIDE_ROOT', 'path: it leads out of the repository')
  if (untracked.includes(path)) {
    const args = ['diff', '--no-index', '--no-ext-diff', '--no-color', '--', '/dev/null', path]
    // 1 says that they differ.
    return (await git({ ...literal, cwd: top }, args, { answers: [1] })).stdout
  }
  return ask({ ...literal, cwd: top }, ['diff', '--no-ext-diff', '--no-color', base, '--', path])
}
