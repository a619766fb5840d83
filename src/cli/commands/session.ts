// Sessions, daily: `ls`, `attach`, `send`, `logs`, `kill` and `clean`, as `heimdall …` and as `hm …`. The rest is in `hm.ts`.
import { duration } from '../../duration.ts'
import { HeimdallError } from '../../errors.ts'
import { parseId } from '../../ids.ts'
import { KILLED_AT_ONCE, KILLED_ELSEWHERE_AT_ONCE } from '../../limits.ts'
import { type Answer, type Command, command, type Context } from '../command.ts'
import { exitOf } from '../manners.ts'
import {
  host,
  locateSession,
  sessionAround,
  sessionId as id,
  socketDir,
  socketDirOf,
  whoEnds,
} from '../session-flags.ts'
import { usageError } from '../usage-error.ts'

const STREAMED: Answer = { data: null, text: '', streamed: true }

const sayFailed = (context: Context, failed: readonly HeimdallError[]): { readonly exit?: number } => {
  for (const { message, hint } of context.json ? [] : failed)
    context.note(`error: ${message}${hint === undefined ? '' : `\nhint: ${hint}`}`)
  return failed[0] === undefined ? {} : { exit: exitOf(failed[0], context.calledAs, context.isSeedName) }
}

const ls = command({
  names: ['heimdall ls', 'hm ls'],
  summary: 'List running agents',
  about:
    'Agents in supervised sessions, and hosts started by hand that have hooks. hm ls lists the sessions of all ' +
    'folders. With --host, both list the sessions of that machine.',
  flags: { 'socket-dir': socketDir, host, all: { short: 'a', help: 'ended ones too' } },
  examples: {
    'heimdall ls': 'lists the agents of this repository',
    'hm ls --all --json': 'lists all sessions, ended ones with their exit codes',
  },
  output:
    'agents: agent_id, state, since, host (its program), task, branch, session_id, run_id, started_at, exit_code; ' +
    'as hm ls, sessions: id, alive, state, state_ms, needs_input, pid, started_at, command, exit_code, project',
  run: async (context, { flags }) => {
    const { listOfAgents, listOfSessions } = await import('../session-list.ts')
    if (!context.isSeedName && flags.host === undefined) return await listOfAgents(context, flags)
    return await listOfSessions(context, flags)
  },
})

const attach = command({
  names: ['heimdall attach', 'hm attach'],
  summary: 'Watch a session and type into it',
  about:
    'Draws the screen of the session above a status line, in the alternate screen. The detach key (Ctrl-\\, setting ' +
    '`detach_key`) leaves the session running. Shift-PageUp and the wheel scroll back, / searches there, dragging selects, ' +
    'Enter copies, Escape returns. Exits with the exit code of the command when that ends, with 0 on detach. ' +
    'Into a pipe it writes the output unchanged; with --json, only how it ended.',
  args: [{ ...id, help: `${id.help}; default: the only one that runs, or a choice`, optional: true }],
  flags: {
    'socket-dir': socketDir,
    host,
    'detach-others': { short: 'd', help: 'disconnect the other viewers' },
    'read-only': { help: 'only watch: types nothing, resizes nothing' },
    inline: {
      help: 'pass output through to this terminal, which keeps its own scrollback; no status line',
    },
    safe: { help: 'drop titles, notifications and clipboard writes of the program' },
  },
  examples: {
    'heimdall attach amber-otter': 'attaches; Ctrl-\\ detaches',
    'hm attach': 'attaches to the only session, or lets you choose',
    'hm attach build --read-only': 'watches without being able to disturb',
    'hm --host box attach api': 'attaches to a session on another machine, over ssh',
  },
  output: 'id, reason (detached, disconnected, exited, end of input or a signal), exit_code (null unless exited)',
  run: async (context, { flags, args }) => {
    const { ended, endpointOf, refuseToAnswer } = await import('../../sessions/locate.ts')
    const isHere = flags.host === undefined
    const around = isHere ? await sessionAround(context, await socketDirOf(context, flags)) : undefined
    const wanted = args.id ?? (await (await import('../session-list.ts')).chooseSession(context, flags, around))
    const located = await locateSession(context, flags, wanted)
    if (!located.isRunning) throw ended(located)
    if (located.id === around)
      throw usageError(`this terminal is session ${located.id} itself`, 'attach from another terminal')
    const isReadOnly = flags['read-only'] === true
    if (!isReadOnly) {
      const { openConnection } = await import('../../client/connection.ts')
      const connection = await openConnection(endpointOf(located))
      await refuseToAnswer(connection, located.id)
      connection.close()
    }
    const { attachTo } = await import('../attach.ts')
    return await attachTo(context, {
      id: located.id,
      dir: located.dir,
      socketPath: located.paths.socket,
      ...(located.remote === undefined ? {} : { remote: located.remote }),
      isInline: flags.inline === true,
      isReadOnly,
      isSafe: flags.safe === true,
      isAlone: flags['detach-others'] === true,
      staysToEnd: false,
      from: 'scrollback',
    })
  },
})

const send = command({
  names: ['heimdall send', 'hm send'],
  changes: true,
  summary: 'Type text into a session',
  about:
    'Pastes the text (bracketed if the program asked for it), then presses the keys one by one, each after the program ' +
    'has had time to take the previous input. Fails when the terminal did not take the whole text.',
  args: [id, { name: 'text', help: 'the text; - reads it from stdin', optional: true }],
  flags: {
    'socket-dir': socketDir,
    host,
    enter: { help: 'press Enter after the text' },
    key: {
      value: 'NAME',
      multiple: true,
      help: 'press this key after the text: enter, escape, tab, up, down, ctrl-c …; repeatable',
    },
    'wait-for': {
      choices: ['idle', 'needs-input'],
      help: 'return when the session is in this state',
    },
    timeout: { type: 'duration', value: 'TIME', help: 'give up after this' },
  },
  examples: {
    'heimdall send amber-otter "run the tests" --enter': 'types a prompt and submits it',
    'hm send agent - --enter --wait-for idle < prompt.md': 'sends a file and waits for the answer',
    'hm send agent --key escape': 'presses a key',
  },
  output:
    'id, written_bytes, bracketed (a bracketed paste), reacted (output followed), state and needs_input (with --wait-for)',
  run: async (context, { flags, args }) => {
    const { ended, endpointOf, refuseToAnswer } = await import('../../sessions/locate.ts')
    const located = await locateSession(context, flags, args.id)
    if (!located.isRunning) throw ended(located)
    const { readAll } = await import('../stdin.ts')
    const text = args.text === '-' ? (await readAll(context.stdin)).toString('utf8').replace(/\n$/, '') : args.text
    const keys = [...(flags.enter === true ? ['enter'] : []), ...flags.key]
    if (text === undefined && keys.length === 0)
      throw usageError('nothing to send: neither a text nor a key', `${context.calledAs} --help`)
    const { clock } = context
    const { openConnection } = await import('../../client/connection.ts')
    const connection = await openConnection(endpointOf(located), { clock })
    await refuseToAnswer(connection, located.id)
    const { sendText } = await import('../../client/send.ts')
    const sent = await sendText(connection, text ?? '', {
      keys,
      clock,
      as: context.calledAs,
      ...(flags['wait-for'] === undefined ? {} : { waitFor: flags['wait-for'] }),
      ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout }),
    })
    const data = {
      id: located.id,
      written_bytes: sent.writtenBytes,
      bracketed: sent.isBracketed,
      reacted: sent.reacted,
      state: sent.state,
      needs_input: sent.needsInput,
    }
    const after = sent.state === null ? '' : `, now ${sent.needsInput === true ? 'waiting for input' : sent.state}`
    return { data, text: `Sent ${sent.writtenBytes} bytes to session ${located.id}${after}` }
  },
})

const logs = command({
  names: ['heimdall logs', 'hm logs'],
  summary: 'Print the output of a session, also after its end',
  about: 'Escape sequences, control characters and bidi marks are removed unless --raw is given.',
  args: [id],
  flags: {
    'socket-dir': socketDir,
    host,
    follow: { short: 'f', help: 'follow new output until the session ends' },
    raw: { help: 'print the bytes of the program unchanged' },
    tail: { type: 'integer', value: 'N', help: 'only the last N lines' },
    supervisor: { help: 'the log of the supervisor instead of the output' },
  },
  examples: {
    'heimdall logs amber-otter': 'prints the stored output as plain text',
    'hm logs build -f --tail 20': 'prints the last lines and follows',
    'hm logs build --supervisor': 'prints the log of the supervisor, also after the end',
  },
  json: 'one object per line',
  output: 'type (output, gap or exit), text (of output), code (of exit)',
  run: async (context, { flags, args }) => {
    const { TextOut } = await import('../text-out.ts')
    const located = await locateSession(context, flags, args.id)
    const out = new TextOut(context.stdout)
    if (flags.supervisor !== true) {
      const { reach } = await import('../../sessions/locate.ts')
      const { printLogs } = await import('../../sessions/logs.ts')
      const reached = await reach(located, context.note)
      const follows = flags.follow === true
      if (follows && reached.connection !== undefined && context.stdout.isTTY)
        context.note(`following session ${located.id} until it ends; Ctrl-C stops`)
      const { json: isJson, note } = context
      await printLogs(reached, out, { isJson, isRaw: flags.raw === true, tail: flags.tail, note, follows })
      return STREAMED
    }
    if (located.remote !== undefined)
      throw usageError(
        '--supervisor reads a file of the other machine',
        `ssh ${flags.host} hm logs ${located.id} --supervisor`,
      )
    const { readFileIfThere } = await import('../../storage/atomic-file.ts')
    const bytes = readFileIfThere(located.paths.log)
    if (bytes === undefined)
      throw new HeimdallError('SESSION_NOT_FOUND', `session ${located.id} has no log at ${located.paths.log}`, {
        hint: 'the setting log_file may name another file, or /dev/null',
      })
    const { PlainText } = await import('../../cells/plain-text.ts')
    const plain = new PlainText()
    const text = plain.push(bytes) + plain.end()
    if (!context.json) await out.write(text)
    else for (const line of text.split('\n').filter((l) => l !== '')) await out.writeLine({ type: 'log', text: line })
    return STREAMED
  },
})

const kill = command({
  names: ['heimdall kill', 'hm kill'],
  changes: true,
  summary: 'End sessions with all their processes',
  about:
    'SIGTERM, then the whole grace time (5 s); a hang-up for shells and others that ignore SIGTERM; SIGKILL at the end.\n' +
    'If one is missing or does not end, the others are ended all the same; the exit code is that of the first failure.',
  args: [{ ...id, optional: true, variadic: true }],
  flags: {
    'socket-dir': socketDir,
    host,
    all: { help: 'all sessions of this repository; asks first' },
    yes: { help: 'with --all: do not ask' },
    wait: { help: 'return when the sessions and all their processes are gone' },
    timeout: { type: 'duration', value: 'TIME', help: 'with --wait: give up after this' },
  },
  examples: {
    'heimdall kill amber-otter': 'asks the session to end and returns',
    'heimdall kill --all': 'lists the sessions of this repository, asks, and ends them',
    'hm kill api tests --wait': 'returns when all their processes are gone',
  },
  output:
    'id, ended (seen to end), exit_code (null when not waited for); for several: sessions, each with these and error ' +
    '(code, message, hint, or null)',
  run: async (context, { flags, args }) => {
    const ids = [...new Set(args.id.map((text) => parseId('session', text)))]
    const isAll = flags.all === true
    if (isAll && (ids.length > 0 || flags.host !== undefined))
      throw usageError(`--all is for this repository, without ${ids.length > 0 ? 'ids' : '--host'}`)
    if (!isAll && ids.length === 0) throw usageError('ID is missing', `${context.calledAs} --help shows what it takes`)
    const { endSession, endSessions } = await import('../../sessions/end.ts')
    const targets = isAll
      ? await (await import('../session-list.ts')).targetsHere(context, flags, flags.yes === true)
      : ids.map((one) => ({ id: one, find: () => locateSession(context, flags, one) }))
    const { clock, note, calledAs } = context
    const waits = flags.wait === true
    const options = { clock, note, calledAs, by: () => whoEnds(context), waits, timeoutMs: flags.timeout }
    const [first] = targets
    if (first === undefined) return { data: { sessions: [] }, text: 'No session runs in this repository' }
    const { settleRuns } = await import('../settle-runs.ts')
    if (targets.length === 1 && !isAll) {
      const { text, ...data } = await endSession(first, options)
      if (flags.host === undefined) await settleRuns(context, [data.id])
      return { data, text }
    }
    const atOnce = flags.host === undefined ? KILLED_AT_ONCE : KILLED_ELSEWHERE_AT_ONCE
    const ends = await endSessions(targets, atOnce, options)
    const ended = ends.flatMap((end) => (end instanceof HeimdallError ? [] : end.id))
    if (flags.host === undefined) await settleRuns(context, ended)
    const failed = ends.filter((end) => end instanceof HeimdallError)
    const sessions = ends.map((end, i) => {
      if (end instanceof HeimdallError) {
        const { code, message, hint = null, details = {} } = end
        const error = { code, message, hint, ...details }
        return { id: targets[i]?.id, ended: false, exit_code: null, error }
      }
      const { text: _, ...data } = end
      return { ...data, error: null }
    })
    const text = ends.flatMap((end) => (end instanceof HeimdallError ? [] : end.text)).join('\n')
    return { data: { sessions }, text, ...sayFailed(context, failed) }
  },
})

const OLDER_THAN_MS = 86_400_000

const clean = command({
  names: ['heimdall clean', 'hm clean'],
  changes: true,
  summary: 'Remove logs and exit records of ended sessions',
  about:
    'Also ends processes of sessions whose supervisor was killed. Only lists what it would do unless --force is given. ' +
    'Agents may not use --force.',
  flags: {
    'socket-dir': socketDir,
    'older-than': {
      type: 'duration',
      mayBeZero: true,
      value: 'TIME',
      help: 'only files older than this; default 24h',
    },
    force: { help: 'really remove' },
  },
  examples: {
    'heimdall clean': 'shows what would be removed',
    'hm clean --older-than 7d --force': 'removes what is older than a week',
  },
  output: 'removed (whether anything was), files (path, bytes, age_ms), sessions (id and processes of lost ones)',
  run: async (context, { flags }) => {
    const { leftoverFiles, lostSessions, removeLeftover } = await import('../../sessions/leftovers.ts')
    const { inlineText } = await import('../../cells/plain-text.ts')
    const dir = await socketDirOf(context, flags)
    const { clock } = context
    const isForced = flags.force === true
    if (isForced) (await import('../../person.ts')).refuseAgent('removing files of ended sessions')
    const { sessions, failed } = await lostSessions(dir, { by: isForced ? await whoEnds(context) : undefined, clock })
    const olderThanMs = flags['older-than'] ?? OLDER_THAN_MS
    const left = leftoverFiles(dir, clock.wallMs())
    const files = left.filter(({ age_ms: ageMs }) => ageMs >= olderThanMs)
    if (isForced) for (const { path } of files) removeLeftover(path)
    const lines = [
      ...sessions.map(({ id: lost, processes }) => {
        const running = processes.map(({ pid, command: words }) => `${pid} ${inlineText(words)}`).join('; ')
        return `  ${isForced ? 'ended' : 'would end'} session ${lost}, lost, still running: ${running}`
      }),
      ...files.map(({ path, bytes, age_ms: ageMs }) => {
        const file = `${path} (${bytes} bytes, ${duration(ageMs)} old)`
        return `  ${isForced ? 'removed' : 'would remove'} ${file}`
      }),
    ]
    const young = left.length === 1 ? '1 file of an ended session is' : `${left.length} files of ended sessions are`
    const nothing =
      left.length === 0
        ? 'Nothing to clean'
        : `Nothing to clean: ${young} younger than ${duration(olderThanMs)}; --older-than 0s takes them too`
    const logs = files.filter(({ path }) => path.endsWith('.log')).length
    // Scripts match these words.
    const head = isForced
      ? `Cleaned ${logs} log file(s), ${files.length - logs} other file(s):`
      : 'Nothing is removed without --force:'
    const text = lines.length === 0 ? nothing : [head, ...lines].join('\n')
    return { data: { removed: isForced, files, sessions }, text, ...sayFailed(context, failed) }
  },
})

export const commands: readonly Command[] = [ls, attach, send, logs, kill, clean]
