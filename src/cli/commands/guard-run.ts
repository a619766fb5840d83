// `heimdall guard run`: one hook's worth of checking. Git hands it the environment of the commit.
import { loadConfig } from '../../config.ts'
import type { Conflict } from '../../coordination/conflicts.ts'
import { type Coordination, openCoordination, openCoordinationToRead } from '../../coordination/coordination.ts'
import { type Committer, committerOf, judgePaths, recordCollisions, type Verdict } from '../../coordination/guard.ts'
import { readHaid, trailer } from '../../coordination/haid.ts'
import { EXIT, HeimdallError } from '../../errors.ts'
import { findProject } from '../../paths.ts'
import type { Context, Run } from '../command.ts'
import { readAll } from '../stdin.ts'
import type { guardRun } from '../table/guard.ts'
import {
  addTrailer,
  type Commit,
  type Git,
  git,
  isReplaying,
  lastCommit,
  pushedCommits,
  stagedPaths,
} from './guard/git.ts'
import { type Hook, HOOKS } from './guard/hooks.ts'
import { verdictLines } from './guard/report.ts'

export const run: Run<typeof guardRun> = async (context, { args }) => {
  const hook = HOOKS.find((known) => known === args.hook)
  if (hook === undefined) throw new HeimdallError('USAGE', `no hook ${args.hook}, known: ${HOOKS.join(', ')}`)
  try {
    return await runHook(context, hook, args.words)
  } catch (error) {
    // The guard stands in the way of commits that collide, not of a store that cannot be read.
    if (!(error instanceof HeimdallError)) throw error
    context.note(`heimdall guard: ${hook} was not checked: ${error.message}`)
    return { data: { hook, outcome: 'unchecked', collisions: [] }, text: '' }
  }
}

async function runHook(context: Context, hook: Hook, words: readonly string[]): ReturnType<typeof run> {
  const at: Git = { cwd: context.cwd, env: context.env }
  const opened = await openRoom(context)
  if (opened === undefined) return { data: { hook, outcome: 'clear', collisions: [] }, text: '' }
  const { room, reopen } = opened
  try {
    const committer = whoCommits(context, room, at)
    if (hook === 'prepare-commit-msg') {
      if (
        committer.kind === 'agent' &&
        readHaid(committer.haid) !== undefined &&
        words[0] !== undefined &&
        !isReplaying(at)
      )
        addTrailer(at, words[0], trailer(committer.haid))
      return { data: { hook, outcome: 'clear', collisions: [] }, text: '' }
    }
    const verdict = await judge(context, room, at, hook, committer, words)
    if (verdict.collisions.length > 0) {
      const writable = reopen()
      recordCollisions(writable, committer, verdict.collisions)
      writable.store.close()
    }
    for (const line of verdictLines(hook, committer, verdict)) context.note(line)
    return {
      data: { hook, outcome: verdict.outcome, collisions: verdict.collisions.map(shown) },
      text: '',
      ...(verdict.outcome === 'refuse' && hook !== 'post-commit' ? { exit: EXIT.failure } : {}),
    }
  } finally {
    room.store.close()
  }
}

async function judge(
  context: Context,
  room: Coordination,
  at: Git,
  hook: Exclude<Hook, 'prepare-commit-msg'>,
  committer: Committer,
  words: readonly string[],
): Promise<Verdict> {
  switch (hook) {
    case 'pre-commit':
      return judgePaths(room, committer, stagedPaths(at))
    case 'post-commit':
      return isReplaying(at) ? { outcome: 'clear', collisions: [] } : judgeCommits(room, committer, [lastCommit(at)])
    case 'pre-push':
      return judgeCommits(room, committer, pushedCommits(at, words[0] ?? 'origin', await pushLines(context)))
  }
}

async function pushLines({ stdin }: Context): Promise<string> {
  return (await readAll(stdin)).toString('utf8')
}

/** A commit that carries an agent's trailer is that agent's, whoever pushes it: its own claims do not stand in its way. */
function judgeCommits(room: Coordination, committer: Committer, commits: readonly Commit[]): Verdict {
  const pathsOf = new Map<string, Set<string>>()
  for (const { agents, paths } of commits) {
    const key = agents.join(' ')
    const known = pathsOf.get(key) ?? new Set()
    for (const path of paths) known.add(path)
    pathsOf.set(key, known)
  }
  const verdicts = [...pathsOf].map(([agents, paths]) => judgePaths(room, committer, [...paths], agents.split(' ')))
  const worst = (['refuse', 'warn'] as const).find((outcome) => verdicts.some((verdict) => verdict.outcome === outcome))
  return { outcome: worst ?? 'clear', collisions: verdicts.flatMap(({ collisions }) => collisions) }
}

function whoCommits({ env }: Context, room: Coordination, at: Git): Committer {
  const name = [env['HEIMDALL_HAID'], env['HEIMDALL_AGENT_ID'], env['BB_AGENT']].find(
    (value) => value !== undefined && value !== '',
  )
  if (name === undefined) return { kind: 'human', name: humanName(at) }
  return committerOf(room, name, env['HEIMDALL_SECRET'])
}

function humanName({ cwd, env }: Git): string {
  return env['GIT_AUTHOR_NAME'] ?? git({ cwd, env }, ['var', 'GIT_AUTHOR_IDENT']).replace(/ <.*$/s, '')
}

interface Opened {
  readonly room: Coordination
  /** For writing what was found. */
  readonly reopen: () => Coordination
}

/** Read only at first: most commits collide with nothing and should not wait for anybody. Nothing where nobody ever claimed. */
async function openRoom({ cwd, env, clock, configFile }: Context): Promise<Opened | undefined> {
  const config = await loadConfig({ cwd, env, file: configFile })
  const options = { project: findProject(cwd, env), env, clock, staleMinutes: Number(config.agent_stale_minutes.value) }
  const room = openCoordinationToRead(options)
  return room === undefined ? undefined : { room, reopen: () => openCoordination(options) }
}

function shown({ agentId, haid, liveness, held, pairs, task, expiresAt }: Conflict): object {
  return { agentId, haid, liveness, held, paths: pairs.map(({ wanted }) => wanted), task, expiresAt }
}
