// heimdall run: start a run; then attach to its terminal, return, or wait for its end.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pause } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { HeimdallError } from '../../errors.ts'
import { GIT_AT_START_MS, RUN_CLOSED_MS, RUN_RECORDING_BYTES_MAX } from '../../limits.ts'
import { findProject } from '../../paths.ts'
import { checkCommand } from '../../sessions/command.ts'
import type { RunWish, StartedRun } from '../../spine/run-wish.ts'
import { lookAtWorktree } from '../../spine/worktree-state.ts'
import { resolveOptions, type SessionOptions } from '../../wire/session-options.ts'
import type { Answer, Context, InputOf, Run } from '../command.ts'
import { takeEarlyRun } from '../early-session.ts'
import type { run as row } from '../table/spine.ts'
import { policyFrom } from './policy/run-policy.ts'
import { checkStart, colored, isDrawn, showStarted, waitForExit } from './session/show-start.ts'
import { startOptions } from './session/start-options.ts'

export const run: Run<typeof row> = async (context, input) => {
  const { flags, rest } = input
  checkStart(flags, rest, 'heimdall run -- claude')
  const { id: _, ...session } = resolveOptions({
    ...(await startOptions(context, flags, rest)),
    id: flags.id ?? 'run',
    // With the command ends all that it has started, whatever plain sessions do.
    killProcessGroup: true,
    sessionEnvVar: 'HEIMDALL_SESSION_ID',
    recordBytesMax: RUN_RECORDING_BYTES_MAX,
  })
  checkCommand(session, context.env)
  // git looks while all that starts a run is loaded.
  const before = lookAtWorktree(findProject(session.cwd, context.env), context.env, GIT_AT_START_MS)
  const { startRun } = await import('../../spine/start-run.ts')
  const wish = { ...(await wishFrom(context, input, session)), before }
  const started = isDrawn(context, flags)
    ? await colored(context, (colors) => startRun({ ...wish, session: { ...session, colors } }))
    : await startRun(wish)
  const { session: shown, sheet } = started
  if (flags.detach === true && flags.wait !== true) return answer(started, null)
  if (flags.detach === true) {
    const code = await waitForExit(session.socketDir, shown)
    await closed(context, sheet)
    return answer(started, code)
  }
  const left = await showStarted(context, shown, session.socketDir, flags)
  if (left.exit === undefined && !hasExited(left)) return { ...left, data: { ...dataOf(started), exit_code: null } }
  await closed(context, sheet)
  return answer(started, left.exit ?? 0)
}

const hasExited = ({ data }: Answer): boolean => (data as { readonly reason?: unknown }).reason === 'exited'

async function wishFrom(
  context: Context,
  { flags }: InputOf<typeof row>,
  session: Omit<SessionOptions, 'id'>,
): Promise<RunWish> {
  const { env, clock, note } = context
  const settings = await context.settings()
  const { agent_stale_minutes: stale } = settings
  const early = takeEarlyRun()
  const dist = early === undefined ? distFolder() : dirname(early.launched.launcher)
  return {
    agent: flags.agent,
    role: flags.role,
    task: flags.task,
    policy: await policyFrom(context, flags.policy, session),
    sessionId: flags.id,
    session,
    records: flags['no-record'] !== true,
    worktree: await worktreeFrom(context, flags, settings),
    launcher: join(dist, 'session.cjs'),
    keeper: join(dist, 'keeper.cjs'),
    early,
    staleMinutes: stale.origin === 'default' ? undefined : (stale.value as number),
    env,
    clock,
    note: (line) => note(`warning: ${line}`),
  }
}

function distFolder(): string {
  const { createRequire } = process.getBuiltinModule('node:module')
  return join(dirname(createRequire(import.meta.url).resolve('heimdall-agents/package.json')), 'dist')
}

async function worktreeFrom(
  context: Context,
  flags: InputOf<typeof row>['flags'],
  { worktree_dir: dir, worktree_copy: usual }: Config,
): Promise<RunWish['worktree']> {
  const { base, copy } = flags
  if (flags.worktree !== true) {
    if (base === undefined && copy.length === 0) return undefined
    throw new HeimdallError('USAGE', `${base === undefined ? '--copy' : '--base'} goes with --worktree`)
  }
  const { worktreesDir } = await import('../../spine/worktrees/new-place.ts')
  const named = copy.map((path) => ({ path: context.resolve(path), isRequired: true }))
  const always = (usual.value as readonly string[]).map((path) => ({ path, isRequired: false }))
  return { base, dir: worktreesDir(context.env, dir.value as string | null, context.cwd), copy: [...named, ...always] }
}

/** Its keeper closes the run; whoever sees this command end finds it closed. */
async function closed({ clock, note }: Context, sheet: string): Promise<void> {
  const deadlineMs = clock.monoMs() + RUN_CLOSED_MS
  while (existsSync(sheet)) {
    if (clock.monoMs() >= deadlineMs) {
      note('warning: the run is not closed yet; its keeper, or the next command, will do so')
      return
    }
    await pause(clock, 5)
  }
}

function dataOf({ runId, agentId, haid, project, worktree, session, record }: StartedRun) {
  return { run_id: runId, agent_id: agentId, haid, project, branch: worktree?.branch ?? null, ...session, record }
}

function answer(started: StartedRun, code: number | null): Answer {
  return {
    data: { ...dataOf(started), exit_code: code },
    text: code === null ? `${started.agentId} runs as process ${started.session.pid}, run ${started.runId}` : '',
    ...(code === null ? {} : { exit: code }),
  }
}
