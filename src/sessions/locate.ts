// Finds a session by its id, on this machine or another, and connects to it or reads what it left.
import { openConnection, type SessionConnection } from '../client/connection.ts'
import type { Endpoint } from '../client/endpoint.ts'
import { HeimdallError } from '../errors.ts'
import { parseId } from '../ids.ts'
import { agentAbove } from '../person.ts'
import { didYouMean } from '../suggest.ts'
import type { ExitRecord } from '../wire/exit-record.ts'
import type { KeptOutput } from '../wire/kept-output.ts'
import type { Holder } from '../wire/pid-file.ts'
import { sessionPaths, type SessionPaths } from '../wire/session-paths.ts'
import { infoIfKnown } from './ask-info.ts'
import { readKept } from './kept-output.ts'
import type { RemoteSession, SshMachine } from './remote/remote-session.ts'
import { findSession, listSessions, readExitRecord } from './session-files.ts'
import type { Orphan } from './settle.ts'

/** Where to look for a session: a folder of sockets here, or another machine. */
export type LookupPlace = { readonly dir: string; readonly machine?: undefined } | { readonly machine: SshMachine }

export interface Located {
  readonly id: string
  /** Empty for a session on another machine. */
  readonly dir: string
  readonly paths: SessionPaths
  readonly isRunning: boolean
  /** Its supervisor, or the one that was killed. */
  readonly holder: Holder | undefined
  /** Its supervisor was killed, and its end is not settled. */
  readonly isLost: boolean
  /** Processes that still run after the supervisor was killed. */
  readonly orphans: readonly Orphan[]
  /** How it ended; while a session runs, the end of an earlier session with the same id. */
  readonly exit: ExitRecord | undefined
  readonly remote?: RemoteSession
}

/**
 * Finds a session by id. Ends, settles and writes nothing. `tell` receives connection problems of a session on another
 * machine.
 */
export async function locate(place: LookupPlace, text: string, tell: (words: string) => void): Promise<Located> {
  const id = parseId('session', text)
  if (place.machine !== undefined) {
    const { RemoteSession } = await import('./remote/remote-session.ts')
    const remote = await RemoteSession.find(place.machine, id)
    remote.tell = tell
    const { isRunning, exit } = remote
    const paths = sessionPaths('', id)
    return { id, dir: '', paths, isRunning, holder: undefined, isLost: false, orphans: [], exit, remote }
  }
  const { dir } = place
  const paths = sessionPaths(dir, id)
  const entry = findSession(dir, id)
  if (entry === undefined) throw notFound(dir, id)
  const { holder, exit, state } = entry
  if (state !== 'lost')
    return { id, dir, paths, isRunning: state === 'running', holder, isLost: false, orphans: [], exit }
  const [{ endOfLost, orphansOf }, { isListening }] = await Promise.all([
    import('./settle.ts'),
    import('./listening.ts'),
  ])
  // It answers, so its pid file is wrong about the supervisor.
  if (await isListening(paths.socket))
    return { id, dir, paths, isRunning: true, holder: undefined, isLost: false, orphans: [], exit }
  const orphans = orphansOf(holder)
  const end = orphans.length > 0 ? exit : endOfLost(id, holder, exit)
  return { id, dir, paths, isRunning: false, holder, isLost: true, orphans, exit: end }
}

function notFound(dir: string, id: string): HeimdallError {
  const ids = listSessions(dir).map((entry) => entry.id)
  return new HeimdallError('SESSION_NOT_FOUND', `No session found: ${id}`, {
    hint: didYouMean(id, ids, 'hm ls lists the sessions'),
  })
}

/** A connection to a session that must be running. */
export async function connectTo(located: Located): Promise<SessionConnection> {
  if (!located.isRunning) throw ended(located)
  return await openConnection(endpointOf(located))
}

/** Read again: the session may have ended since it was located. */
export const exitOf = ({ remote, dir, id }: Located): ExitRecord | undefined =>
  remote === undefined ? readExitRecord(dir, id) : remote.exit

export const keptOf = ({ remote, dir, id }: Located): KeptOutput | undefined =>
  remote === undefined ? readKept(dir, id) : remote.kept

export const endpointOf = ({ remote, paths }: Located): Endpoint => remote ?? paths.socket

export function ended({ id, exit, orphans, remote }: Located): HeimdallError {
  if (orphans.length > 0) return lost(id, orphans)
  const how = exit === undefined ? '' : ` with exit code ${exit.exit_code} at ${exit.ended_at}`
  const hm = remote === undefined ? 'hm' : `hm --host ${remote.host}`
  return new HeimdallError('SESSION_ENDED', `session ${id} has ended${how}`, {
    hint: `${hm} logs ${id} shows its output, ${hm} status ${id} how it ended`,
  })
}

function lost(id: string, orphans: readonly Orphan[]): HeimdallError {
  const [first, ...more] = orphans
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  return new HeimdallError(
    'SESSION_LOST',
    `the supervisor of session ${id} was killed; still running: process ${first?.pid} (${first?.command})${others}`,
    { hint: `hm kill ${id} ends what is left`, details: { id, processes: orphans } },
  )
}

/** A running session, or the output that an ended one left. */
export type ReachedSession =
  | { readonly connection: SessionConnection }
  | { readonly connection: undefined; readonly kept: KeptOutput; readonly located: Located }

/** For commands that read: `note` is told when the session has ended. Throws if nothing is left of it. */
export async function reach(located: Located, note: (line: string) => void): Promise<ReachedSession> {
  const connection = located.isRunning ? await connectIfThere(located) : undefined
  if (connection !== undefined) return { connection }
  const { id } = located
  const last: Located = { ...located, isRunning: false, exit: exitOf(located) }
  const kept = keptOf(located)
  if (kept === undefined) throw ended(last)
  const when = last.exit === undefined ? '' : ` with exit code ${last.exit.exit_code} at ${last.exit.ended_at}`
  note(
    last.orphans.length > 0
      ? `session ${id} has lost its supervisor: this is its output until then`
      : `session ${id} has ended${when}: this is its last output`,
  )
  return { connection: undefined, kept, located: last }
}

/** Undefined for a session that ended since it was located. */
async function connectIfThere(located: Located): Promise<SessionConnection | undefined> {
  try {
    return await openConnection(endpointOf(located))
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'SESSION_NOT_FOUND') return undefined
    throw error
  }
}

/** Agents, recognised by their processes, may not answer what a session asks a human. Closes the connection if it refuses. */
export async function refuseToAnswer(connection: SessionConnection, id: string): Promise<void> {
  const agent = agentAbove()
  if (agent === undefined || (await infoIfKnown(connection))?.needs_input.value !== true) return
  connection.close()
  throw new HeimdallError('PERSON_REQUIRED', `session ${id} waits for a human, and ${agent.reason}`, {
    hint: 'a human answers it in their own terminal; hm wait reports when it works again',
  })
}
