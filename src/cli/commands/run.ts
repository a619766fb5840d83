// heimdall run: start a run, then attach to its terminal, return, or wait for its end.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { pause } from '../../clock.ts'
import { GIT_AT_START_MS, RUN_CLOSED_MS, RUN_RECORDING_BYTES_MAX } from '../../limits.ts'
import { findProject } from '../../paths.ts'
import { checkCommand } from '../../sessions/command.ts'
import type { RunWish, StartedRun } from '../../spine/run-wish.ts'
import { lookAtWorktree } from '../../spine/worktree-state.ts'
import { resolveOptions } from '../../wire/session-options.ts'
import { type Answer, command, type Command, type Context } from '../command.ts'
import { checkStart, startFlags, startOptions } from '../session-flags.ts'
import { policyFrom } from '../run-policy.ts'
import { usageError } from '../usage-error.ts'
import { worktreeOptions } from '../worktree-options.ts'

export const commands: readonly Command[] = [
  command({
    names: ['heimdall run'],
    changes: true,
    summary: 'Run an agent in a supervised terminal',
    about:
      'Registers or adopts the agent, opens its run, starts the command in a supervised terminal and attaches to it. ' +
      'When the command ends, its claims are released and its run is closed. The run outlives this terminal: Ctrl-\\ ' +
      'detaches, heimdall attach returns. Without a terminal on stdin and stdout, output is passed through and the ' +
      'exit code is that of the command. The first word that is not a flag starts the command; everything after it ' +
      'belongs to the command.',
    rest: 'COMMAND…',
    restFromFirst: true,
    flags: {
      agent: { value: 'NAME', help: 'name of the agent; generated if absent' },
      role: { value: 'ROLE', help: 'role in the run, set as HEIMDALL_ROLE; default: that of the agent, or agent' },
      id: {
        value: 'ID',
        help: 'id of the session; default: the agent’s name, with four digits if taken',
      },
      policy: { value: 'FILE', help: 'policy bundle for every shim of the run' },
      task: { value: 'TASK', help: 'task of the run; the agent has it in progress from the start' },
      worktree: {
        help: 'use a git worktree and branch of the agent’s own, its earlier one if it has one',
      },
      base: { value: 'REV', help: 'with --worktree: where the branch starts; default HEAD' },
      copy: {
        value: 'PATH',
        multiple: true,
        help: 'with --worktree: copy a file or folder that git does not track, such as .env',
      },
      'no-record': { help: 'do not record the terminal' },
      ...startFlags,
    },
    examples: {
      'heimdall run claude': 'runs Claude Code under a generated name',
      'heimdall run --agent amber-otter --policy policy.yaml claude':
        'runs it as amber-otter; the policy governs its MCP calls that go through the shim',
      'heimdall run --agent amber-otter --worktree --copy .env claude':
        'runs it in its own worktree; heimdall merge amber-otter merges its work',
      'heimdall run --agent nightly --detach --wait ./nightly.sh': 'waits for the end and exits with its code',
    },
    output:
      'run_id, agent_id, haid, project (root; with --worktree that of the worktree), branch (of the worktree, or null), id (of the session), socket, pid, supervisor_pid, record (path), exit_code (null while it runs)',
    run: async (context, { flags, rest }) => {
      checkStart(flags, rest, 'heimdall run claude')
      const { id: _, ...session } = resolveOptions({
        ...(await startOptions(context, flags, rest)),
        id: flags.id ?? 'run',
        // Everything that the command has started ends with it, whatever plain sessions do.
        killProcessGroup: true,
        sessionEnvVar: 'HEIMDALL_SESSION_ID',
        recordBytesMax: RUN_RECORDING_BYTES_MAX,
      })
      const { env, clock, note } = context
      checkCommand(session, env)
      // git runs while the modules that start a run are loaded.
      const before = lookAtWorktree(findProject(session.cwd, env), env, GIT_AT_START_MS)
      const { startRun } = await import('../../spine/start-run.ts')
      const { agent_stale_minutes: stale } = await context.settings()
      const dist = distFolder()
      const wish: RunWish = {
        agent: flags.agent,
        role: flags.role,
        task: flags.task,
        policy: await policyFrom(context, flags.policy, session),
        sessionId: flags.id,
        session: { ...session, echo: flags.detach === true || isatty(0) },
        records: flags['no-record'] !== true,
        worktree: await worktreeFrom(context, flags),
        launcher: join(dist, 'session.cjs'),
        staleMinutes: stale.origin === 'default' ? undefined : (stale.value as number),
        before,
        env,
        clock,
        note: (line) => note(`warning: ${line}`),
      }
      if (flags.detach === true)
        return await detached(context, await startRun(wish), session.socketDir, flags.wait === true)
      // Loaded here: a detached run shows nothing.
      const { colored, isDrawn, showStarted } = await import('../attach.ts')
      const started = isDrawn(context, flags)
        ? await colored(context, (colors) => startRun({ ...wish, session: { ...session, colors } }))
        : await startRun(wish)
      const left = await showStarted(context, started.session, session.socketDir, flags)
      if (left.exit === undefined && (left.data as { readonly reason?: unknown }).reason !== 'exited')
        return { ...left, data: dataOf(started, null) }
      await closed(context, started.sheet)
      return answer(started, left.exit ?? 0)
    },
  }),
]

async function detached(context: Context, started: StartedRun, dir: string, waits: boolean): Promise<Answer> {
  if (!waits) return answer(started, null)
  if (context.stderr.isTTY)
    context.note(`Waiting for ${started.agentId} to exit; Ctrl-C stops waiting and leaves it running`)
  const { waitForExit } = await import('../attach.ts')
  const code = await waitForExit(dir, started.session)
  await closed(context, started.sheet)
  return answer(started, code)
}

function distFolder(): string {
  const { createRequire } = process.getBuiltinModule('node:module')
  return join(dirname(createRequire(import.meta.url).resolve('heimdall-agents/package.json')), 'dist')
}

interface WorktreeFlags {
  readonly worktree: boolean | undefined
  readonly base: string | undefined
  readonly copy: readonly string[]
}

async function worktreeFrom(context: Context, { worktree, base, copy }: WorktreeFlags): Promise<RunWish['worktree']> {
  if (worktree !== true) {
    if (base === undefined && copy.length === 0) return undefined
    throw usageError(`${base === undefined ? '--copy' : '--base'} needs --worktree`)
  }
  return await worktreeOptions(context, base, copy)
}

/** The watcher closes the run; a caller that sees this command end finds it closed. */
async function closed({ clock, note }: Context, sheet: string): Promise<void> {
  const deadlineMs = clock.monoMs() + RUN_CLOSED_MS
  while (existsSync(sheet)) {
    if (clock.monoMs() >= deadlineMs)
      return note('warning: the run is not closed yet; heimdall doctor shows what stands in the way')
    await pause(clock, 5)
  }
}

function dataOf({ runId, agentId, haid, project, worktree, session, record }: StartedRun, code: number | null) {
  const branch = worktree?.branch ?? null
  return { run_id: runId, agent_id: agentId, haid, project, branch, ...session, record, exit_code: code }
}

function answer(started: StartedRun, code: number | null): Answer {
  const { agentId, runId, session } = started
  return {
    data: dataOf(started, code),
    text: code === null ? `${agentId} runs as pid ${session.pid}, run ${runId}` : '',
    ...(code === null ? {} : { exit: code }),
  }
}
