// What the commands of coordination share: opening the repository's store, knowing who calls, and writing the ledger afterwards.
import {
  type Coordination,
  type CoordinationOptions,
  isUnwritable,
  openCoordination,
  openCoordinationToRead,
} from '../../../coordination/coordination.ts'
import { actAs, type Asking, caller, type Caller, nameToRecord, recordRefusal } from '../../../coordination/caller.ts'
import type { KeepSecret } from '../../../coordination/enrol.ts'
import { type AgentActor, unknownAgent } from '../../../coordination/gate.ts'
import { writeKey } from '../../../coordination/keys.ts'
import { exportLedger } from '../../../coordination/ledger.ts'
import { hasNews, ledgerSignature, type Signature } from '../../../coordination/ledger-files.ts'
import { type LogLine, logLineOf } from '../../../coordination/log-line.ts'
import { type Place, placeOf } from '../../../coordination/place.ts'
import type { ProcessRef } from '../../../coordination/process-ref.ts'
import { takeInRemote } from '../../../coordination/remote.ts'
import { HeimdallError } from '../../../errors.ts'
import { type Person, requirePerson } from '../../../person.ts'
import type { Context } from '../../command.ts'
import { optionsFor } from './store-options.ts'

/** For commands that may change something. What arrived from other machines is taken in first; the ledger is written last. */
export async function withRoom<T>(context: Context, act: (room: Coordination) => T | Promise<T>): Promise<T> {
  const room = openCoordination(await optionsFor(context))
  try {
    for (const skipped of (await takeInRemote(room)).skipped) context.note(`warning: ${skipped}`)
    try {
      return await act(room)
    } finally {
      await writeLedger(context, room)
    }
  } finally {
    room.store.close()
  }
}

/** For commands that change nothing: the answer is `otherwise` where nobody has coordinated anything yet. */
export async function withRoomToRead<T>(
  context: Context,
  act: (room: Coordination) => T | Promise<T>,
  otherwise: (options: CoordinationOptions) => T,
): Promise<T> {
  const options = await optionsFor(context)
  const signature = ledgerSignature(options.project)
  let room = openCoordinationToRead(options)
  if (room === undefined ? Object.keys(signature).length > 0 : hasNews(room, signature)) {
    const upToDate = await takeInNews(context, options, signature)
    if (upToDate !== undefined) room?.store.close()
    room = upToDate ?? room
  }
  if (room === undefined) return otherwise(options)
  try {
    return await act(room)
  } finally {
    room.store.close()
  }
}

/** Whoever only reads is answered from what is known, also where nothing can be written. */
async function takeInNews(
  context: Context,
  options: CoordinationOptions,
  signature: Signature,
): Promise<Coordination | undefined> {
  let room: Coordination | undefined
  try {
    room = openCoordination(options)
    for (const skipped of (await takeInRemote(room, signature)).skipped) context.note(`warning: ${skipped}`)
    return room
  } catch (error) {
    room?.store.close()
    if (!isUnwritable(error)) throw error
    context.note(`warning: what arrived by git is not taken in: ${error.message}`)
    return undefined
  }
}

/**
 * The change is committed by now and its answer stands, whatever becomes of the files: the next command writes them.
 * That goes for errors of our own too, which would otherwise take the answer's place.
 */
async function writeLedger(context: Context, room: Coordination): Promise<void> {
  try {
    const touched = callerOf(context, room).agent?.haid
    const written: LogLine[] = []
    await exportLedger(room, touched, (events) => written.push(...events.flatMap((event) => logLineOf(event) ?? [])))
    if (written.length > 0) await logLines(context, written)
  } catch (error) {
    context.note(`warning: the ledger files are behind: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function logLines(context: Context, lines: readonly LogLine[]): Promise<void> {
  const [{ planningOf }, { record }] = await Promise.all([
    import('../briefing/planning.ts'),
    import('../../../briefing/protocol-log.ts'),
  ])
  const planning = planningOf(context)
  for (const { actor, action, detail } of lines) record(planning, actor, action, detail)
}

/** The agent to act as, with proof: `--agent`, the session's, or what the environment says. */
export async function actorFor(
  context: Context,
  room: Coordination,
  named: string | undefined,
  flag = '--agent',
): Promise<AgentActor> {
  const asking = askingOf(context, named)
  const found = caller(room, asking)
  if (found.as === 'everybody')
    throw new HeimdallError('USAGE', `${flag} is required`, { hint: `pass ${flag} ID, or set BB_AGENT` })
  // Seed 002's agents are registered by name before they act; a session is somebody by itself.
  if (found.agent === undefined && found.proof !== 'process' && found.refused === undefined)
    throw unknownAgent(found.haid)
  return actAs(room, asking, found, keepKey(room))
}

/** For seed 000's commands: the current HAID acts, and is registered when it acts for the first time. */
export async function ledgerActor(context: Context, room: Coordination, named?: string): Promise<AgentActor> {
  const asking = askingOf(context, named)
  return actAs(room, asking, caller(room, asking), keepKey(room))
}

/** Who calls, for commands that change nothing. Asking about another is no borrowing. */
export function callerOf(context: Context, room: Coordination): Caller {
  return caller(room, askingOf(context, undefined))
}

let place: Place | undefined

export function askingOf({ env }: Pick<Context, 'env'>, named: string | undefined): Asking {
  place ??= placeOf()
  return { env, place, named }
}

/** Where a command is run, for what it registers: only a session holds what is registered in it. */
export function sessionTree(context: Context): ProcessRef | undefined {
  const { place: here } = askingOf(context, undefined)
  return here?.session === undefined ? undefined : here.tree
}

/** Keeps secrets in files that only their owner can read. */
export const keepKey =
  (room: Coordination): KeepSecret =>
  (haid, secret) =>
    writeKey(room.project, haid, secret)

/** What only a person may do: an agent's attempt is on record under its own name. */
export async function personIn(context: Context, room: Coordination, what: string, to: string | null): Promise<Person> {
  try {
    return requirePerson(what)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'PERSON_REQUIRED') throw error
    await recordRefusal(room, error, { by: nameToRecord(callerOf(context, room)), to })
    throw error
  }
}
