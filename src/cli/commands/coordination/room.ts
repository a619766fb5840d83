// What the commands of coordination share: opening the repository's store, knowing who calls, and writing the ledger afterwards.
import {
  type Coordination,
  type CoordinationOptions,
  openCoordination,
  openCoordinationToRead,
} from '../../../coordination/coordination.ts'
import { type AgentActor, findAgent, unknownAgent } from '../../../coordination/gate.ts'
import { type KeepSecret, registerHaid } from '../../../coordination/identity.ts'
import { readKey, writeKey } from '../../../coordination/keys.ts'
import { exportLedger } from '../../../coordination/ledger.ts'
import { hasNews, ledgerSignature, type Signature } from '../../../coordination/ledger-files.ts'
import { takeInRemote } from '../../../coordination/remote.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Context } from '../../command.ts'
import { actorName, optionsFor, SECRET_VARIABLE } from './caller.ts'

/** For commands that may change something. What arrived from other machines is taken in first; the ledger is written last. */
export async function withRoom<T>(context: Context, act: (room: Coordination) => T | Promise<T>): Promise<T> {
  const room = openCoordination(await optionsFor(context))
  try {
    for (const skipped of takeInRemote(room).skipped) context.note(`warning: ${skipped}`)
    const touched = actorName(context)
    try {
      return await act(room)
    } finally {
      await writeLedger(
        context,
        room,
        touched === undefined ? undefined : room.store.read((rows) => findAgent(rows, touched)?.haid),
      )
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
    const upToDate = takeInNews(context, options, signature)
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
function takeInNews(context: Context, options: CoordinationOptions, signature: Signature): Coordination | undefined {
  let room: Coordination | undefined
  try {
    room = openCoordination(options)
    for (const skipped of takeInRemote(room, signature).skipped) context.note(`warning: ${skipped}`)
    return room
  } catch (error) {
    room?.store.close()
    if (!(error instanceof HeimdallError) || !['STORE_FULL', 'STORE_UNREADABLE', 'STORE_BUSY'].includes(error.code))
      throw error
    context.note(`warning: what arrived by git is not taken in: ${error.message}`)
    return undefined
  }
}

/**
 * The change is committed by now and its answer stands, whatever becomes of the files: the next command writes them.
 * That goes for errors of our own too, which would otherwise take the answer's place.
 */
async function writeLedger(context: Context, room: Coordination, touched: string | undefined): Promise<void> {
  try {
    await exportLedger(room, touched)
  } catch (error) {
    context.note(`warning: the ledger files are behind: ${error instanceof Error ? error.message : String(error)}`)
  }
}

export { ACTOR_VARIABLES, actorName, SECRET_VARIABLE } from './caller.ts'

/** The agent to act as, with proof: `--agent`, or the environment's. */
export function actorFor(
  context: Context,
  room: Coordination,
  named: string | undefined,
  flag = '--agent',
): AgentActor {
  const name = named ?? actorName(context)
  if (name === undefined)
    throw new HeimdallError('USAGE', `${flag} is required`, { hint: `pass ${flag} ID, or set BB_AGENT` })
  const agent = room.store.read((rows) => findAgent(rows, name))
  if (agent === undefined) throw unknownAgent(name)
  return proven(context, room, agent.haid)
}

/** For seed 000's commands: the current HAID acts, and is registered when it acts for the first time. */
export function ledgerActor(context: Context, room: Coordination, named?: string): AgentActor {
  const name = named ?? actorName(context) ?? room.rootHaid
  const agent = room.store.read((rows) => findAgent(rows, name))
  if (agent !== undefined) return proven(context, room, agent.haid)
  if (!name.startsWith('haid:')) throw unknownAgent(name)
  registerHaid(room, name, {}, keepKey(room))
  return proven(context, room, name)
}

/** Keeps secrets in files that only their owner can read. */
export const keepKey =
  (room: Coordination): KeepSecret =>
  (haid, secret) =>
    writeKey(room.project, haid, secret)

function proven(context: Context, room: Coordination, haid: string): AgentActor {
  const secret = context.env[SECRET_VARIABLE]
  if (secret === undefined || secret === '') return { kind: 'agent', haid, secret: readKey(room.project, haid) ?? null }
  const own = actorName(context)
  const ownHaid = own === undefined ? undefined : room.store.read((rows) => findAgent(rows, own)?.haid)
  if (ownHaid === haid) return { kind: 'agent', haid, secret }
  // A wrong secret on purpose: the gate refuses it, and the attempt is on record.
  return { kind: 'agent', haid, secret: null }
}
