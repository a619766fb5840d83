// A fleet is made: a store's log goes on in an engine. What fails on the way is taken back there, or by the next try.
import { allOf } from '../coordination/annex.ts'
import { openCoordination } from '../coordination/coordination.ts'
import { membershipIn } from '../coordination/membership.ts'
import { momentOf, readMachine } from '../coordination/moment.ts'
import { finishFleet, setMembership, setUnfinishedFleet, unfinishedFleet } from '../coordination/sqlite/fleet-mark.ts'
import { storePath } from '../coordination/store-path.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_BRIEF_BYTES_MAX } from '../limits.ts'
import { createEngineAnnex } from './engine-annex.ts'
import { type FleetFile, writeFleetFile } from './fleet-file.ts'
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
import { keepState } from './snapshots.ts'
import { asOwner } from './owner.ts'
import { makeProject, memberUrl, newProjectId, removeProject } from './project.ts'

interface NewFleet extends JoiningFleet {
  /** Of the project, for people. */
  readonly name: string
  /** First commits of the repository; none where nobody can say. */
  readonly roots?: readonly string[]
}

/** With an owner's URL. Returns the URL of members, which is to be shown once and kept nowhere but in their files. */
export async function createFleet(joining: NewFleet): Promise<Joined & { joinUrl: string }> {
  const { options, url, isPooled } = joining
  const path = storePath(options.project)
  const room = openCoordination(options)
  const known = membershipIn(room.store)
  const unfinished = unfinishedFleet(path)
  const isOwn = known === undefined || known.project === unfinished
  const beside = isOwn ? await allOf(room.store.annex, FLEET_BRIEF_BYTES_MAX) : []
  room.store.close()
  if (!isOwn) throw joinedAlready(known.project)
  // Of one that was killed, or could not clean up after itself, this is the same project: what there is of it is replaced.
  const project = unfinished ?? newProjectId()
  const member = newMember()
  const machine = nameOf(joining)
  // From here on nobody changes this store: where the log begins stands still while the engine is told of it.
  setUnfinishedFleet(path, project)
  const at = setMembership(path, { project, member, machine }, hostOf(options))
  let isThere = unfinished !== undefined
  try {
    const made = await asOwner(url, (ask) =>
      makeProject(ask, { project, name: joining.name, roots: joining.roots, at }),
    )
    isThere = true
    const file: FleetFile = { url: memberUrl(url, made), isPooled, project, member, machine }
    const entered = await asNewMember(file, async (ask) => {
      const place = await ask((sql) => enter(sql, file, joining.version))
      if (at.seq > 0) await keepState(ask, project, path)
      const annex = createEngineAnnex({ ask }, project)
      for (const { name, text } of beside) await annex.lay(name, text)
      return place
    })
    writeFleetFile(options, { ...file, machine: entered.machine })
    finishFleet(path, momentOf(options.clock, options.machine ?? readMachine()))
    return { project, machine: entered.machine, seq: at.seq, joinUrl: file.url }
  } catch (error) {
    setMembership(path, undefined)
    isThere ||= !(error instanceof HeimdallError) || error.code === 'OUTCOME_UNKNOWN'
    const isGone = !isThere || (await isTakenBack(url, project))
    if (isGone) setUnfinishedFleet(path, undefined)
    throw told(error, isGone)
  }
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

/** Not when the engine is away: the next create finds the id in the store. */
async function isTakenBack(ownerUrl: string, project: string): Promise<boolean> {
  try {
    await asOwner(ownerUrl, (ask) => removeProject(ask, project))
    return true
  } catch (error) {
    if (error instanceof HeimdallError) return false
    throw error
  }
}

/** Of an answer that was lost it is known by now what became of it, or who will know. */
function told(error: unknown, isGone: boolean): unknown {
  if (!(error instanceof HeimdallError) || error.code !== 'OUTCOME_UNKNOWN') return error
  const hint = isGone
    ? 'nothing of it is left on the engine; run the command again'
    : 'run the command again when the engine is back: it takes up what may have been left there'
  return new HeimdallError(error.code, error.message, { hint, cause: error.cause })
}
