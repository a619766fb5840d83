// heimdall worker start: a worker with its sessions, worktrees, policy and profile, from flags and settings.
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pause } from '../../clock.ts'
import { type Coordination, openCoordination } from '../../coordination/coordination.ts'
import { membershipIn } from '../../coordination/membership.ts'
import { listenAt } from '../../dispatch/a2a/http-server.ts'
import { type RunningWorker, startWorker } from '../../dispatch/a2a/start-worker.ts'
import type { RuntimeName } from '../../dispatch/runner/order.ts'
import { drained } from '../../dispatch/worker/drained.ts'
import { createExecution, type ExecutionOptions } from '../../dispatch/worker/execution.ts'
import { Learned } from '../../dispatch/worker/learned.ts'
import { McpProbes } from '../../dispatch/worker/mcp-probe.ts'
import { gatherProfile } from '../../dispatch/worker/profile.ts'
import type { DeskOptions } from '../../dispatch/worker/worker-desk.ts'
import { configuredModel } from '../../hosts/host-model.ts'
import { hostServers } from '../../hosts/host-servers.ts'
import { parseId } from '../../ids.ts'
import { RUN_RECORDING_BYTES_MAX, WORKER_IDLE_LOOK_MS } from '../../limits.ts'
import { checkCommand } from '../../sessions/command.ts'
import { resolveOptions } from '../../wire/session-options.ts'
import type { Answer, Context, InputOf } from '../command.ts'
import { changingOptions } from '../coordination-store.ts'
import { listOf } from '../planning-of.ts'
import { untilSignal } from '../until-signal.ts'
import { VERSION } from '../version.ts'
import { noteOf, peersFor } from './peers.ts'
import { policyFrom } from '../run-policy.ts'
import { startOptions } from '../session-flags.ts'
import { worktreeOptions } from '../worktree-options.ts'
import type { workerStart } from './worker.ts'
import { usageError } from '../usage-error.ts'

type Flags = InputOf<typeof workerStart>['flags']

interface Started {
  readonly runtime: RuntimeName
  readonly command: readonly string[]
  readonly dir: string
  readonly learned: Learned
}

const usesWorktrees = (flags: Flags, { project }: Coordination): boolean =>
  flags['no-worktree'] !== true && project.gitCommonDir !== undefined

/** How the worker runs its tasks: sessions, worktrees and policy, from flags and settings. */
async function executionFor(
  context: Context,
  flags: Flags,
  db: Coordination,
  { dir, command, ...started }: Started,
): Promise<ExecutionOptions> {
  const { env, clock, cwd } = context
  const settings = await context.settings()
  checkCommand({ command: [...command], cwd }, env)
  const dist = join(dirname(createRequire(import.meta.url).resolve('heimdall-agents/package.json')), 'dist')
  const { id: _, ...session } = resolveOptions({
    ...(await startOptions(context, { ...NO_FLAGS, 'socket-dir': flags['socket-dir'] }, command)),
    id: 'task',
    killProcessGroup: true,
    sessionEnvVar: 'HEIMDALL_SESSION_ID',
    recordBytesMax: RUN_RECORDING_BYTES_MAX,
  })
  const { agent_stale_minutes: stale } = settings
  return {
    ...started,
    room: db,
    command,
    from: cwd,
    dir: join(dir, 'tasks'),
    launcher: join(dist, 'task.cjs'),
    worktree: usesWorktrees(flags, db) ? await worktreeOptions(context, undefined, flags.copy) : undefined,
    wish: {
      policy: await policyFrom(context, flags.policy, { command, cwd }),
      session,
      records: true,
      launcher: join(dist, 'session.cjs'),
      staleMinutes: stale.origin === 'default' ? undefined : (stale.value as number),
      env,
      clock,
      note: (line) => context.note(`warning: ${line}`),
    },
  }
}

/** The session of a task has no viewer yet. */
const NO_FLAGS = {
  workdir: '.',
  cols: undefined,
  rows: undefined,
  'pin-size': undefined,
  detach: true,
  wait: undefined,
  inline: undefined,
  'log-file': undefined,
  'log-level': undefined,
  'log-filter': undefined,
  'scrollback-bytes': undefined,
  classifier: undefined,
  'idle-threshold-ms': undefined,
  'debounce-ms': undefined,
}

/** What the worker announces: its flags first, then the configuration of the host. */
function profileFor(
  context: Context,
  flags: Flags,
  db: Coordination,
  about: Started & { readonly workerId: string; readonly instanceId: string },
): (url: () => string | undefined) => DeskOptions['profile'] {
  const { env, clock, cwd } = context
  const { runtime } = about
  const host = flags.servers ?? (runtime === 'command' ? 'none' : runtime)
  const where = { env, cwd, platform: process.platform }
  const sources = {
    ...about,
    told: {
      ...(flags.model === undefined ? {} : { model: flags.model }),
      ...(flags.tier === undefined ? {} : { tier: flags.tier }),
      ...(flags.tools === undefined ? {} : { tools: listOf(flags.tools) }),
    },
    configuredModel: () => (runtime === 'command' ? undefined : configuredModel(runtime, about.command, where)),
    contextWindow: flags.window,
    maxConcurrent: flags.slots,
    worktrees: usesWorktrees(flags, db),
    budgetEnforcement: runtime === 'command' ? ('none' as const) : ('measured' as const),
    // By name: as in the host, the last file wins.
    servers: () =>
      host === 'none'
        ? []
        : [
            ...new Map(
              hostServers(host, where).map(({ name, start, remote }) => [name, { name, start: start ?? remote }]),
            ).values(),
          ],
    probes: new McpProbes(env, clock),
    project: db.project,
    env,
    clock,
  }
  return (url) => (maxAgeMs, needed) => gatherProfile({ ...sources, url }, maxAgeMs, needed)
}

/** Resolves when the worker had no task for so long; never without a limit. */
async function idleFor(
  { clock }: Context,
  idleMs: number | undefined,
  { desk }: RunningWorker,
  signal: AbortSignal,
): Promise<void> {
  let sinceMs = clock.monoMs()
  for (;;) {
    await pause(clock, Math.min(idleMs ?? WORKER_IDLE_LOOK_MS, WORKER_IDLE_LOOK_MS), signal)
    if (signal.aborted) return
    if (desk.open().length > 0) sinceMs = clock.monoMs()
    else if (idleMs !== undefined && clock.monoMs() - sinceMs >= idleMs) return
  }
}

/** Flags of Claude Code that say what it may do. */
const PERMISSIONS = /^--(?:permission-|allowed-?tools|dangerously-skip-permissions|settings)/i

export async function start(context: Context, { flags, rest }: InputOf<typeof workerStart>): Promise<Answer> {
  const [program] = rest
  if (program === undefined)
    throw usageError('no command to run tasks with', 'put it after --: heimdall worker start -- claude')
  if (flags.slots < 1) throw usageError(`--slots is ${flags.slots}, at least 1 is needed`)
  const stem = basename(program)
  const runtime = flags.runtime ?? (stem === 'claude' || stem === 'codex' ? stem : 'command')
  const db = openCoordination(await changingOptions(context))
  const { told, over } = untilSignal()
  const note = noteOf(context)
  try {
    // Two machines of a fleet that run the same program are two workers.
    const machine = membershipIn(db.store)?.machine
    const name = `${stem.replace(/\.\w+$/, '')}${machine === undefined ? '' : `-${machine}`}`
    const workerId = parseId('worker', flags.name ?? name)
    const { dir, peers } = await peersFor(context, db.project)
    const orchestrators = peers('orchestrator').filter(({ origin }) => origin === 'settings')
    const instanceId = db.newId()
    const started = { runtime, command: rest, dir, learned: new Learned(dir, workerId) }
    const worker = await startWorker({
      room: db,
      dir,
      workerId,
      listen: listenAt(flags),
      version: VERSION,
      runtime,
      orchestrators: () => orchestrators,
      desk: {
        instanceId,
        maxConcurrent: flags.slots,
        newId: db.newId,
        execution: createExecution(await executionFor(context, flags, db, started)),
      },
      profile: profileFor(context, flags, db, { ...started, workerId, instanceId }),
      note,
    })
    context.note(`${workerId} takes tasks at ${worker.url}; Ctrl-C finishes open tasks and stops`)
    if (runtime === 'claude' && !rest.some((word) => PERMISSIONS.test(word)))
      context.note(
        'warning: a worker cannot answer permission prompts, so claude is denied every edit and command that its ' +
          'settings do not allow; add --permission-mode acceptEdits or --allowedTools after claude',
      )
    const stopping = new AbortController()
    await Promise.race([told, idleFor(context, flags.idle, worker, stopping.signal)])
    stopping.abort()
    over()
    const again = untilSignal()
    // A third signal has its default effect.
    void again.told.then(again.over)
    await drained(worker, workerId, again.told, note)
    again.over()
    await worker.stop()
    return { data: { worker: workerId, url: worker.url, instance_id: instanceId }, text: '' }
  } finally {
    over()
    db.store.close()
  }
}
