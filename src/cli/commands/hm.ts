// Sessions, the rest of `hm`: run, detach, rename, report, pipe and wait. What reads a session is in `hm-read.ts`.
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { HeimdallError } from '../../errors.ts'
import { parseId } from '../../ids.ts'
import type { Located } from '../../sessions/locate.ts'
import { listSessions } from '../../sessions/session-files.ts'
import type { StartedSession } from '../../wire/handover.ts'
import { resolveOptions, type SessionOptions } from '../../wire/session-options.ts'
import { type Command, command, type Context } from '../command.ts'
import { outputPath } from '../output-file.ts'
import { sessionEnvironment } from '../session-environment.ts'
import {
  checkStart,
  connected,
  givenOrAround,
  locateSession,
  sessionAround,
  sessionId as id,
  socketDir,
  socketDirOf,
  startFlags,
  startOptions,
  whoEnds,
} from '../session-flags.ts'
import { commands as reading } from './hm-read.ts'
import { usageError } from '../usage-error.ts'

const ownId = { name: 'id', help: 'id of the session; default: the session that this runs in', optional: true } as const

const run = command({
  names: ['hm run'],
  changes: true,
  summary: 'Run a command in a supervised terminal and attach to it',
  about:
    'The session outlives its viewers: detach with Ctrl-\\ and come back with attach. Without a terminal on stdin and ' +
    'stdout, output is passed through and the exit code is the command’s.',
  rest: 'COMMAND…',
  flags: {
    id: {
      value: 'ID',
      help: 'id of the session; default: the name of the command, numbered if taken',
    },
    ...startFlags,
    'kill-process-group': { help: 'send signals to the whole process group' },
    'session-env-var': { value: 'NAME', help: 'variable with the session id, for the command' },
    record: { value: 'FILE', help: 'record the session as asciicast v2 from its first byte' },
  },
  examples: {
    'hm run --id build -- make -j8': 'runs make in a session and attaches to it',
    'hm run --id agent --classifier claude --detach -- claude': 'starts an agent and returns',
    'hm run --detach --wait -- ./nightly.sh': 'waits for the end and exits with the same code',
  },
  output: 'id, socket, pid (of the command), supervisor_pid, exit_code (null while it runs)',
  run: async (context, { flags, rest }) => {
    checkStart(flags, rest, 'hm run --id build -- make')
    const { redactedWords } = await import('../../runs/redacted.ts')
    const start = await startOptions(context, flags, rest)
    const options = resolveOptions({
      ...start,
      shownCommand: redactedWords(rest),
      echo: flags.detach === true || isatty(0),
      id: flags.id ?? freeId(start.socketDir, rest[0] ?? ''),
      recordPath: flags.record === undefined ? null : outputPath(context.resolve(flags.record)),
    })
    const isNamed = flags.id !== undefined
    if (flags.detach !== true) {
      // Loaded here: a detached session needs no terminal emulator.
      const { colored, isDrawn, showStarted } = await import('../attach.ts')
      const started = isDrawn(context, flags)
        ? await colored(context, (colors) => startNamed(context, { ...options, colors }, isNamed))
        : await startNamed(context, options, isNamed)
      return await showStarted(context, started, options.socketDir, flags)
    }
    const started = await startNamed(context, options, isNamed)
    if (flags.wait !== true)
      return {
        data: { ...started, exit_code: null },
        text: `Session ${started.id} runs as process ${started.pid}`,
      }
    const exitCode = await (await import('../attach.ts')).waitForExit(options.socketDir, started)
    return { data: { ...started, exit_code: exitCode }, text: '', exit: exitCode }
  },
})

/** A default id may have been taken since it was chosen: then the next one. An id that was asked for is an error. */
async function startNamed(context: Context, options: SessionOptions, isNamed: boolean): Promise<StartedSession> {
  const { startSession } = await import('../../sessions/start.ts')
  const refused = new Set<string>()
  for (let { id: next } = options; ; next = freeId(options.socketDir, options.command[0] ?? '', refused))
    try {
      const root = dirname(createRequire(import.meta.url).resolve('heimdall-agents/package.json'))
      const env = await sessionEnvironment(context.env)
      return await startSession({ ...options, id: next }, { launcher: join(root, 'dist/session.cjs'), env })
    } catch (error) {
      if (isNamed || !(error instanceof HeimdallError) || error.code !== 'SESSION_ID_IN_USE') throw error
      refused.add(next)
    }
}

/** `make`, or `make-2` when `make` is taken. */
function freeId(dir: string, program: string, refused: ReadonlySet<string> = new Set()): string {
  const name = basename(program)
    .replaceAll(/[^A-Za-z0-9._-]/g, '')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 48)
  const stem = name === '' ? 'session' : name
  const running = listSessions(dir).filter(({ state }) => state !== 'ended')
  const taken = new Set([...refused, ...running.map((entry) => entry.id)])
  let free = stem
  for (let n = 2; taken.has(free); n += 1) free = `${stem}-${n}`
  return free
}

const detach = command({
  names: ['hm detach'],
  changes: true,
  summary: 'Disconnect the viewers of a session',
  about: 'Ends every attach to the session, from any terminal. The session keeps running.',
  args: [ownId],
  flags: { 'socket-dir': socketDir },
  examples: { 'hm detach build': 'disconnects all viewers; hm attach -d also attaches' },
  output: 'id, detached (how many viewers there were)',
  run: async (context, { flags, args }) => {
    const { connection, located } = await connected(context, flags, await givenOrAround(context, flags, args.id))
    try {
      const { requireViewers } = await import('../../sessions/ask-info.ts')
      const viewers = await requireViewers(connection, located.id)
      await connection.detachOthers()
      // Frames are handled in order, so this answer confirms it.
      await connection.status()
      const data = { id: located.id, detached: viewers }
      return { data, text: `Detached ${viewers} viewer(s) from session ${located.id}` }
    } finally {
      connection.close()
    }
  },
})

const rename = command({
  names: ['hm rename'],
  changes: true,
  summary: 'Give a running session another id',
  about:
    'Renames socket, pid file, log and exit record; viewers stay attached. The command keeps its environment, so ' +
    'HEIMDALL_SESSION_ID in it stays the old id; hm report finds its session all the same.',
  args: [
    { name: 'old', help: 'id of the session' },
    { name: 'new', help: 'its new id' },
  ],
  flags: { 'socket-dir': socketDir },
  examples: { 'hm rename claude-2 reviewer': 'renames it to reviewer' },
  output: 'id (the new one), before (the old one)',
  run: async (context, { flags, args }) => {
    const to = parseId('session', args.new)
    const { connection, located } = await connected(context, flags, args.old)
    try {
      const { requireViewers } = await import('../../sessions/ask-info.ts')
      const { settle } = await import('../../sessions/settle.ts')
      await requireViewers(connection, located.id)
      // The session takes only a free id: what a lost one left under it is ended here.
      await settle(located.dir, to, { by: await whoEnds(context), clock: context.clock })
      await connection.callAs(context.calledAs)
      const renamed = await connection.rename(to)
      return { data: { id: renamed.id, before: located.id }, text: `Session ${located.id} is now ${renamed.id}` }
    } catch (error) {
      const refusal = error instanceof HeimdallError ? error.details?.['refusal'] : undefined
      if (refusal !== 'SESSION_ID_IN_USE') throw error
      throw new HeimdallError('SESSION_ID_IN_USE', `session ${to} is in use`, {
        hint: 'choose another id',
        cause: error,
      })
    } finally {
      connection.close()
    }
  },
})

const report = command({
  names: ['hm report'],
  changes: true,
  summary: 'Report from a hook that the session waits for a human, or no longer does',
  about: 'Outside of any session it does nothing and succeeds, so that the same hook can stay configured everywhere.',
  args: [ownId],
  flags: {
    'socket-dir': socketDir,
    'needs-input': { value: 'WHY', help: 'it waits for a human; the reason' },
    working: { help: 'it no longer waits' },
  },
  examples: {
    'hm report --needs-input "permission to run a command"': 'as the command of a notification hook',
    'hm report --working': 'as the command of a hook that runs when a prompt was submitted',
  },
  output: 'id (null outside of any session), needs_input (as reported)',
  run: async (context, { flags, args }) => {
    const evidence = flags['needs-input']
    const needsInput = evidence !== undefined
    if (needsInput === (flags.working === true)) throw usageError('give one of --needs-input WHY and --working')
    const name = args.id ?? (await sessionAround(context, await socketDirOf(context, flags)))
    if (name === undefined) return { data: { id: null, needs_input: needsInput }, text: '' }
    const located = await locateSession(context, flags, name)
    await refuseForOthers(located, args.id !== undefined)
    const { connectTo } = await import('../../sessions/locate.ts')
    const connection = await connectTo(located)
    try {
      await connection.report({ source: 'hook', needs_input: needsInput, ...(needsInput ? { evidence } : {}) })
      // Frames are handled in order, so this answer confirms it.
      await connection.status()
      return { data: { id: name, needs_input: needsInput }, text: '' }
    } finally {
      connection.close()
    }
  },
})

/** Only a human, or the agent inside the session, may report for it. */
async function refuseForOthers({ id: session, holder }: Located, isNamed: boolean): Promise<void> {
  const { agentAbove } = await import('../../person.ts')
  const agent = agentAbove()
  if (agent === undefined || (agent.supervisorPid === undefined && !isNamed)) return
  if (agent.supervisorPid !== undefined && agent.supervisorPid === holder?.supervisorPid) return
  throw new HeimdallError(
    'IDENTITY_BORROWED',
    `only a human or session ${session} itself reports what it waits for: ${agent.reason}`,
    { hint: 'leave the id out to report for the session that you are in' },
  )
}

const pipe = command({
  names: ['hm pipe'],
  changes: true,
  summary: 'Join standard input and output to a session, for `hm --host` on another machine',
  about:
    'Prints one line of JSON with the state, then passes the bytes of the session protocol both ways. Without an id, ' +
    'or for a session that has ended, only that line.',
  args: [{ name: 'id', help: 'id of the session; default: a list of them', optional: true }],
  flags: { 'socket-dir': socketDir, all: { help: 'without an id: ended sessions too' } },
  examples: { 'ssh box hm pipe api': 'is what hm --host box attach api calls' },
  output: 'state (running, ended, list or refused), in the first line',
  hidden: true,
  run: async (context, { flags, args }) => {
    const [{ pipeSession }, { TextOut }] = await Promise.all([
      import('../../sessions/remote/pipe.ts'),
      import('../text-out.ts'),
    ])
    const { stdin, stdout, clock, calledAs } = context
    const ends = { stdin, stdout, out: new TextOut(stdout), clock, calledAs }
    await pipeSession(() => socketDirOf(context, flags), { id: args.id, isAll: flags.all === true }, ends)
    return { data: null, text: '', streamed: true }
  },
})

const wait = command({
  names: ['hm wait'],
  summary: 'Wait until a session is idle, needs input or has ended',
  args: [id],
  flags: {
    'socket-dir': socketDir,
    for: { choices: ['idle', 'needs-input', 'exit'], default: 'exit', help: 'what to wait for' },
    timeout: { type: 'duration', value: 'TIME', help: 'give up after this, with exit code 6' },
  },
  examples: {
    'hm wait agent --for needs-input --timeout 10m': 'returns when the agent waits for input',
    'hm wait build --for exit --json': 'prints the exit code, also of an ended session',
  },
  output: 'id, for, state (at the end), needs_input (value, source, evidence), exit_code (null while it runs)',
  run: async (context, { flags, args }) => {
    const { waitFor } = await import('../../sessions/wait.ts')
    const again = (): Promise<Located> => locateSession(context, flags, args.id)
    const located = await again()
    const condition = flags.for
    if (context.stderr.isTTY && (located.isRunning || located.orphans.length > 0))
      context.note(`waiting for session ${located.id}: ${condition}; Ctrl-C stops waiting and leaves it running`)
    const { clock } = context
    const { state, exitCode } = await waitFor(located, condition, { clock, timeoutMs: flags.timeout, again })
    const data = {
      id: located.id,
      for: condition,
      state: condition === 'exit' ? 'dead' : (state?.state ?? null),
      needs_input: state?.needs_input ?? null,
      exit_code: exitCode,
    }
    const evidence = state?.needs_input.evidence
    const what =
      condition === 'exit' ? `ended with exit code ${exitCode}` : condition === 'idle' ? 'is idle' : 'needs input'
    const why = condition === 'needs-input' && typeof evidence === 'string' ? `: ${evidence}` : ''
    return { data, text: `Session ${located.id} ${what}${why}` }
  },
})

export const commands: readonly Command[] = [run, detach, rename, report, pipe, wait, ...reading]
