// Running a session from its taken id to its last file: what the session's process does.
import { type Clock, pause, systemClock, within } from '../clock.ts'
import { EXIT_FLUSH_MS, EXIT_LINGER_MS } from '../limits.ts'
import type { Env } from '../paths.ts'
import { TerminalCover } from '../known-secrets/terminal-cover.ts'
import { removeIfThere } from '../storage/atomic-file.ts'
import { childEnvironment } from './child-environment.ts'
import type { ChildEnd } from './child.ts'
import { KeptFile } from './streams/kept-file.ts'
import type { SessionOptions } from '../wire/session-options.ts'
import { knownCaller } from './state/known-caller.ts'
import { stayPresent } from './state/presence.ts'
import { loadLocks } from '../storage/kernel-lock.ts'
import { openRecording } from '../storage/recording.ts'
import { lookUnswayed } from '../processes.ts'
import { sessionCaller } from '../session-caller.ts'
import { Screen } from './screen/screen.ts'
import { SessionServer } from './streams/server.ts'
import { Session } from './session.ts'
import { guardWatcher } from './watcher-guard.ts'
import { writeExitFile } from './exit-file.ts'
import type { Holder } from '../wire/pid-file.ts'
import { SessionName } from './session-name.ts'
import { openSessionLog, type SessionLog } from './session-log.ts'
import type { StartedSession } from '../wire/handover.ts'

export interface RunWith {
  /** The socket answers. */
  readonly onReady?: (session: StartedSession) => void
  readonly env: Env
  /** Path of `screen-worker.cjs`. */
  readonly screenWorker: string
  /** The id as the starter took it for this process. */
  readonly holder: Holder
  readonly clock?: Clock
}

/** Resolves with the child's exit code when nothing of the session is left. */
export async function runSession(options: SessionOptions, how: RunWith): Promise<number> {
  const clock = how.clock ?? systemClock
  const { holder } = how
  const name = new SessionName(options.socketDir, options.id, holder, clock)
  const cleanup: (() => void)[] = [() => name.release()]
  try {
    const log = openSessionLog(options.logFile ?? name.paths.log, {
      level: options.logLevel,
      filter: options.logFilter,
      clock,
    })
    cleanup.push(() => log.close())
    return await live(options, how, { name, holder, log, clock, cleanup })
  } finally {
    for (const undo of cleanup.toReversed()) undo()
  }
}

interface Frame {
  readonly name: SessionName
  readonly holder: Holder
  readonly log: SessionLog
  readonly clock: Clock
  readonly cleanup: (() => void)[]
}

async function live(options: SessionOptions, how: RunWith, frame: Frame): Promise<number> {
  const { name, holder, log, clock, cleanup } = frame
  const key = holder.key ?? ''
  const exitFile = { options, name, holder, clock, log }
  const cover = new TerminalCover()
  const recording =
    options.recordPath === null
      ? undefined
      : openRecording(
          options.recordPath,
          {
            size: options,
            command: options.shownCommand ?? options.command,
            title: options.id,
            bytesMax: options.recordBytesMax,
            cover,
          },
          clock,
          // The agent's session is worth more than its recording.
          (error) => log.write('error', 'recording', `stopped: ${String(error)}`),
        )
  let childEnded: (end: ChildEnd) => void
  const ended = new Promise<ChildEnd>((resolve) => {
    childEnded = resolve
  })
  const session: Session = new Session({
    options,
    env: childEnvironment(options, how.env, key),
    known: (said) => knownCaller(said, { pidFile: name.paths.pid, key, env: how.env }),
    key,
    clock,
    log,
    screen: (output, on) =>
      new Screen({
        output,
        size: { cols: options.cols, rows: options.rows },
        colors: options.colors ?? undefined,
        worker: how.screenWorker,
        clock,
        log,
        ...on,
      }),
    kept: (output, shown) =>
      new KeptFile({
        output,
        scrollbackBytes: options.scrollbackBytes,
        path: () => name.paths.kept,
        shown,
        cover,
        clock,
        log,
      }),
    recording,
    cover,
    clients: () => server.clients,
    name,
    listenAt: (path) => server.move(path),
    onEnd: (end) => {
      // On disk before any client is told: whoever sees EXIT finds the record.
      writeExitFile(exitFile, session, end, 0)
      childEnded(end)
    },
  })
  const server = new SessionServer(session, clock)
  cleanup.push(
    () => server.close(),
    () => recording?.close(),
    () => session.dispose(),
    onSignals(session, log),
  )
  try {
    name.nameChild({ pid: session.pid, command: options.shownCommand ?? options.command, cwd: options.cwd })
    const { socket } = name.paths
    await session.ready
    await server.listen(socket)
    log.write('info', 'session', `started: supervisor ${process.pid}, child ${session.pid}`)
    // While the starter waits to be told: later its parent is another.
    if (how.onReady !== undefined) session.startedBy = sessionCaller(process.ppid, lookUnswayed(), how.env).actor
    how.onReady?.({ id: options.id, socket, supervisor_pid: process.pid, pid: session.pid })
  } catch (error) {
    // Nobody knows of this session, so nobody could end its child.
    session.terminate('the supervisor, which could not listen')
    await ended
    await session.sweep()
    removeIfThere(name.paths.exit)
    removeIfThere(name.paths.kept)
    throw error
  }

  // All that the end needs is loaded from here on: an upgrade may take our files from under a session that goes on.
  loadLocks()
  const watcher = options.watcher === null ? undefined : guardWatcher(options.watcher, how.env, clock, log)
  const presence = stayPresent({ name, listenAgain: (path) => server.listenAgain(path), clock, log })
  const end = await ended
  presence.cancel()
  log.write('info', 'session', `child ended: code ${end.code}, signal ${end.signal ?? 'none'}, ${end.reason}`)
  const lingerUntilMs = clock.monoMs() + EXIT_LINGER_MS
  const kept = session.keepScreen()
  const swept = options.killProcessGroup ? await session.sweep() : 0
  if (swept > 0) {
    log.write('info', 'session', `ended ${swept} more processes of the tree`)
    writeExitFile(exitFile, session, end, swept)
  }
  await linger(session, clock, { untilMs: lingerUntilMs, stallMs: options.stallMs })
  await within(clock, EXIT_FLUSH_MS, kept)
  watcher?.last()
  return end.code
}

const LINGER_TURNS = 5

/** Those who ask how it ended are answered for a while; a client that is still taking its last output has as long as a client may stall. */
async function linger(
  session: Session,
  clock: Clock,
  { untilMs, stallMs }: { readonly untilMs: number; readonly stallMs: number },
): Promise<void> {
  const deliverUntilMs = clock.monoMs() + EXIT_FLUSH_MS + stallMs
  const isNeeded = (): boolean => clock.monoMs() < untilMs || (!session.isDelivered && clock.monoMs() < deliverUntilMs)
  // However long the sweep has held everything up, whoever has asked meanwhile is answered.
  for (let turns = 0; turns < LINGER_TURNS || isNeeded(); turns += 1) await pause(clock, 20)
}

/** SIGHUP is ignored: a session outlives the terminal it was started from. */
function onSignals(session: Session, log: SessionLog): () => void {
  const end = (signal: NodeJS.Signals): void => {
    log.write('info', 'session', `${signal}: ending the child`)
    session.terminate(`${signal} to the supervisor`)
  }
  const ignored = (): void => undefined
  process.on('SIGTERM', end).on('SIGINT', end).on('SIGHUP', ignored)
  return () => void process.off('SIGTERM', end).off('SIGINT', end).off('SIGHUP', ignored)
}
