// Sessions, what `hm` reads of them: status, peek, record and export.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import type { TerminalCover } from '../../known-secrets/terminal-cover.ts'
import { runsDirOf } from '../../paths.ts'
import type { Cast } from '../../sessions/cast.ts'
import type { Located } from '../../sessions/locate.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { type Command, command, type Context } from '../command.ts'
import { outputPath } from '../output-file.ts'
import { connected, host, locateSession, sessionId as id, socketDir } from '../session-flags.ts'

const status = command({
  names: ['hm status'],
  summary: 'Show what a session is doing, and whether it waits for a human',
  args: [id],
  flags: { 'socket-dir': socketDir, host },
  examples: {
    'hm status build': 'prints pid, idle time and state',
    'hm status build --json': 'prints all fields, also after the end',
  },
  output:
    'id, pid (of the command), alive, state (idle, thinking, streaming, tool_use, active, dead, or lost: its supervisor ' +
    'was killed and it still runs), state_ms, idle_ms (since the last output), needs_input (value, source, evidence), ' +
    'exit_code (null while it runs), command, title (set by the program), acts (what clients did: at, act, by, what)',
  run: async (context, { flags, args }) => {
    const located = await locateSession(context, flags, args.id)
    const { sessionStatus } = await import('../../sessions/status.ts')
    const { data, lines } = await sessionStatus(located, context.clock)
    return { data, text: lines.join('\n') }
  },
})

const peek = command({
  names: ['hm peek'],
  summary: 'Print the current or last screen of a session',
  args: [id],
  flags: { 'socket-dir': socketDir, host, ansi: { help: 'with colours; also --color' } },
  examples: {
    'hm peek agent': 'prints the screen as plain text',
    'hm peek agent --color': 'prints it with colours',
  },
  output:
    'id, cols, rows, cursor (x and y from 0), alternate (the alternate screen is shown), whole (false when cells may be ' +
    'missing after a flood), lines (one string per row), title, ended (the last screen of an ended session)',
  run: async (context, { flags, args }) => {
    const { reach } = await import('../../sessions/locate.ts')
    const { screenNow } = await import('../../sessions/screen-now.ts')
    const located = await locateSession(context, flags, args.id)
    const reached = await reach(located, context.note)
    try {
      const { isAlternate, isWhole, drawn, title, ...screen } = await screenNow(reached)
      if (!isWhole)
        context.note('note: some cells may be missing: the program printed faster than its screen could be followed')
      const isColored = flags.ansi === true || context.style.color.isColorSupported
      const shown = isColored ? [...drawn] : [...screen.lines]
      while (shown.at(-1) === '') shown.pop()
      const isEnded = reached.connection === undefined
      const data = { id: located.id, ...screen, alternate: isAlternate, whole: isWhole, title, ended: isEnded }
      return { data, text: shown.join('\n') }
    } finally {
      reached.connection?.close()
    }
  },
})

const record = command({
  names: ['hm record'],
  changes: true,
  summary: 'Record a session from now on as asciicast v2',
  about:
    'Records until the session ends or Ctrl-C; the file is valid at any time. `run --record` records from the first byte.',
  args: [id, { name: 'file', help: 'default <socket dir>/<id>.cast; - is stdout', optional: true }],
  flags: { 'socket-dir': socketDir },
  examples: { 'hm record agent agent.cast': 'records; play it with asciinema play agent.cast' },
  output: 'id, file, events (how many), seconds',
  run: async (context, { flags, args }) => {
    const named = args.file === undefined ? undefined : outputPath(context.resolve(args.file))
    const { connection, located } = await connected(context, flags, args.id)
    const { recordSession } = await import('../../sessions/cast.ts')
    const { clock } = context
    // Ctrl-C ends the recording and is not a failure.
    const stopping = new AbortController()
    const stop = (): void => {
      stopping.abort()
      connection.close()
    }
    process.once('SIGINT', stop).once('SIGTERM', stop)
    try {
      const file = named ?? join(located.dir, `${located.id}.cast`)
      const { seconds, events, exitCode } = await recordSession(connection, file, {
        cover: await coverOfStore(context),
        clock,
        signal: stopping.signal,
        onStart: () => context.note(`Recording session ${located.id} to ${file}; Ctrl-C stops`),
      })
      const data = { id: located.id, file, events, seconds, exit_code: exitCode }
      return { data, text: `Recorded ${seconds} s of session ${located.id} to ${file}` }
    } finally {
      process.off('SIGINT', stop).off('SIGTERM', stop)
      connection.close()
    }
  },
})

/** Covers the values of stored secrets. */
async function coverOfStore(context: Context): Promise<TerminalCover> {
  const [{ TerminalCover: Cover }, { readSecrets, secretsPath }, { isTooShortToFind }] = await Promise.all([
    import('../../known-secrets/terminal-cover.ts'),
    import('../../shim/secrets/store.ts'),
    import('../../shim/secrets/value.ts'),
  ])
  const cover = new Cover()
  try {
    const stored = [...readSecrets(secretsPath(context.env, context.cwd)).values()]
    cover.add(stored.map(({ value }) => value).filter((value) => !isTooShortToFind(value)))
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    context.note(`warning: stored secrets are not redacted: ${error.message}`)
  }
  return cover
}

const exportCast = command({
  names: ['hm export'],
  summary: 'Write a recording or the stored output as asciicast v2',
  about:
    'A recording of the session (`heimdall run`, `hm run --record`, `hm record`) keeps its timing. Without one, the ' +
    'stored output is written as one event.',
  args: [id, { name: 'file', help: 'default stdout', optional: true }],
  flags: {
    'socket-dir': socketDir,
    from: {
      value: 'FILE',
      help: 'the recording; default <socket dir>/<id>.cast, then that of its run',
    },
    'idle-limit': { type: 'duration', value: 'TIME', help: 'shorten longer pauses to this' },
  },
  examples: { 'hm export agent agent.cast --idle-limit 2s': 'writes the recording without long pauses' },
  output: 'id, source (recording or scrollback), file, events (how many), seconds',
  run: async (context, { flags, args }) => {
    const { castOfOutput, coverCast, encodeCast, limitIdle } = await import('../../sessions/cast.ts')
    const { reach } = await import('../../sessions/locate.ts')
    const file = args.file === undefined ? null : outputPath(context.resolve(args.file))
    const located = await locateSession(context, flags, args.id)
    const cover = await coverOfStore(context)
    const recorded = await recordingOf(context, flags.from, located)
    const cast =
      recorded === undefined
        ? await castOfOutput(await reach(located, context.note), cover)
        : coverCast(recorded, cover)
    const source = recorded === undefined ? 'scrollback' : 'recording'
    const limited = flags['idle-limit'] === undefined ? cast : limitIdle(cast, flags['idle-limit'] / 1_000)
    const text = encodeCast(limited)
    if (file !== null) onDisk(file, () => writeFileSync(file, text, { mode: 0o600 }))
    const events = limited.events.length
    const seconds = limited.events.at(-1)?.[0] ?? 0
    const data = { id: located.id, source, file, events, seconds, ...(file === null ? { cast: text } : {}) }
    const count = events === 1 ? '1 event' : `${events} events`
    return {
      data,
      text: file === null ? text.trimEnd() : `Wrote ${count} (${seconds} s, from the ${source}) to ${file}`,
    }
  },
})

async function recordingOf(context: Context, from: string | undefined, located: Located): Promise<Cast | undefined> {
  const { parseCast } = await import('../../sessions/cast.ts')
  const path = from === undefined ? join(located.dir, `${located.id}.cast`) : context.resolve(from)
  const bytes = readFileIfThere(path)
  if (bytes !== undefined) return parseCast(bytes.toString('utf8'), path)
  if (from !== undefined)
    throw new HeimdallError('CAST_INVALID', `no recording at ${path}`, { hint: 'hm record makes one' })
  const { runRecording } = await import('../../spine/run-recording.ts')
  return runRecording(runsDirOf(context.env), located)
}

export const commands: readonly Command[] = [status, peek, record, exportCast]
