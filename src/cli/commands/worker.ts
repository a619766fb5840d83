// heimdall worker: start and drain workers that run tasks, and the orchestrator that sends tasks to them.
import { pause } from '../../clock.ts'
import { type Coordination, openCoordination } from '../../coordination/coordination.ts'
import { membershipIn } from '../../coordination/membership.ts'
import type { Listen } from '../../dispatch/a2a/http-server.ts'
import type { RunningOrchestrator } from '../../dispatch/a2a/start-orchestrator.ts'
import { orchestratedBy } from '../../dispatch/peers.ts'
import { HeimdallError } from '../../errors.ts'
import { escapeText } from '../../ids.ts'
import { ORCHESTRATOR_LOOK_MS } from '../../limits.ts'
import { type Answer, type Command, command, type CommandSpec, type Context, spec } from '../command.ts'
import { changingOptions, withStore } from '../coordination-store.ts'
import { planningOf } from '../planning-of.ts'
import { socketDir } from '../session-flags.ts'
import { untilSignal } from '../until-signal.ts'
import { VERSION } from '../version.ts'
import { named, noteOf, peersFor } from './peers.ts'

/** Undefined while another process orchestrates. */
export async function orchestrate(
  context: Context,
  db: Coordination,
  listen: Listen | undefined,
  as = 'heimdall worker serve',
): Promise<RunningOrchestrator | undefined> {
  const { startOrchestrator } = await import('../../dispatch/a2a/start-orchestrator.ts')
  const { dir, peers } = await peersFor(context, db.project)
  return await startOrchestrator({
    room: db,
    dir,
    as,
    workers: () => peers('worker'),
    listen,
    version: VERSION,
    planning: planningOf(context),
    note: noteOf(context),
  })
}

const listenFlags = {
  host: { value: 'ADDRESS', default: '127.0.0.1', help: 'address to listen on' },
  port: { type: 'integer', value: 'N', default: 0, help: 'port to listen on; 0 takes a free one' },
  open: { help: 'accept other users and other machines; put TLS in front of it' },
} as const satisfies CommandSpec['flags']

export const workerStart = spec({
  names: ['heimdall worker start'],
  changes: true,
  summary: 'Start a worker that runs each task as heimdall run does',
  about:
    'The command runs a task: claude, codex or any program. The streams of Claude Code and Codex are parsed; any other ' +
    'program reads its brief from HEIMDALL_BRIEF_FILE and writes its result to HEIMDALL_RESULT_FILE. The worker announces ' +
    'the MCP servers of its host after starting and pinging them. Ctrl-C stops taking tasks and finishes open ones; a ' +
    'second Ctrl-C ends them.',
  rest: 'COMMAND…',
  flags: {
    name: { value: 'NAME', help: 'name of the worker; default: name of the program' },
    slots: { type: 'integer', value: 'N', default: 1, help: 'tasks at a time' },
    runtime: {
      choices: ['claude', 'codex', 'command'],
      help: 'protocol of the command; default: by its name',
    },
    model: { value: 'MODEL', help: 'model of the command; default: as its host is configured' },
    tier: { choices: ['haiku', 'sonnet', 'opus'], help: 'model tier; default: by the model' },
    window: { type: 'integer', value: 'TOKENS', default: 0, help: 'context window; 0 if unknown' },
    tools: { value: 'NAMES', help: 'capabilities; default: those of the runtime' },
    servers: {
      choices: ['claude', 'codex', 'cursor', 'gemini', 'vscode', 'none'],
      help: 'host whose MCP servers the worker has; default: by the runtime',
    },
    'no-worktree': { help: 'run tasks that write in this checkout, and only while it is clean' },
    copy: { value: 'PATH', multiple: true, help: 'file that git does not have, copied into the worktree of each task' },
    policy: { value: 'FILE', help: 'policy for every run' },
    idle: { type: 'duration', value: 'TIME', help: 'stop after this time without a task' },
    'socket-dir': socketDir,
    ...listenFlags,
  },
  examples: {
    'heimdall worker start -- claude --permission-mode acceptEdits':
      'runs tasks with Claude Code, one at a time; it may edit files without asking',
    'heimdall worker start --name checks --slots 4 -- ./run-checks.sh': 'runs a program for each task, four at a time',
  },
  output: 'worker, url (where it takes tasks), instance_id (of this process)',
})

async function serve(context: Context, listen: Listen): Promise<Answer> {
  const db = openCoordination(await changingOptions(context))
  const { told, over } = untilSignal()
  try {
    let running = await orchestrate(context, db, listen)
    if (running === undefined && membershipIn(db.store) === undefined)
      throw new HeimdallError(
        'WORKER_RUNNING',
        `${orchestratedBy(db, (await peersFor(context, db.project)).dir) ?? 'another process'} sends the tasks of this repository already`,
      )
    if (running === undefined)
      context.note('another machine orchestrates; waiting to take over if it goes silent; Ctrl-C stops')
    const stop = new AbortController()
    const isOver = (): boolean => stop.signal.aborted
    void told.then(() => stop.abort())
    while (running === undefined && !isOver()) {
      await pause(context.clock, ORCHESTRATOR_LOOK_MS, stop.signal)
      if (!isOver()) running = await orchestrate(context, db, listen)
    }
    if (running === undefined) return { data: { url: null }, text: '' }
    context.note(
      `sends tasks of ${db.project.root}; workers announce themselves to ${running.url ?? ''}; Ctrl-C stops, and tasks continue at their workers`,
    )
    await Promise.race([told, running.done])
    await running.stop()
    return { data: { url: running.url ?? null }, text: '' }
  } finally {
    over()
    db.store.close()
  }
}

async function announced(context: Context, db: Coordination, name: string | undefined): Promise<Answer> {
  const [{ peersOf }, { takeAnnounce }] = await Promise.all([
    import('../../dispatch/a2a/start-orchestrator.ts'),
    import('../../dispatch/workers.ts'),
  ])
  const { peers } = await peersFor(context, db.project)
  const all = [...peersOf({ room: db, workers: () => peers('worker'), note: noteOf(context) })()]
  const data = await Promise.all(
    named(
      all.map(([name, at]) => ({ name, ...at })),
      name,
      'worker',
    ).map(async ({ name, peer, url }) => {
      const pulled = await peer.pull(new AbortController().signal)
      if (pulled === undefined) return { worker: name, speaks: null, announce: null, why: 'does not answer' }
      await takeAnnounce(db, { name, url, speaks: pulled.speaks }, pulled.announce)
      return { worker: name, speaks: pulled.speaks, announce: pulled.announce, why: null }
    }),
  )
  const lines = data.map(({ worker, announce, why }) => {
    if (announce === null) return `${worker}: ${why}`
    const health = Object.entries(announce.mcp_health).map(([name, state]) => `${name} ${state}`)
    const tasks = `${announce.session.active_tasks} of ${announce.max_concurrent} tasks`
    return `${worker}: ${[announce.state, tasks, ...health].join(', ')}`
  })
  return { data, text: lines.length === 0 ? 'no worker is known' : escapeText(lines.join('\n')) }
}

export const commands: readonly Command[] = [
  command({ ...workerStart, run: async (context, input) => (await import('./worker-start.ts')).start(context, input) }),
  command({
    names: ['heimdall worker announce'],
    changes: true,
    summary: 'Ask workers for their state and capabilities',
    args: [{ name: 'worker', help: 'name of a worker; default: all', optional: true }],
    examples: { 'heimdall worker announce': 'asks each worker of this machine, and records its answer' },
    output: 'array of worker, speaks, announce (SESSION_ANNOUNCE, or null), why (there is no announce)',
    run: (context, { args }) => withStore(context, (db) => announced(context, db, args.worker)),
  }),
  command({
    names: ['heimdall worker drain'],
    changes: true,
    summary: 'Let a worker finish its tasks and take no more',
    args: [{ name: 'worker', help: 'name of the worker' }],
    examples: { 'heimdall worker drain claude': 'claude finishes the tasks it has' },
    output: 'worker, state (draining)',
    run: (context, { args }) =>
      withStore(context, async (db) => {
        const { drainWorker } = await import('../../dispatch/worker/drain-setting.ts')
        const { peers } = await peersFor(context, db.project)
        named(
          peers('worker').filter(({ origin }) => origin !== 'settings'),
          args.worker,
          'worker',
        )
        await drainWorker(db, args.worker)
        return { data: { worker: args.worker, state: 'draining' }, text: `${args.worker} takes no more tasks` }
      }),
  }),
  command({
    names: ['heimdall worker serve'],
    changes: true,
    summary: 'Send queued tasks to workers until stopped',
    about: 'Only needed without the hub (heimdall up), or for workers on other machines that announce themselves.',
    flags: listenFlags,
    examples: { 'heimdall worker serve': 'sends tasks until Ctrl-C; running tasks continue at their workers' },
    output: 'url (where workers announce themselves)',
    hidden: true,
    run: async (context, { flags }) => {
      const { listenAt } = await import('../../dispatch/a2a/http-server.ts')
      return await serve(context, listenAt(flags))
    },
  }),
]
