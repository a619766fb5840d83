// Becoming and ceasing to be a member: a store goes to an engine, is made from one, or comes back to its machine alone.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type Clock, systemClock } from '../clock.ts'
import {
  type Coordination,
  type CoordinationOptions,
  openCoordination,
  openCoordinationToRead,
} from '../coordination/coordination.ts'
import { allOf } from '../coordination/annex.ts'
import { type Membership, membershipIn } from '../coordination/membership.ts'
import { momentOf, readMachine } from '../coordination/moment.ts'
import type { EntryPlace } from '../coordination/shared-log.ts'
import { makeStore, placeIn, setLocalAnnex, setMembership, wholeState } from '../coordination/sqlite/whole-state.ts'
import { storePath } from '../coordination/store-path.ts'
import { slug } from '../coordination/who/haid.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_BRIEF_BYTES_MAX, FLEET_SNAPSHOT_EVERY, FLEET_SNAPSHOT_PART_BYTES } from '../limits.ts'
import { Connection, type EngineAddress, type Sql } from './engine-connection.ts'
import { createEngineAnnex } from './engine-annex.ts'
import { type FleetFile, fleetFilePath, readFleetFile, removeFleetFile, writeFleetFile } from './fleet-file.ts'
import { fleetDoor } from './door.ts'
import { makeProject, memberUrl, newProjectId } from './project.ts'
import { ENGINE_VERSION } from './engine-schema.ts'
import { FORMAT, RULES } from './log-version.ts'

interface Joining extends EngineAddress {
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

/** With an owner's URL. Returns the URL of members, which is to be shown once and kept nowhere but in their files. */
export async function createFleet(joining: Joining & { readonly name: string }): Promise<Joined & { joinUrl: string }> {
  const { options, url, isPooled } = joining
  const path = storePath(options.project)
  const room = openCoordination(options)
  const known = membershipIn(room.store)
  const beside = known === undefined ? await allOf(room.store.annex, FLEET_BRIEF_BYTES_MAX) : []
  room.store.close()
  if (known !== undefined) throw joinedAlready(known.project)
  const project = newProjectId()
  const member = newMember()
  const machine = nameOf(joining)
  // From here on nobody changes this store: where the log begins stands still while the engine is told of it.
  const at = setMembership(path, { project, member, machine })
  try {
    const made = await onEngine(joining, (ask) => ask((sql) => makeProject(sql, { project, name: joining.name, at })))
    const file: FleetFile = { url: memberUrl(url, made), isPooled, project, member, machine }
    const entered = await onEngine(file, async (ask) => {
      const place = await ask((sql) => enter(sql, file, joining.version))
      if (at.seq > 0) await keepState(ask, project, path)
      const annex = createEngineAnnex({ ask }, project)
      for (const { name, text } of beside) await annex.lay(name, text)
      return place
    })
    writeFleetFile(options, { ...file, machine: entered.machine })
    setLocalAnnex(path, [], systemClock.wallMs())
    return { project, machine: entered.machine, seq: at.seq, joinUrl: file.url }
  } catch (error) {
    setMembership(path, undefined)
    throw error
  }
}

export interface JoinHow {
  /** A store that this machine has made alone is put beside its place; what is in it stays on this machine. */
  readonly setsAside: boolean
  /** A member's copy is made anew from what the engine has. */
  readonly rebuilds: boolean
}

export async function joinFleet(joining: Joining, how: JoinHow): Promise<Joined & { asideAs: string | undefined }> {
  const { options } = joining
  const path = storePath(options.project)
  const asideAs = roomFor(path, options, how)
  const { clock } = options
  const file = await onEngine(
    joining,
    async (ask) => {
      const project = await ask(onlyProject)
      // A copy that is made again, and a join that was cut short, is the same member's, under the same name.
      const before = fleetDoor.isJoined(options) ? readFleetFile(options) : undefined
      const { member, machine } =
        before?.project === project ? before : { member: newMember(), machine: nameOf(joining) }
      return { url: joining.url, isPooled: joining.isPooled, project, member, machine }
    },
    clock,
  )
  // Before anything else knows of it: killed from here on, this machine is the one that comes back.
  writeFleetFile(options, file)
  const made = await onEngine(
    file,
    async (ask) => {
      const entered = await ask((sql) => enter(sql, file, joining.version))
      const membership = { project: file.project, member: file.member, machine: entered.machine }
      const state = entered.snapshot === null ? undefined : await readState(ask, file.project, entered.snapshot)
      if (state === undefined && entered.seq > 0) await ask((sql) => refuseTrimmed(sql, file.project))
      writeFleetFile(options, { ...file, ...membership })
      makeStore(path, { state, membership, asideAs, now: momentOf(systemClock, options.machine ?? readMachine()) })
      return membership
    },
    clock,
  )
  const seq = await inRoom(options, async (room) => {
    await room.store.catchUp()
    return room.store.read((rows) => rows.head())
  })
  await onEngine(file, (ask) => keepIfDue(ask, file.project, path), clock)
  return { project: file.project, machine: made.machine, seq, asideAs }
}

/** Everything that the fleet knows stays here; the log goes on in this store alone. */
export async function leaveFleet(options: CoordinationOptions, file: FleetFile | undefined): Promise<{ seq: number }> {
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
  // A copy that is gone stays gone: a new store begins with the first change.
  const seq = mark === undefined ? 0 : setMembership(path, undefined).seq
  removeFleetFile(options)
  return { seq }
}

function markIn(options: CoordinationOptions): Membership | undefined {
  const room = openCoordinationToRead(options)
  try {
    return room === undefined ? undefined : membershipIn(room.store)
  } finally {
    room?.store.close()
  }
}

/** One every so many entries: whoever joins after it needs no more than that many. */
export async function keepIfDue(
  ask: Ask,
  project: string,
  path: string,
  every = FLEET_SNAPSHOT_EVERY,
): Promise<boolean> {
  const [row] = await ask(
    (sql) => sql<{ behind: string }[]>`SELECT p.seq - coalesce(
      (SELECT max(s.seq) FROM heimdall.snapshots s WHERE s.project = p.id), 0) AS behind
      FROM heimdall.projects p WHERE p.id = ${project}`,
  )
  if (Number(row?.behind ?? 0) < every) return false
  await keepState(ask, project, path)
  return true
}

/** In parts, each with the time of an answer: a state may be larger than a line is fast. */
async function keepState(ask: Ask, project: string, path: string): Promise<void> {
  const { at, text } = wholeState(path)
  const whole = gzipSync(text)
  const parts = Math.max(1, Math.ceil(whole.byteLength / FLEET_SNAPSHOT_PART_BYTES))
  for (let part = 0; part < parts; part += 1) {
    const bytes = whole.subarray(part * FLEET_SNAPSHOT_PART_BYTES, (part + 1) * FLEET_SNAPSHOT_PART_BYTES)
    await ask(
      (sql) =>
        sql`SELECT heimdall.keep(${project}, ${at.seq}, ${at.id}, ${FORMAT}, ${part}, ${parts}, decode(${bytes.toString('base64')}::text, 'base64'))`,
    )
  }
}

async function readState(ask: Ask, project: string, seq: number): Promise<string> {
  const packed: Buffer[] = []
  for (let part = 0, parts = 1; part < parts; part += 1) {
    const [row] = await ask(
      (sql) => sql<{ body: string; parts: number }[]>`SELECT encode(body, 'base64') AS body, parts
        FROM heimdall.snapshots WHERE project = ${project} AND seq = ${seq} AND part = ${part}`,
    )
    if (row === undefined)
      throw new HeimdallError('STORE_BUSY', 'the snapshot was replaced by newer ones while it was read', {
        hint: 'run the command again',
      })
    packed.push(Buffer.from(row.body, 'base64'))
    parts = row.parts
  }
  return gunzipSync(Buffer.concat(packed)).toString('utf8')
}

interface Entered extends EntryPlace {
  readonly machine: string
  readonly snapshot: number | null
}

async function enter(sql: Sql, { project, member, machine }: FleetFile, version: string): Promise<Entered> {
  const [row] = await sql<
    { machine: string; seq: string; id: string; format: number; rules: number; snapshot: string | null }[]
  >`
    SELECT * FROM heimdall.enter(${project}, ${member}, ${machine}, ${version}, ${FORMAT}, ${RULES})`
  if (row === undefined) throw noProject()
  if (row.format > FORMAT || row.rules > RULES)
    throw new HeimdallError('FLEET_NEWER', 'the fleet is written by a newer version of Heimdall', {
      hint: 'update Heimdall on this machine',
    })
  return {
    machine: row.machine,
    seq: Number(row.seq),
    id: row.id,
    snapshot: row.snapshot === null ? null : Number(row.snapshot),
  }
}

/** The role sees one, by row-level security. */
async function onlyProject(sql: Sql): Promise<string> {
  const rows = await sql<{ id: string; engine_version: number }[]>`SELECT id, engine_version FROM heimdall.projects
    WHERE member_role = session_user`
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
  return row.id
}

async function refuseTrimmed(sql: Sql, project: string): Promise<void> {
  const [row] = await sql`SELECT 1 FROM heimdall.entries WHERE project = ${project} AND seq = 1 AND body IS NOT NULL`
  if (row === undefined)
    throw new HeimdallError(
      'FOLLOW_TOO_OLD',
      'the engine has neither a snapshot nor the first entries of this project',
      {
        hint: 'heimdall fleet export on another member writes the state to a file',
      },
    )
}

/** Where the store that is there goes. Nothing when there is none, or nothing of its own in it. */
function roomFor(path: string, options: CoordinationOptions, { setsAside, rebuilds }: JoinHow): string | undefined {
  if (!existsSync(path)) return undefined
  const room = openCoordination(options)
  const known = membershipIn(room.store)
  const isEmpty = room.store.read((rows) => rows.head()) === 0
  room.store.close()
  const aside = `${path}.${new Date(systemClock.wallMs()).toISOString().replace(/[:.]/g, '-')}`
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

type Ask = Connection['ask']

/** Each question has the time of an answer, however many there are. */
export async function onEngine<T>(
  address: EngineAddress,
  act: (ask: Ask) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const engine = new Connection(address, clock)
  try {
    return await act((question) => engine.ask(question))
  } finally {
    await engine.drop()
  }
}

const newMember = (): string => randomBytes(8).toString('hex')

function nameOf({ machine, options }: Joining): string {
  return slug(machine ?? options.machine?.host ?? hostname()) || 'machine'
}

function joinedAlready(project: string): HeimdallError {
  return new HeimdallError('FLEET_JOINED', `this store belongs to fleet project ${project} already`, {
    hint: 'heimdall fleet status shows it; heimdall fleet leave makes it a store of its own',
  })
}

function noProject(): HeimdallError {
  return new HeimdallError('ENGINE_REFUSED', 'this role has no project on the engine', {
    hint: 'use the join line that heimdall fleet create printed; an owner’s URL is for create alone',
  })
}
