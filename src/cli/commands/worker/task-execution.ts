// How a worker runs its tasks: sessions, worktrees and policy, from the flags and the settings that it was started with.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Coordination } from '../../../coordination/coordination.ts'
import type { RuntimeName } from '../../../dispatch/runner/order.ts'
import type { createExecution } from '../../../dispatch/worker/execution.ts'
import type { Learned } from '../../../dispatch/worker/learned.ts'
import { RUN_RECORDING_BYTES_MAX } from '../../../limits.ts'
import { checkCommand } from '../../../sessions/command.ts'
import { worktreesDir } from '../../../spine/worktrees/new-place.ts'
import { resolveOptions } from '../../../wire/session-options.ts'
import type { Context, InputOf } from '../../command.ts'
import type { workerStart } from '../../table/dispatch.ts'
import { policyFrom } from '../policy/run-policy.ts'
import { startOptions } from '../session/start-options.ts'

type Flags = InputOf<typeof workerStart>['flags']

export async function executionOf(
  context: Context,
  flags: Flags,
  room: Coordination,
  {
    runtime,
    command,
    dir,
    learned,
  }: { runtime: RuntimeName; command: readonly string[]; dir: string; learned: Learned },
): Promise<Parameters<typeof createExecution>[0]> {
  const { env, clock, note } = context
  const settings = await context.settings()
  checkCommand({ command: [...command], cwd: context.cwd }, env)
  const dist = join(dirname(createRequire(import.meta.url).resolve('heimdall-agents/package.json')), 'dist')
  const { id: _, ...session } = resolveOptions({
    ...(await startOptions(context, { ...NO_FLAGS, 'socket-dir': flags['socket-dir'] }, command)),
    id: 'task',
    killProcessGroup: true,
    sessionEnvVar: 'HEIMDALL_SESSION_ID',
    recordBytesMax: RUN_RECORDING_BYTES_MAX,
  })
  const { agent_stale_minutes: stale, worktree_dir: place, worktree_copy: copy } = settings
  return {
    room,
    runtime,
    command,
    from: context.cwd,
    learned,
    dir: join(dir, 'tasks'),
    launcher: join(dist, 'task.cjs'),
    worktree:
      flags['no-worktree'] === true || room.project.gitCommonDir === undefined
        ? undefined
        : {
            base: undefined,
            dir: worktreesDir(env, place.value as string | null, context.cwd),
            copy: (copy.value as readonly string[]).map((path) => ({ path, isRequired: false })),
          },
    wish: {
      policy: await policyFrom(context, flags.policy, { command, cwd: context.cwd }),
      session,
      records: true,
      launcher: join(dist, 'session.cjs'),
      keeper: join(dist, 'keeper.cjs'),
      staleMinutes: stale.origin === 'default' ? undefined : (stale.value as number),
      env,
      clock,
      note: (line) => note(`warning: ${line}`),
    },
  }
}

/** A session of a task has no terminal that anybody looks at yet. */
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
