// Checks what a git hook of the guard is about, a commit or a push, against claims. Git passes the environment of the commit.
import type { Conflict } from '../../coordination/claims/conflicts.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { type Committer, committerOf, type GuardVerdict, judgePaths } from '../../coordination/guard.ts'
import { oldCopyText } from '../../coordination/membership.ts'
import { askingHere } from '../../coordination/who/caller.ts'
import { readHaid, trailer } from '../../coordination/who/haid.ts'
import type { HeimdallError } from '../../errors.ts'
import { CONFLICT_PAIRS_MAX } from '../../limits.ts'
import { whoActs } from '../../person.ts'
import type { Hook } from './git-hooks.ts'
import {
  addTrailer,
  type Commit,
  git,
  type HookGit,
  isBlank,
  isReplaying,
  lastCommit,
  lastMove,
  pushedCommits,
  stagedPaths,
} from './git.ts'
import { verdictLines } from './verdict-lines.ts'

export interface GitHookCall extends HookGit {
  readonly hook: Hook
  /** Arguments that git passed to the hook. */
  readonly words: readonly string[]
  /** What git writes to a pre-push hook. */
  readonly stdin: () => Promise<string>
  readonly note: (line: string) => void
}

export interface CheckedHook {
  readonly verdict: GuardVerdict
  /** Undefined where no one had to be identified. */
  readonly committer?: Committer
}

export const CLEAR: GuardVerdict = { outcome: 'clear', collisions: [], contests: [] }

/** The guard refuses commits that collide; it does not refuse one because a store cannot be read. */
export const isOutage = ({ code }: HeimdallError): boolean => /^(STORE|CONFIG|GIT)_/.test(code)

/** Claims of other machines are unknown: a human is warned, an agent is refused. */
export const isFleetOutage = ({ code }: HeimdallError): boolean => /^(ENGINE|FLEET|OUTCOME)_/.test(code)

export async function checkHook(room: Coordination, call: GitHookCall): Promise<CheckedHook> {
  const { hook, words, note } = call
  const committer = committerOf(room, askingHere(call.env), () => (whoActs().person ? humanName(call) : undefined))
  if (hook === 'prepare-commit-msg') {
    signMessage(call, committer)
    return { verdict: CLEAR }
  }
  const old = hook === 'post-commit' ? undefined : oldCopyText(room.store, room.now())
  if (old !== undefined) note(`heimdall guard: ${old}`)
  const verdict = await judge(room, committer, hook, call)
  // A committer that was warned before the commit is not warned again, unless the path was claimed in between.
  const wasWarned = hook === 'post-commit' && words[0] === 'warned'
  if (!wasWarned || verdict.outcome === 'refuse') for (const line of verdictLines(hook, committer, verdict)) note(line)
  return { verdict, committer }
}

/** A replayed commit is not this agent's work, and only a proved identity signs. */
function signMessage(call: GitHookCall, committer: Committer): void {
  const [file, source] = call.words
  if (
    file !== undefined &&
    committer.kind === 'agent' &&
    committer.isProven &&
    readHaid(committer.haid) !== undefined &&
    !isReplaying(call) &&
    !(source === 'message' && isBlank(call, file))
  )
    addTrailer(call, file, trailer(committer.haid))
}

async function judge(
  room: Coordination,
  committer: Committer,
  hook: Exclude<Hook, 'prepare-commit-msg'>,
  call: GitHookCall,
): Promise<GuardVerdict> {
  switch (hook) {
    case 'pre-commit':
      return judgePaths(room, committer, stagedPaths(call))
    case 'post-commit':
      if (isReplaying(call) && lastMove(call).startsWith('rebase')) return CLEAR
      // Made just now, whatever date it was given.
      return judgeCommits(room, committer, [{ ...lastCommit(call), committedMs: Number.POSITIVE_INFINITY }])
    case 'pre-push':
      return judgeCommits(room, committer, pushedCommits(call, call.words[0] ?? 'origin', await call.stdin()))
  }
}

/**
 * A commit with an agent's trailer belongs to that agent, whoever pushes it: its own claims do not block it. A claim
 * younger than the commit does not block it either.
 */
function judgeCommits(room: Coordination, committer: Committer, commits: readonly Commit[]): GuardVerdict {
  const verdicts = commits.map(({ paths, agents, committedMs }) =>
    judgePaths(room, committer, paths, { authors: agents, atMs: committedMs + COMMIT_CLOCK_MS }),
  )
  const worst = (['refuse', 'warn'] as const).find((outcome) => verdicts.some((verdict) => verdict.outcome === outcome))
  const collisions = new Map<string, Conflict>()
  for (const found of verdicts.flatMap((verdict) => verdict.collisions)) {
    const pairs = new Map((collisions.get(found.claimId)?.pairs ?? []).map((pair) => [pair.wanted, pair]))
    for (const pair of found.pairs) if (!pairs.has(pair.wanted)) pairs.set(pair.wanted, pair)
    collisions.set(found.claimId, { ...found, pairs: [...pairs.values()].slice(0, CONFLICT_PAIRS_MAX) })
  }
  const contests = verdicts.flatMap((verdict) => verdict.contests)
  return { outcome: worst ?? 'clear', collisions: [...collisions.values()], contests }
}

/** Git stores whole seconds, rounded down. */
const COMMIT_CLOCK_MS = 1_000

function humanName({ cwd, env }: HookGit): string {
  return env['GIT_AUTHOR_NAME'] ?? git({ cwd, env }, ['var', 'GIT_AUTHOR_IDENT']).replace(/ <.*$/s, '')
}
