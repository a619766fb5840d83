// `heimdall guard run`: one hook's worth of checking. Git hands it the environment of the commit.
import { GUARD_HOOKS } from '../../../coordination/guard-mark.ts'
import { askingHere } from '../../../coordination/who/caller.ts'
import type { Conflict } from '../../../coordination/claims/conflicts.ts'
import type { Coordination } from '../../../coordination/coordination.ts'
import {
  type Committer,
  committerOf,
  judgePaths,
  recordCollisions,
  type GuardVerdict,
} from '../../../coordination/guard.ts'
import { oldCopyText } from '../../../coordination/membership.ts'
import { readHaid, trailer } from '../../../coordination/who/haid.ts'
import { EXIT, HeimdallError } from '../../../errors.ts'
import { CONFLICT_PAIRS_MAX } from '../../../limits.ts'
import { whoActs } from '../../../person.ts'
import type { Answer, Context, Run } from '../../command.ts'
import { readAll } from '../../stdin.ts'
import type { guardRun } from '../../table/guard.ts'
import { withRoom, withRoomToRead } from '../../coordination-door.ts'
import {
  addTrailer,
  type Commit,
  type HookGit,
  git,
  isBlank,
  isReplaying,
  lastCommit,
  lastMove,
  pushedCommits,
  stagedPaths,
} from './git.ts'
import type { Hook } from './git-hooks.ts'
import { verdictLines } from './report.ts'

export const run: Run<typeof guardRun> = async (context, { args }) => {
  const hook = GUARD_HOOKS.find((known) => known === args.hook)
  if (hook === undefined) throw new HeimdallError('USAGE', `no hook ${args.hook}, known: ${GUARD_HOOKS.join(', ')}`)
  try {
    return await runHook(context, hook, args.words)
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    if (!isOutage(error) && !(isFleetOutage(error) && whoActs().person)) throw error
    context.note(`heimdall guard: ${hook} was not checked: ${error.message}`)
    return { data: { hook, outcome: 'unchecked', collisions: [] }, text: 'unchecked' }
  }
}

/** The guard stands in the way of commits that collide, not of a store that cannot be read. */
const isOutage = ({ code }: HeimdallError): boolean => /^(STORE|CONFIG|GIT)_/.test(code)

/** What other machines hold is not known: a human is warned, an agent is refused. */
const isFleetOutage = ({ code }: HeimdallError): boolean => /^(ENGINE|FLEET|OUTCOME)_/.test(code)

function runHook(context: Context, hook: Hook, words: readonly string[]): Promise<Answer> {
  const at: HookGit = { cwd: context.cwd, env: context.env }
  return withRoomToRead(
    context,
    async (room) => {
      const committer = whoCommits(context, room, at)
      const old = hook === 'pre-commit' || hook === 'pre-push' ? oldCopyText(room.store, room.now()) : undefined
      if (old !== undefined) context.note(`heimdall guard: ${old}`)
      if (hook !== 'prepare-commit-msg') return await check({ context, room, at, hook, committer, words })
      const [file, source] = words
      // A replayed commit is not this agent's work, and nobody signs with a name that is not proved to be its own.
      if (
        file !== undefined &&
        committer.kind === 'agent' &&
        committer.isProven &&
        readHaid(committer.haid) !== undefined &&
        !isReplaying(at) &&
        !(source === 'message' && isBlank(at, file))
      )
        addTrailer(at, file, trailer(committer.haid))
      return answer(hook, CLEAR)
    },
    // Nobody has ever claimed anything here.
    () => answer(hook, CLEAR),
    // Says it itself, where somebody is about to commit or push.
    Number.POSITIVE_INFINITY,
  )
}

const CLEAR: GuardVerdict = { outcome: 'clear', collisions: [], contests: [] }

/** A hook that looks at what is committed or pushed. */
interface Looking {
  readonly context: Context
  readonly room: Coordination
  readonly at: HookGit
  readonly hook: Exclude<Hook, 'prepare-commit-msg'>
  readonly committer: Committer
  /** What git handed to the hook. */
  readonly words: readonly string[]
}

async function check(looking: Looking): Promise<Answer> {
  const { context, hook, committer, words } = looking
  const verdict = await judge(looking)
  // Whoever was warned before the commit has gone past nothing, unless somebody claimed it since.
  const wasWarned = hook === 'post-commit' && words[0] === 'warned'
  if (!wasWarned || verdict.outcome === 'refuse')
    for (const line of verdictLines(hook, committer, verdict)) context.note(line)
  if (verdict.collisions.length + verdict.contests.length > 0) await putOnRecord(context, committer, verdict)
  return answer(hook, verdict)
}

/** What was found stands, whether or not it can be written down. */
async function putOnRecord(context: Context, committer: Committer, verdict: GuardVerdict): Promise<void> {
  try {
    await withRoom(context, async (room) => recordCollisions(room, committer, verdict))
  } catch (error) {
    if (!(error instanceof HeimdallError) || !(isOutage(error) || isFleetOutage(error))) throw error
    context.note(`heimdall guard: the collision is not recorded: ${error.message}`)
  }
}

/** After the commit there is nothing left to refuse. */
function answer(hook: Hook, { outcome, collisions }: GuardVerdict): Answer {
  return {
    data: { hook, outcome, collisions: collisions.map(shown) },
    // The hooks read this word; whatever is for people went to stderr.
    text: outcome,
    exit: outcome === 'refuse' && hook !== 'post-commit' ? EXIT.failure : EXIT.ok,
  }
}

async function judge({ context, room, at, hook, committer, words }: Looking): Promise<GuardVerdict> {
  switch (hook) {
    case 'pre-commit':
      return judgePaths(room, committer, stagedPaths(at))
    case 'post-commit':
      if (isReplaying(at) && lastMove(at).startsWith('rebase')) return CLEAR
      // Made just now, whatever date it was given.
      return judgeCommits(room, committer, [{ ...lastCommit(at), committedMs: Number.POSITIVE_INFINITY }])
    case 'pre-push': {
      const lines = (await readAll(context.stdin)).toString('utf8')
      return judgeCommits(room, committer, pushedCommits(at, words[0] ?? 'origin', lines))
    }
  }
}

/**
 * A commit that carries an agent's trailer is that agent's, whoever pushes it: its own claims do not stand in its way.
 * Nor does a claim that is younger than the commit: whoever made it claimed what was history by then.
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

/** Git keeps whole seconds, and cut off, not rounded. */
const COMMIT_CLOCK_MS = 1_000

function whoCommits(context: Context, room: Coordination, at: HookGit): Committer {
  return committerOf(room, askingHere(context.env), () => (whoActs().person ? humanName(at) : undefined))
}

function humanName({ cwd, env }: HookGit): string {
  return env['GIT_AUTHOR_NAME'] ?? git({ cwd, env }, ['var', 'GIT_AUTHOR_IDENT']).replace(/ <.*$/s, '')
}

function shown({ agentId, haid, liveness, held, pairs, task, expiresAt }: Conflict): object {
  return { agentId, haid, liveness, held, paths: pairs.map(({ wanted }) => wanted), task, expiresAt }
}
