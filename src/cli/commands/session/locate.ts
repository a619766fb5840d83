// From the id on a command line to the session: its folder, its files, a connection to it.
import { openConnection, type SessionConnection } from '../../../client/connection.ts'
import type { Endpoint } from '../../../client/endpoint.ts'
import { HeimdallError } from '../../../errors.ts'
import { parseId } from '../../../ids.ts'
import { lookUnswayed } from '../../../processes.ts'
import { sessionCaller } from '../../../session-caller.ts'
import { didYouMean } from '../../../suggest.ts'
import { readKept } from '../../../sessions/kept-output.ts'
import { findSession, listSessions, readExitRecord } from '../../../sessions/session-files.ts'
import type { KeptOutput } from '../../../wire/kept-output.ts'
import type { ExitRecord } from '../../../wire/exit-record.ts'
import type { Holder } from '../../../wire/pid-file.ts'
import { sessionPaths, type SessionPaths } from '../../../wire/session-paths.ts'
import type { Orphan } from '../../../sessions/settle.ts'
import type { SessionElsewhere } from '../../../sessions/elsewhere/session-elsewhere.ts'
import { KEY_VARIABLE } from '../../../session-variables.ts'
import type { Context } from '../../command.ts'
import { elsewhereOf, type HostFlag } from './elsewhere.ts'
import { type DirFlag, socketDirOf } from './socket-dir.ts'

export interface Located {
  readonly id: string
  readonly dir: string
  readonly paths: SessionPaths
  readonly isRunning: boolean
  /** Who runs it, or ran it when its supervisor was killed. */
  readonly holder: Holder | undefined
  /** What goes on running of a session whose supervisor was killed; none of any other. */
  readonly orphans: readonly Orphan[]
  /** How it ended; also of an earlier session of this id while another one runs. */
  readonly exit: ExitRecord | undefined
  /** Of another machine: then there are no files of it here. */
  readonly elsewhere?: SessionElsewhere
}

/**
 * Finds a session by id, and ends nothing. One whose supervisor died without a word is settled first where nothing of
 * it runs any more, so that the answer is final.
 */
export async function locate(context: Context, flags: DirFlag & HostFlag, text: string): Promise<Located> {
  const id = parseId('session', text)
  const machine = await elsewhereOf(context, flags)
  if (machine !== undefined) {
    const { SessionElsewhere } = await import('../../../sessions/elsewhere/session-elsewhere.ts')
    const elsewhere = await SessionElsewhere.find(machine, id)
    elsewhere.tell = (words) => context.note(`[${words}]`)
    const { isRunning, exit } = elsewhere
    return { id, dir: '', paths: sessionPaths('', id), isRunning, holder: undefined, orphans: [], exit, elsewhere }
  }
  const dir = await socketDirOf(context, flags)
  let entry = findSession(dir, id)
  let orphans: readonly Orphan[] = []
  if (entry?.state === 'lost') {
    const { orphansOf, settle } = await import('../../../sessions/settle.ts')
    const settled = await settle(dir, id, { by: undefined, clock: context.clock })
    if (settled === 'orphaned') orphans = orphansOf(entry.holder)
    entry = findSession(dir, id)
    // It answers, whatever its pid file says: who runs it is for itself to say.
    if (settled === 'alive' && entry?.state === 'lost') entry = { ...entry, holder: undefined, state: 'running' }
  }
  if (entry === undefined) throw notFound(dir, id)
  const { holder, exit, state } = entry
  return { id, dir, paths: sessionPaths(dir, id), isRunning: state === 'running', holder, orphans, exit }
}

/**
 * The id of the session that this process runs in. By the key that marks everybody in it: the id in the environment is
 * the one that the session was started under.
 */
export async function sessionAround(context: Context, dir: string): Promise<string | undefined> {
  const config = await context.settings()
  const key = context.env[KEY_VARIABLE]
  const found = listSessions(dir).find(({ holder }) => key !== undefined && holder?.key === key)
  const named = context.env[config.session_env_var.value as string]
  return found?.id ?? (named === '' ? undefined : named)
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

/** As its record says now. */
export const exitOf = ({ elsewhere, dir, id }: Located): ExitRecord | undefined =>
  elsewhere === undefined ? readExitRecord(dir, id) : elsewhere.exit

export const keptOf = ({ elsewhere, dir, id }: Located): KeptOutput | undefined =>
  elsewhere === undefined ? readKept(dir, id) : elsewhere.kept

export const endpointOf = ({ elsewhere, paths }: Located): Endpoint => elsewhere ?? paths.socket

export function ended({ id, exit, orphans, elsewhere }: Located): HeimdallError {
  if (orphans.length > 0) return lost(id, orphans)
  const how = exit === undefined ? '' : ` with exit code ${exit.exit_code} at ${exit.ended_at}`
  return new HeimdallError('SESSION_ENDED', `session ${id} has ended${how}`, {
    hint: `${hmFor(elsewhere)} logs ${id} shows what it said, ${hmFor(elsewhere)} status ${id} how it ended`,
  })
}

const hmFor = (elsewhere: SessionElsewhere | undefined): string =>
  elsewhere === undefined ? 'hm' : `hm --host ${elsewhere.host}`

function lost(id: string, orphans: readonly Orphan[]): HeimdallError {
  const [first, ...more] = orphans
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  return new HeimdallError(
    'SESSION_LOST',
    `the supervisor of session ${id} was killed; still running: process ${first?.pid} (${first?.command})${others}`,
    { hint: `hm kill ${id} ends what is left`, details: { id, processes: orphans } },
  )
}

/** For the record of what was ended. */
export const whoEnds = ({ calledAs }: Context): string =>
  `${calledAs} by ${sessionCaller(process.pid, lookUnswayed()).words}`
