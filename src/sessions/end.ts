// Ends sessions: asks the supervisor, or acts in its place when it is stopped, cut off or gone.
import type { SessionConnection } from '../client/connection.ts'
import { Watch } from '../client/watch.ts'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { SESSION_ANSWER_MS } from '../limits.ts'
import { readStat } from '../processes.ts'
import { sendSignal } from '../signals.ts'
import { type Holder, parseHolder } from '../wire/pid-file.ts'
import { infoIfKnown } from './ask-info.ts'
import { connectTo, type Located } from './locate.ts'
import { isSupervisorAlive, readExitRecord } from './session-files.ts'

export interface KillOptions {
  readonly clock: Clock
  readonly note: (line: string) => void
  /** The command, for the session’s list of what clients did. */
  readonly calledAs: string
  /** Who ends it, for the exit record of a session that has lost its supervisor. */
  readonly by: () => Promise<string>
  /** Return when the session and all its processes are gone. */
  readonly waits: boolean
  /** With `waits`: for all of the sessions together. */
  readonly timeoutMs: number | undefined
}

/** The names are those of `hm kill --json`. */
export interface KilledSession {
  readonly id: string
  readonly ended: boolean
  readonly exit_code: number | null
  /** In one line. */
  readonly text: string
}

/** A session to end, by the id that was given. */
export interface EndTarget {
  readonly id: string
  readonly find: () => Promise<Located>
}

/** In the order of `targets`. A session that cannot be ended does not keep the others. */
export async function endSessions(
  targets: readonly EndTarget[],
  atOnce: number,
  options: KillOptions,
): Promise<(KilledSession | HeimdallError)[]> {
  const ends = new Map<EndTarget, KilledSession | HeimdallError>()
  const left = [...targets]
  const { clock, timeoutMs } = options
  const deadlineMs = timeoutMs === undefined ? undefined : clock.monoMs() + timeoutMs
  const endNext = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const leftMs = deadlineMs === undefined ? undefined : Math.max(0, deadlineMs - clock.monoMs())
      ends.set(next, await endSession(next, { ...options, timeoutMs: leftMs }).catch(ifKnown))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, endNext))
  return targets.flatMap((target) => ends.get(target) ?? [])
}

function ifKnown(error: unknown): HeimdallError {
  if (error instanceof HeimdallError) return error
  throw error
}

export async function endSession({ find }: EndTarget, options: KillOptions): Promise<KilledSession> {
  const { clock, note } = options
  const located = await find()
  const { id, holder } = located
  if (located.isLost) return await endLost(located, options)
  if (!located.isRunning)
    return { id, ended: true, exit_code: located.exit?.exit_code ?? null, text: `Session ${id} had ended already` }
  if (!isStopped(holder)) return await askToEnd(located, options)
  note(`the supervisor of session ${id} was stopped (SIGSTOP); it is continued to end the session`)
  sendSignal(holder.supervisorPid, 'SIGCONT')
  try {
    return await askToEnd(located, options)
  } catch (error) {
    if (!(error instanceof HeimdallError && error.code === 'SESSION_SILENT')) throw error
    // It may have ended meanwhile, and its pid may belong to another process.
    if (isSupervisorAlive(holder)) sendSignal(holder.supervisorPid, 'SIGKILL')
    await isGone(holder, clock, clock.monoMs() + SESSION_ANSWER_MS)
    return await endLost(located, options)
  }
}

const isStopped = (holder: Holder | undefined): holder is Holder =>
  holder !== undefined && readStat(holder.supervisorPid)?.isStopped === true

/** Without a supervisor: SIGTERM, the grace time and SIGKILL are sent from here. */
async function endLost({ dir, id }: Located, { by, clock }: KillOptions): Promise<KilledSession> {
  const { settle } = await import('./settle.ts')
  await settle(dir, id, { by: await by(), clock })
  const exit = readExitRecord(dir, id)
  const swept = exit?.swept ?? 0
  const left = swept === 0 ? 'nothing of it ran any more' : `ended ${swept} processes that it had left`
  const text = `Session ${id} had lost its supervisor; ${left}`
  return { id, ended: true, exit_code: exit?.exit_code ?? null, text }
}

async function askToEnd(located: Located, options: KillOptions): Promise<KilledSession> {
  const { id, remote } = located
  const { clock, timeoutMs, waits } = options
  const deadlineMs = clock.monoMs() + (timeoutMs ?? Number.POSITIVE_INFINITY)
  const connection = await connectUnlessCut(located)
  if (connection === undefined) return await endCutOff(located, options, deadlineMs)
  try {
    // Processes on another machine are waited for there.
    const holder = remote === undefined ? await runnerOf(connection, located.holder) : undefined
    const watch = waits ? new Watch(connection.subscribe({ from: 'live' }), clock) : undefined
    await connection.callAs(options.calledAs)
    await connection.kill()
    if (watch === undefined) {
      // Frames are handled in order, so this answer confirms the kill. A watch sees the end itself, after which nothing answers.
      await connection.status()
      if (connection.refusal !== undefined) throw connection.refusal
      return asked(id)
    }
    const isOver = ({ exitCode }: { readonly exitCode?: number | undefined }): boolean =>
      exitCode !== undefined || connection.refusal !== undefined
    const hasEnded = await watch.until(isOver, timeoutMs)
    if (connection.refusal !== undefined) throw connection.refusal
    if (!hasEnded || !(await isGone(holder, clock, deadlineMs))) throw notInTime(id)
    await remote?.gone()
    return exited(id, watch.seen.exitCode ?? null)
  } finally {
    connection.close()
  }
}

const asked = (id: string): KilledSession => ({
  id,
  ended: false,
  exit_code: null,
  text: `Kill signal sent to session ${id}`,
})

const exited = (id: string, code: number | null): KilledSession => ({
  id,
  ended: true,
  exit_code: code,
  text: `Session ${id} ended with exit code ${code}`,
})

/** Undefined when the socket is gone and the supervisor still runs: it cannot be reached, but its pid is known. */
async function connectUnlessCut(located: Located): Promise<SessionConnection | undefined> {
  try {
    return await connectTo(located)
  } catch (error) {
    const isCut = error instanceof HeimdallError && error.code === 'SESSION_NOT_FOUND'
    if (isCut && located.holder?.supervisorStart !== undefined) return undefined
    throw error
  }
}

/** A supervisor treats SIGTERM like the KILL frame. It is identified by its start time, because pids are reused. */
async function endCutOff(
  { dir, id, holder }: Located,
  { clock, waits }: KillOptions,
  deadlineMs: number,
): Promise<KilledSession> {
  if (holder !== undefined && isSupervisorAlive(holder)) sendSignal(holder.supervisorPid, 'SIGTERM')
  if (!waits) return asked(id)
  if (!(await isGone(holder, clock, deadlineMs))) throw notInTime(id)
  return exited(id, readExitRecord(dir, id)?.exit_code ?? null)
}

const notInTime = (id: string): HeimdallError =>
  new HeimdallError('SESSION_WAIT_TIMEOUT', `session ${id} did not end in time`, { hint: `hm status ${id}` })

/** The supervisor to wait for: the session reports it where the pid file is missing or names another one. */
async function runnerOf(connection: SessionConnection, holder: Holder | undefined): Promise<Holder | undefined> {
  if (holder?.supervisorStart !== undefined) return holder
  const info = await infoIfKnown(connection)
  if (info === undefined) return holder
  const { supervisor_pid: pid } = info
  return parseHolder(`${pid}\n0\nsupervisor_start ${readStat(pid)?.startTicks ?? 0}\n`)
}

const POLL_MS = 20

/** The child exits first; its supervisor exits when the rest of the process tree has been ended. */
export async function isGone(holder: Holder | undefined, clock: Clock, deadlineMs: number): Promise<boolean> {
  if (holder === undefined) return true
  while (isSupervisorAlive(holder)) {
    if (clock.monoMs() >= deadlineMs) return false
    await pause(clock, POLL_MS)
  }
  return true
}
