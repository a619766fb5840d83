// Opens the coordination store for a command, and resolves the agent that the command acts as.
import { type Coordination, type CoordinationOptions, lostCopy } from '../coordination/coordination.ts'
import { actAs, askingHere, caller, type Caller, nameToRecord, recordRefusal } from '../coordination/who/caller.ts'
import { type Door, withRoom as within, withRoomToRead as withinToRead } from '../coordination/frame.ts'
import { type AgentActor, unknownAgent } from '../coordination/change.ts'
import { lossText, tellLoss } from '../coordination/claims/held.ts'
import type { ProcessRef } from '../coordination/who/process-ref.ts'
import { roomOptions, type Surroundings } from '../coordination/room-options.ts'
import { oldCopyText } from '../coordination/membership.ts'
import { HeimdallError } from '../errors.ts'
import { fleetDoor } from '../fleet/door.ts'
import { FLEET_CHECK_OLD_MS } from '../limits.ts'
import { type Person, requirePerson } from '../person.ts'
import type { Context } from './command.ts'
import { usageError } from './usage-error.ts'

/** For commands that may change the store. */
export async function withStore<T>(context: Context, act: (db: Coordination) => T | Promise<T>): Promise<T> {
  return within(await openingOf(context), act)
}

/**
 * For commands that only read: the answer is `otherwise` where there is no store yet. A fleet copy older than `oldMs` is
 * noted, because it may lack claims of other machines.
 */
export async function withStoreToRead<T>(
  context: Context,
  act: (db: Coordination) => T | Promise<T>,
  otherwise: (options: CoordinationOptions) => T,
  oldMs = FLEET_CHECK_OLD_MS,
): Promise<T> {
  const actAndTell = async (db: Coordination): Promise<T> => {
    const answer = await act(db)
    const old = oldCopyText(db.store, db.now(), oldMs)
    if (old !== undefined) context.note(`note: ${old}`)
    return answer
  }
  return withinToRead(await openingOf(context), actAndTell, (options) => {
    // Other machines may hold claims that a lost copy does not show.
    if (fleetDoor.isJoined(options)) throw lostCopy(true)
    return otherwise(options)
  })
}

const surroundingsOf = ({ cwd, env, clock, configFile }: Context): Surroundings => ({ cwd, env, clock, configFile })

/** For commands that open the store themselves to change it. */
export const changingOptions = (context: Context): Promise<CoordinationOptions> =>
  roomOptions({ ...surroundingsOf(context), fleet: fleetDoor })

async function openingOf(context: Context): Promise<Door> {
  return {
    options: await changingOptions(context),
    asking: askingHere(context.env),
    note: (line) => context.note(`warning: ${line}`),
  }
}

/** The agent to act as, with proof: `--agent`, the session's, or what the environment says. */
export async function actorFor(
  context: Context,
  db: Coordination,
  named: string | undefined,
  flag = '--agent',
): Promise<AgentActor> {
  const asking = askingHere(context.env, named)
  const found = caller(db, asking)
  if (found.as === 'everybody') throw usageError(`${flag} is required`, `pass ${flag} ID, or set BB_AGENT`)
  // Seed 002's agents are registered by name before they act; a session has an identity of its own.
  if (found.agent === undefined && found.proof !== 'process' && found.refused === undefined)
    throw db.store.read((rows) => unknownAgent(named ?? found.haid, rows))
  return told(context, db, await actAs(db, asking, found))
}

/** For seed 000's commands: the current HAID acts, and is registered at its first change. */
export async function ledgerActor(context: Context, db: Coordination, named?: string): Promise<AgentActor> {
  return told(context, db, await renewingActor(context, db, named))
}

/** For a command whose answer is what the agent has lost. */
export function renewingActor(context: Context, db: Coordination, named?: string): Promise<AgentActor> {
  const asking = askingHere(context.env, named)
  return actAs(db, asking, caller(db, asking))
}

/** An agent whose claim was taken over learns of it from whatever it does next. */
async function told(context: Context, db: Coordination, actor: AgentActor): Promise<AgentActor> {
  const loss = await tellLoss(db, actor)
  if (loss !== undefined) context.note(`warning: ${loss}`)
  return actor
}

/** The same for a command that only reads. */
export function noteLoss(context: Context, db: Coordination, haid: string): void {
  const loss = db.store.read((rows) => lossText(rows, haid))
  if (loss !== undefined) context.note(`warning: ${loss}`)
}

/** The caller, for commands that only read. */
export function callerOf(context: Context, db: Coordination): Caller {
  return caller(db, askingHere(context.env))
}

/** The process tree that holds what a command registers: that of a session, or of a host outside one. */
export function sessionTree(context: Context): ProcessRef | undefined {
  const { place: here } = askingHere(context.env)
  return here?.session === undefined && here?.host === undefined ? undefined : here.tree
}

/** For what needs a human: an agent's attempt is recorded under its own name. */
export async function personIn(context: Context, db: Coordination, what: string, to: string | null): Promise<Person> {
  try {
    return requirePerson(what)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'PERSON_REQUIRED') throw error
    await recordRefusal(db, error, { by: nameToRecord(callerOf(context, db)), to })
    throw error
  }
}
