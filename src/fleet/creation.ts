// A fleet is made: a store's log goes on in an engine. What fails on the way is taken back there, or by the next try.
import { existsSync } from 'node:fs'
import { openCoordination } from '../coordination/coordination.ts'
import type { Membership } from '../coordination/membership.ts'
import { momentOf, readMachine } from '../coordination/moment.ts'
import { seatsOf } from '../coordination/sqlite/fleet-in-making.ts'
import {
  beginFleet,
  type BegunFleet,
  finishFleet,
  forgetUnfinished,
  setMembership,
  unfinishedFleet,
} from '../coordination/sqlite/fleet-mark.ts'
import { placeIn } from '../coordination/sqlite/places.ts'
import { storePath } from '../coordination/store-path.ts'
import { HeimdallError } from '../errors.ts'
import { fleetDoor } from './door.ts'
import { createEngineAnnex } from './engine-annex.ts'
import type { HeldConnection } from './engine-connection.ts'
import { type FleetFile, readFleetFile, removeFleetFile, writeFleetFile } from './fleet-file.ts'
import {
  enter,
  hostOf,
  type Joined,
  joinedAlready,
  type JoiningFleet,
  nameOf,
  newMember,
  onEngine,
} from './membership.ts'
import { asOwner } from './owner.ts'
import { makeProject, memberUrl, newProjectId, projectsIn, removeProject } from './project.ts'
import { keepState } from './snapshots.ts'

interface NewFleet extends JoiningFleet {
  /** Of the project, for people. */
  readonly name: string
  /** First commits of the repository; none where nobody can say. */
  readonly roots?: readonly string[]
}

interface CreatedFleet extends Joined {
  readonly joinUrl: string
}

/** With an owner's URL. Returns the URL of members, which is to be shown once and kept nowhere but in their files. */
export async function createFleet(joining: NewFleet): Promise<CreatedFleet> {
  const { options } = joining
  const path = storePath(options.project)
  const before = madeBefore(joining, path)
  if (before !== undefined) return before
  // Makes the store where there is none, and settles what one that was killed has left in it.
  openCoordination({ ...options, fleet: fleetDoor }).store.close()
  const seats = seatsOf(path)
  try {
    const fresh = { project: newProjectId(), member: newMember(), machine: nameOf(joining) }
    const begun = beginFleet(path, fresh, { host: hostOf(options), seat: seats.take() })
    if (begun.kind === 'joined') throw joinedAlready(begun.project)
    if (begun.kind === 'making') throw underWay()
    return await make(joining, path, begun)
  } finally {
    seats.leave()
  }
}

/** A create that was killed after its last word to the engine has made the fleet: only its line was never shown. */
function madeBefore({ options, url }: NewFleet, path: string): CreatedFleet | undefined {
  if (!existsSync(path) || !fleetDoor.isJoined(options)) return undefined
  const file = readFleetFile(options)
  const { project, member, machine } = file
  if (unfinishedFleet(path)?.member !== member || !isSameDatabase(file.url, url)) return undefined
  finishFleet(path, momentOf(options.clock, options.machine ?? readMachine()))
  return { project, machine, seq: placeIn(path).at.seq, joinUrl: file.url }
}

function isSameDatabase(one: string, other: string): boolean {
  if (!URL.canParse(other)) return false
  const [a, b] = [new URL(one), new URL(other)]
  return a.host === b.host && a.pathname === b.pathname
}

async function make(
  joining: NewFleet,
  path: string,
  { membership, isTakenUp, at, beside }: Extract<BegunFleet, { kind: 'begun' }>,
): Promise<CreatedFleet> {
  const { options, url, isPooled } = joining
  const { project, member } = membership
  let isThere = isTakenUp
  try {
    const made = await asOwner(url, async (ask) => {
      // What there is of one that was killed, or could not clean up after itself, is replaced, unless others live in it.
      if (isTakenUp && (await hasOthers(ask, membership))) return undefined
      return makeProject(ask, { project, name: joining.name, roots: joining.roots, at })
    })
    isThere = made !== undefined
    if (made === undefined) throw inhabited(project)
    const file: FleetFile = { ...membership, url: memberUrl(url, made), isPooled }
    const { machine } = await asNewMember(file, async (ask) => {
      const entered = await ask((sql) => enter(sql, file, joining.version))
      if (at.seq > 0) await keepState(ask, project, path)
      const annex = createEngineAnnex({ ask }, project)
      for (const { name, text } of beside) await annex.lay(name, text)
      return entered
    })
    writeFleetFile(options, { ...file, machine })
    finishFleet(path, momentOf(options.clock, options.machine ?? readMachine()))
    return { project, machine, seq: at.seq, joinUrl: file.url }
  } catch (error) {
    removeFleetFile(options)
    setMembership(path, undefined)
    isThere ||= !(error instanceof HeimdallError) || error.code === 'OUTCOME_UNKNOWN'
    const isGone = !isThere || (await isTakenBack(url, { project, member }))
    if (isGone) forgetUnfinished(path)
    throw told(error, isGone)
  }
}

/** Somebody may have been invited to a project whose making was never finished. Nobody comes in until the transaction ends. */
async function hasOthers(
  ask: HeldConnection['ask'],
  { project, member }: Pick<Membership, 'project' | 'member'>,
): Promise<boolean> {
  if (!(await projectsIn(ask)).some((known) => known.project === project)) return false
  await ask((sql) => sql`SELECT FROM heimdall.lines WHERE project = ${project} FOR UPDATE`.execute())
  const others = await ask((sql) =>
    sql`SELECT FROM heimdall.members
      WHERE project = ${project} AND member <> ${member} AND gone IS NULL LIMIT 1`.execute(),
  )
  return others.length > 0
}

/** The role is a moment old: whoever is asked for it and knows the owner keeps a list of its own. */
async function asNewMember<T>(file: FleetFile, act: Parameters<typeof onEngine<T>>[1]): Promise<T> {
  try {
    return await onEngine(file, act)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'ENGINE_REFUSED') throw error
    throw new HeimdallError(error.code, `the role that was made for members is not let in: ${error.message}`, {
      hint: 'a pooler that keeps a list of users does not know it: let it ask the server (auth_query), or use the URL of the server itself',
      cause: error.cause,
    })
  }
}

/** Not when the engine is away: the next create finds the id in the store. What others live in stays theirs. */
async function isTakenBack(ownerUrl: string, own: Pick<Membership, 'project' | 'member'>): Promise<boolean> {
  try {
    await asOwner(ownerUrl, async (ask) => {
      if (!(await hasOthers(ask, own))) await removeProject(ask, own.project)
    })
    return true
  } catch (error) {
    if (error instanceof HeimdallError) return false
    throw error
  }
}

function inhabited(project: string): HeimdallError {
  return new HeimdallError('FLEET_JOINED', `project ${project}, which was begun from this store, has members by now`, {
    hint: 'heimdall fleet invite gives a line to join it with; heimdall fleet create, once more, makes another one',
  })
}

function underWay(): HeimdallError {
  return new HeimdallError('STORE_BUSY', 'another process makes a fleet of this store', {
    hint: 'heimdall fleet status shows it when it is done',
  })
}

/** Of an answer that was lost it is known by now what became of it, or who will know. */
function told(error: unknown, isGone: boolean): unknown {
  if (!(error instanceof HeimdallError) || error.code !== 'OUTCOME_UNKNOWN') return error
  const hint = isGone
    ? 'nothing of it is left on the engine; run the command again'
    : 'run the command again when the engine is back: it takes up what may have been left there'
  return new HeimdallError(error.code, error.message, { hint, cause: error.cause })
}
