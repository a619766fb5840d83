// What an agent has changed since its work began, as git tells of it.
import { join, resolve, sep } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { readSheet, sheetPaths } from '../../spine/kept-run.ts'
import { ask, askIfThere, fieldsOf, git, type Git, gitIn } from '../../spine/worktrees/git.ts'
import { HUB_DIFF_BYTES_MAX } from '../../limits.ts'
import { type Env, runsDirOf } from '../../paths.ts'
import type { ChangesReply } from '../contract.ts'

export interface ChangesWish {
  readonly agentId: string
  readonly runId: string | null
  readonly cwd: string
  readonly since: string | null
  /** Its diff, besides the list. */
  readonly path: string | undefined
  readonly isClaimed: (path: string) => boolean
}

/** Against the commit that its worktree stood at when the run began; against HEAD where that is not known. */
export async function changesOf(wish: ChangesWish, env: Env): Promise<Omit<ChangesReply, 'at'>> {
  const at = gitIn(wish.cwd, env)
  const base = baseOf(wish.runId, env) ?? 'HEAD'
  const isThere = (await askIfThere(at, ['rev-parse', '--verify', '--quiet', `${base}^{commit}`])) !== undefined
  const files = isThere ? (await changedFiles(at, base, wish.isClaimed)).filter(({ path }) => !isOurs(path)) : []
  const untracked = fieldsOf(
    (await askIfThere(at, ['ls-files', '-z', '--others', '--exclude-standard', '--full-name'])) ?? '',
  ).filter((path) => !isOurs(path))
  const diff = wish.path === undefined || !isThere ? null : await diffOf(at, base, wish.path, untracked)
  return {
    agent_id: wish.agentId,
    base,
    since: wish.since,
    files: [
      ...files,
      ...untracked.map((path) => ({
        path,
        added: null,
        removed: null,
        kind: 'untracked' as const,
        in_own_claims: wish.isClaimed(path),
      })),
    ],
    diff: diff === null ? null : diff.slice(0, HUB_DIFF_BYTES_MAX),
    cut: diff !== null && diff.length > HUB_DIFF_BYTES_MAX,
  }
}

/** Written by Heimdall after each change, and no work of an agent. */
export const isOurs = (path: string): boolean =>
  path.startsWith('.planning/ledger/') || path === '.planning/protocol.log'

function baseOf(runId: string | null, env: Env): string | undefined {
  if (runId === null) return undefined
  const sheet = sheetPaths(runsDirOf(env))
    .map(readSheet)
    .find((run) => run?.identity.run_id === runId)
  return sheet?.worktree?.commit ?? undefined
}

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
