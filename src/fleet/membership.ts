// Becoming and ceasing to be a member: a store goes to an engine, is made from one, or comes back to its machine alone.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { type Clock, systemClock } from '../clock.ts'
import {
  type Coordination,
  type CoordinationOptions,
  openCoordination,
  openCoordinationToRead,
} from '../coordination/coordination.ts'
import { allOf } from '../coordination/annex.ts'
import { type Membership, membershipIn, otherMachine } from '../coordination/membership.ts'
import { momentOf, readMachine } from '../coordination/moment.ts'
import { carryOver, knownHereAlone } from '../coordination/sqlite/carried-over.ts'
import { forgetUnfinished, setLocalAnnex, setMembership } from '../coordination/sqlite/fleet-mark.ts'
import { placeIn } from '../coordination/sqlite/places.ts'
import { brokenness } from '../coordination/sqlite/store-file.ts'
import { storePath } from '../coordination/store-path.ts'
import { haidHere, isKeptHere } from '../coordination/who/former-names.ts'
import { slug } from '../coordination/who/haid.ts'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { FLEET_BRIEF_BYTES_MAX } from '../limits.ts'
import { asideName, putAside, type StoreAside } from './copies-aside.ts'
import { type AskEngine, Connection, type EngineAddress, type Sql } from './engine-connection.ts'
import { type FleetFile, fleetFilePath, readFleetFile, removeFleetFile, writeFleetFile } from './fleet-file.ts'
import { fleetDoor } from './door.ts'
import { ENGINE_VERSION } from './engine-schema.ts'
import { FORMAT, RULES } from './log-version.ts'
import { keepIfDue, makeFromEngine } from './snapshots.ts'

export interface JoiningFleet extends EngineAddress {
  readonly options: CoordinationOptions
  /** Of this program. */
  readonly version: string
  /** What this machine is to be called; another one may have the name already. */
  readonly machine?: string | undefined
}

export interface Joined {
  readonly project: string
  readonly machine: string
  /** Where the copy stands. */
  readonly seq: number
}

export interface JoinHow {
  /** A store that this machine has made alone is put beside its place; what is in it stays on this machine. */
  readonly setsAside: boolean
  /** A member's copy is made anew from what the engine has. */
  readonly rebuilds: boolean
  /** Looks whether this is the repository that the fleet was made from, by its first commits, and refuses another. */
  readonly checkRepository?: (roots: readonly string[]) => Promise<void>
}

export interface NewMember extends Joined {
  readonly asideAs: string | undefined
  /** Places of snapshots that are none. */
  readonly refusedSnapshots: readonly number[]
  /** The name that it would have had, were it not another's. */
  readonly renamedFrom: string | undefined
}

export async function joinFleet(joining: JoiningFleet, how: JoinHow): Promise<NewMember> {
  const { options, url, isPooled } = joining
  const path = storePath(options.project)
  const again = how.rebuilds ? undefined : await letInAgain(joining, path)
  if (again !== undefined) return again
  const there = roomFor(path, options, how)
  const { clock } = options
  const file = await onEngine(
    joining,
    async (ask): Promise<FleetFile> => {
      const { project, roots } = await ask(onlyProject)
      await how.checkRepository?.(roots)
      // A copy that is made again, and a join that was cut short, is the same member's, under the same name.
      const before = fleetDoor.isJoined(options) ? readFleetFile(options) : undefined
      if (before?.project === project) return { ...before, url, isPooled }
      return { url, isPooled, project, member: newMember(), machine: nameOf(joining), isJoining: true }
    },
    clock,
  )
  // Before anything else knows of it: killed from here on, this machine is the one that comes back.
  writeFleetFile(options, file)
  const carried = there === undefined || there.isBroken ? undefined : knownHereAlone(path, file)
  const refusedSnapshots = await onEngine(
    file,
    async (ask) => {
      const { machine } = await ask((sql) => enter(sql, file, joining.version))
      const { project, member } = file
      writeFleetFile(options, { ...file, machine })
      if (there !== undefined) putAside(path, there)
      const now = momentOf(systemClock, options.machine ?? readMachine())
      return makeFromEngine(ask, project, path, { membership: { project, member, machine }, now, carried })
    },
    clock,
  )
  const joined = await finishJoining(joining, path)
  await onEngine(file, (ask) => keepIfDue(ask, file.project, path), clock)
  return { ...joined, asideAs: there?.asideAs, refusedSnapshots }
}

/** A member that has got a new line, or whose join was killed once it had its copy: that, its name and what it has in doubt stay. */
async function letInAgain(joining: JoiningFleet, path: string): Promise<NewMember | undefined> {
  const { url, isPooled, version, options } = joining
  if (!existsSync(path) || !fleetDoor.isJoined(options)) return undefined
  const before = readFleetFile(options)
  const mark = markIn(options)
  if (mark?.member !== before.member) return undefined
  const file = { ...before, url, isPooled }
  const { project, member } = file
  const { machine } = await onEngine(file, async (ask) => {
    if ((await ask(onlyProject)).project !== project) throw joinedAlready(project)
    return ask((sql) => enter(sql, file, version))
  })
  writeFleetFile(options, { ...file, machine })
  // Another has the name of one that was expelled. One that is about to get a name has had none.
  if (machine !== mark.machine)
    setMembership(path, { project, member, machine }, file.isJoining === true ? undefined : mark.machine)
  return { ...(await finishJoining(joining, path)), asideAs: undefined, refusedSnapshots: [] }
}

/** What is left to do once the copy is there. Each part can be done again. */
async function finishJoining(
  joining: JoiningFleet,
  path: string,
): Promise<Omit<NewMember, 'asideAs' | 'refusedSnapshots'>> {
  const { options } = joining
  await inRoom(options, (room) => room.store.catchUp())
  carryOver(path)
  const isNew = readFleetFile(options).isJoining === true
  const renamedFrom = isNew ? await giveOwnName(joining, path) : undefined
  const { isJoining: _, ...file } = readFleetFile(options)
  if (isNew) writeFleetFile(options, file)
  return { project: file.project, machine: file.machine, seq: placeIn(path).at.seq, renamedFrom }
}

/**
 * A machine that is new under a name which another had (another clone in the same folder, a runner that is made anew for
 * each job) would be taken for that one and could prove nothing: it gets a name of its own. Returns the one that it has
 * not got.
 */
async function giveOwnName({ options, version }: JoiningFleet, path: string): Promise<string | undefined> {
  const file = readFleetFile(options)
  const { project, member, machine: first } = file
  for (let number = 2, machine = first; ; number += 1) {
    if (!isAnothers(options)) return machine === first ? undefined : first
    const wanted = { ...file, machine: `${first}-${number}` }
    ;({ machine } = await onEngine(wanted, (ask) => ask((sql) => enter(sql, wanted, version))))
    writeFleetFile(options, { ...wanted, machine })
    setMembership(path, { project, member, machine })
  }
}

/** The name that everybody here would act under is known, and its key is elsewhere. */
function isAnothers(options: CoordinationOptions): boolean {
  const room = openCoordinationToRead(options)
  try {
    return (
      room?.store.read((rows) => {
        const known = rows.agent(haidHere(room, rows))
        return known !== undefined && !isKeptHere(room, known)
      }) === true
    )
  } finally {
    room?.store.close()
  }
}

/** Everything that the fleet knows stays here; the log goes on in this store alone. */
export async function leaveFleet(
  options: CoordinationOptions,
  file: FleetFile | undefined,
): Promise<{ readonly seq: number; readonly claims: number }> {
  const path = storePath(options.project)
  const mark = existsSync(path) ? markIn(options) : undefined
  if (file !== undefined) {
    if (mark?.member === file.member) {
      const beside = await inRoom(options, async ({ store }) => {
        await store.catchUp()
        return allOf(store.annex, FLEET_BRIEF_BYTES_MAX)
      })
      setLocalAnnex(path, beside, systemClock.wallMs())
    }
    await onEngine(file, (ask) => ask((sql) => sql`SELECT heimdall.leave(${file.project}, ${file.member})`.execute()))
  }
  const claims = mark === undefined ? 0 : claimsHere(options)
  // A create that was killed at its very end was finished all the same: its project is the fleet's, and no other create's to take up.
  if (mark !== undefined && fleetDoor.isJoined(options)) forgetUnfinished(path)
  // A copy that is gone stays gone: a new store begins with the first change.
  const seq = mark === undefined ? 0 : setMembership(path, undefined).seq
  removeFleetFile(options)
  return { seq, claims }
}

/** What agents of this machine hold. */
function claimsHere(options: CoordinationOptions): number {
  const room = openCoordinationToRead(options)
  try {
    return (
      room?.store.read(
        (rows) =>
          rows.claims({ state: 'active' }).filter(({ holder }) => otherMachine(room, rows, holder) === undefined)
            .length,
      ) ?? 0
    )
  } finally {
    room?.store.close()
  }
}

/** Another member's place is free, and nobody waits for its signs. Returns how long ago it was heard. */
export async function expelMember(file: FleetFile, machine: string): Promise<number> {
  const { project } = file
  return onEngine(file, async (ask) => {
    // Tables of an earlier version would still let it append.
    await ask(onlyProject)
    const rows = await ask(
      (sql) => sql<{ member: string; machine: string; heard: number }[]>`SELECT member, machine,
        (extract(epoch FROM clock_timestamp() - heard) * 1000)::float8 AS heard
        FROM heimdall.members WHERE project = ${project} AND gone IS NULL ORDER BY machine`,
    )
    const meant = rows.find((row) => row.machine === machine)
    if (meant === undefined)
      throw new HeimdallError('FLEET_UNKNOWN', `no member of this fleet is called ${printable(machine)}`, {
        hint: `members are ${rows.map((row) => row.machine).join(', ')}`,
      })
    await ask((sql) => sql`SELECT heimdall.leave(${project}, ${meant.member})`.execute())
    return meant.heard
  })
}

function markIn(options: CoordinationOptions): Membership | undefined {
  const room = openCoordinationToRead(options)
  try {
    return room === undefined ? undefined : membershipIn(room.store)
  } finally {
    room?.store.close()
  }
}

/** Returns what the machine is called there. */
export async function enter(
  sql: Sql,
  { project, member, machine }: FleetFile,
  version: string,
): Promise<Pick<Membership, 'machine'>> {
  const [row] = await sql<{ machine: string; format: number; rules: number }[]>`
    SELECT machine, format, rules FROM heimdall.enter(${project}, ${member}, ${machine}, ${version}, ${FORMAT}, ${RULES})`
  if (row === undefined) throw noProject()
  if (row.format > FORMAT || row.rules > RULES)
    throw new HeimdallError('FLEET_NEWER', 'the fleet is written by a newer version of Heimdall', {
      hint: 'update Heimdall on this machine',
    })
  return { machine: row.machine }
}

/** The role sees one, by row-level security. Tables of another version may lack the column. */
async function onlyProject(sql: Sql): Promise<{ readonly project: string; readonly roots: readonly string[] }> {
  const rows = await sql<{ id: string; engine_version: number; roots: string | null }[]>`SELECT id, engine_version,
    to_jsonb(p) ->> 'roots' AS roots FROM heimdall.projects p WHERE member_role = session_user`
  const [row] = rows
  if (row === undefined) throw noProject()
  if (row.engine_version !== ENGINE_VERSION)
    throw new HeimdallError(
      'FLEET_NEWER',
      `the engine has version ${row.engine_version} of the fleet's tables, this program knows ${ENGINE_VERSION}`,
      {
        hint: 'use the same version of Heimdall on all machines',
      },
    )
  return { project: row.id, roots: (row.roots ?? '').split(' ').filter((root) => root !== '') }
}

/** Where the store that is there goes. Nothing when there is none. */
function roomFor(path: string, options: CoordinationOptions, { setsAside, rebuilds }: JoinHow): StoreAside | undefined {
  if (!existsSync(path)) return undefined
  const nowMs = systemClock.wallMs()
  // Whatever it was, nobody knows what is in it.
  if ((rebuilds || setsAside) && brokenness(path) !== undefined)
    return { asideAs: asideName(path, nowMs, false), isBroken: true }
  const room = openCoordination(options)
  const known = membershipIn(room.store)
  const isEmpty = room.store.read((rows) => rows.head()) === 0
  room.store.close()
  const aside = { asideAs: asideName(path, nowMs, known !== undefined), isBroken: false }
  if (known !== undefined) {
    const { pending } = placeIn(path)
    // A copy of another place's store is none of this one's.
    if (!rebuilds && existsSync(fleetFilePath(options))) throw joinedAlready(known.project)
    if (pending !== undefined && !setsAside && existsSync(fleetFilePath(options)))
      throw new HeimdallError('OUTCOME_UNKNOWN', `what became of entry ${pending} is not known yet`, {
        hint: 'any command settles it while the engine answers; --set-aside gives it up and keeps the old copy',
        details: { entry: pending },
      })
    return aside
  }
  if (isEmpty || setsAside || rebuilds) return aside
  throw new HeimdallError('FLEET_JOINED', 'this machine has agents and claims of its own for this repository', {
    hint: 'heimdall fleet join --set-aside keeps them in a file beside it; or make the fleet from here: heimdall fleet create',
  })
}

async function inRoom<T>(options: CoordinationOptions, act: (room: Coordination) => Promise<T>): Promise<T> {
  const room = openCoordination({ ...options, fleet: fleetDoor })
  try {
    return await act(room)
  } finally {
    room.store.close()
  }
}

/** Each question has the time of an answer, however many there are. */
export async function onEngine<T>(
  address: EngineAddress,
  act: (ask: AskEngine) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const engine = new Connection(address, clock)
  try {
    return await act((question) => engine.ask(question))
  } finally {
    await engine.drop()
  }
}

export const newMember = (): string => randomBytes(8).toString('hex')

export function nameOf({ machine, options }: JoiningFleet): string {
  return slug(machine ?? hostOf(options)) || 'machine'
}

export const hostOf = ({ machine }: CoordinationOptions): string => machine?.host ?? hostname()

export function joinedAlready(project: string): HeimdallError {
  return new HeimdallError('FLEET_JOINED', `this store belongs to fleet project ${project} already`, {
    hint: 'heimdall fleet status shows it; heimdall fleet leave makes it a store of its own',
  })
}

function noProject(): HeimdallError {
  return new HeimdallError('ENGINE_REFUSED', 'this role has no project on the engine', {
    hint: 'use the join line that heimdall fleet create or invite printed; an owner’s URL is for create, invite and delete',
  })
}
