// What the guard asks git. Paths come NUL-separated and without rename detection, so that both names of a rename are there.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { HeimdallError, isErrno } from '../../errors.ts'
import { GUARD_PUSH_COMMITS_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'

export interface HookGit {
  readonly cwd: string
  /** As git handed it to the hook: it names the index that the commit is made from. */
  readonly env: Env
}

const LISTED = ['--name-only', '--no-renames', '-z'] as const

export function git({ cwd, env }: HookGit, args: readonly string[], input?: string): string {
  try {
    return execFileSync('git', [...args], {
      cwd,
      env: { ...env },
      encoding: 'utf8',
      maxBuffer: 256 << 20,
      stdio: ['pipe', 'pipe', 'pipe'],
      input: input ?? '',
    })
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : ''
    const why = isErrno(error, 'ENOENT') ? 'git is not installed' : (stderr ?? '')
    throw new HeimdallError('GIT_FAILED', `git ${args[0] ?? ''}: ${why}`, { cause: error })
  }
}

/** Paths that the commit in the making changes. In a merge, only those that differ from every side: the rest is history already. */
export function stagedPaths(at: HookGit): string[] {
  const sides = mergeHeads(at).map((head) => new Set(split(git(at, ['diff', '--cached', ...LISTED, head]))))
  return allStagedPaths(at).filter((path) => sides.every((side) => side.has(path)))
}

/** Everything that differs from the current commit, in a merge also what comes from the other side. */
export function allStagedPaths(at: HookGit): string[] {
  return split(git(at, ['diff', '--cached', ...LISTED]))
}

function mergeHeads(at: HookGit): string[] {
  try {
    const path = git(at, ['rev-parse', '--git-path', 'MERGE_HEAD']).trim()
    return readFileSync(resolve(at.cwd, path), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

/** True while git replays commits that exist already. */
export function isReplaying(at: HookGit): boolean {
  const dir = git(at, ['rev-parse', '--absolute-git-dir']).replace(/\n$/, '')
  return ['rebase-merge', 'rebase-apply'].some((name) => existsSync(join(dir, name)))
}

export interface Commit {
  readonly sha: string
  readonly paths: readonly string[]
  /** HAIDs of its `Heimdall-Agent:` trailers. */
  readonly agents: readonly string[]
  /** By the committer's clock, to the second. */
  readonly committedMs: number
}

type Signature = Pick<Commit, 'agents' | 'committedMs'>

/** A commit that git says nothing of counts as made just now, or rather later: every claim is older. */
const UNSIGNED: Signature = { agents: [], committedMs: Number.POSITIVE_INFINITY }

/** What the last entry of the reflog says: `commit: …`, `commit (amend): …`, `rebase (pick): …`. */
export function lastMove(at: HookGit): string {
  return git(at, ['log', '-g', '-1', '--no-show-signature', '--format=%gs', 'HEAD'])
}

/** The commit just made; of an amended one only what the amendment changed. */
export function lastCommit(at: HookGit): Commit {
  const [sha = ''] = git(at, ['rev-parse', 'HEAD']).trim().split('\n')
  if (!lastMove(at).startsWith('commit (amend)')) return commits(at, [sha])[0] ?? { sha, paths: [], ...UNSIGNED }
  return {
    sha,
    paths: split(git(at, ['diff', ...LISTED, 'HEAD@{1}', 'HEAD'])),
    ...(signaturesOf(at, [sha]).get(sha) ?? UNSIGNED),
  }
}

/** The commits of a push that the other side does not have, newest first. `lines` is what git writes to the hook. */
export function pushedCommits(at: HookGit, remote: string, lines: string): Commit[] {
  const shas = new Set<string>()
  for (const line of lines.split('\n')) {
    const [, localSha, , remoteSha] = line.split(' ')
    if (localSha === undefined || remoteSha === undefined || isZero(localSha)) continue
    const known = !isZero(remoteSha) && exists(at, remoteSha) ? [`^${remoteSha}`] : ['--not', `--remotes=${remote}`]
    const found = git(at, ['rev-list', `--max-count=${GUARD_PUSH_COMMITS_MAX}`, localSha, ...known])
    for (const sha of found.split('\n')) if (sha !== '') shas.add(sha)
  }
  return commits(at, [...shas])
}

const isZero = (sha: string): boolean => /^0+$/.test(sha)

function exists(at: HookGit, sha: string): boolean {
  try {
    git(at, ['cat-file', '-e', `${sha}^{commit}`])
    return true
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'GIT_FAILED') return false
    throw error
  }
}

function commits(at: HookGit, shas: readonly string[]): Commit[] {
  if (shas.length === 0) return []
  const signatures = signaturesOf(at, shas)
  // `-c` lists of a merge only what differs from all of its parents.
  const listed = split(git(at, ['diff-tree', '--stdin', '-r', '-c', '--root', ...LISTED], `${shas.join('\n')}\n`))
  const paths = new Map<string, string[]>()
  let current: string[] = []
  const wanted = new Set(shas)
  for (const field of listed) {
    if (wanted.has(field) && !paths.has(field)) paths.set(field, (current = []))
    else current.push(field)
  }
  return shas.map((sha) => ({ sha, paths: paths.get(sha) ?? [], ...(signatures.get(sha) ?? UNSIGNED) }))
}

function signaturesOf(at: HookGit, shas: readonly string[]): Map<string, Signature> {
  const format = '--format=%H %ct %(trailers:key=Heimdall-Agent,valueonly,separator=%x20)'
  const lines = git(at, ['log', '--no-walk', '--stdin', '--no-show-signature', format], `${shas.join('\n')}\n`)
  return new Map(
    lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [sha = '', seconds = '', ...agents] = line.trim().split(/ +/)
        return [sha, { agents, committedMs: Number(seconds) * 1000 }]
      }),
  )
}

/** A commit with an empty message is refused by git; a trailer would be a message. */
export function isBlank(at: HookGit, file: string): boolean {
  return readFileSync(resolve(at.cwd, file), 'utf8').trim() === ''
}

/** Adds the trailer unless this very one is there. */
export function addTrailer(at: HookGit, file: string, trailer: string): void {
  git(at, ['interpret-trailers', '--in-place', '--if-exists', 'addIfDifferent', '--trailer', trailer, file])
}

function split(output: string): string[] {
  return output
    .split('\0')
    .map((field) => field.replace(/^\n/, ''))
    .filter((field) => field !== '')
}
