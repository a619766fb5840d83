// One repository's coordination, opened: its store, its clocks, and what every operation on it needs to know.
import { randomBytes } from 'node:crypto'
import { existsSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Clock } from '../clock.ts'
import { HeimdallError, isErrno } from '../errors.ts'
import { createIdSource } from '../id-source.ts'
import { printable } from '../ids.ts'
import { destinationInGit, type Env, type Project, refreshed } from '../paths.ts'
import { ensureFolder, replaceFile } from '../storage/atomic-file.ts'
import type { Author } from './log-entry.ts'
import { rootHaid } from './who/haid.ts'
import { type Machine, momentOf, readMachine } from './moment.ts'
import { gitEmail } from './ledger/git-config.ts'
import { fateOf } from './who/process-ref.ts'
import { FLEET_SETTING, MAKING_SETTING, type Membership, membershipIn } from './membership.ts'
import type { SharedLog } from './shared-log.ts'
import { settleMaking } from './sqlite/fleet-in-making.ts'
import { openSqliteStore } from './sqlite/open-store.ts'
import { SESSION_VARIABLE } from './who/variables.ts'
import type { Store } from './store.ts'
import type { View, ViewOptions } from './view.ts'
import { storePath } from './store-path.ts'

/** Seed 004: of everything that belongs to one run. */
const RUN_VARIABLE = 'SUB_RUN_ID'

export interface Coordination extends View {
  readonly clock: Clock
  /** HAID of this human, machine and project, without a role. */
  readonly rootHaid: string
  /** The session and the run that every change of this caller is joined to; what it says of itself, not who it is. */
  readonly startedIn: Omit<Author, 'haid'>
  readonly newId: () => string
  readonly randomBytes: (count: number) => Buffer
}

export interface CoordinationOptions extends ViewOptions {
  readonly env: Env
  /** The way to the fleet that a store may belong to; every door that may change something has it. */
  readonly fleet?: FleetDoor | undefined
  readonly randomBytes?: (count: number) => Buffer
  /** How long to wait for whoever writes to the store, where that is less than usual. */
  readonly busyMs?: number
}

/** By the file of this store that only its owner can read. */
export interface FleetDoor {
  /** Of the member that the store is marked as: a copy that was brought from elsewhere is none of this place's. */
  openLog(where: Pick<CoordinationOptions, 'project' | 'env'>, mark: Membership | undefined): Promise<SharedLog>
  /** Whether a store of this place was a member's. */
  isJoined(where: Pick<CoordinationOptions, 'project' | 'env'>): boolean
}

/** A process that runs on may know the project from before its store was moved: the old place must not get an empty one. */
export function openCoordination(given: CoordinationOptions): Coordination {
  refuseGone(given.project)
  const options = { ...given, project: refreshed(given.project) }
  const { fleet } = options
  const surroundings = around(options)
  const { clock, newId, now } = surroundings
  hideFromGit(options.project)
  const member = fleet === undefined ? undefined : { now, openLog: () => fleet.openLog(options, membershipIn(store)) }
  const store: Store = openSqliteStore(storePath(options.project), { clock, newId, member, busyMs: options.busyMs })
  if (fleet !== undefined) {
    const isJoined = (): boolean => fleet.isJoined(options)
    const seat = store.read((rows) => rows.localSetting(MAKING_SETTING))
    if (seat !== undefined) settleMaking(storePath(options.project), seat, isJoined())
    refuseLost(store, isJoined)
  }
  return inFleet(options, { ...surroundings, store })
}

/** Opening a store creates its folder: a repository that was removed must not come back with nothing else in it. */
function refuseGone({ root, gitCommonDir }: Project): void {
  const folder = gitCommonDir ?? root
  if (!existsSync(folder)) throw new HeimdallError('FOLDER_GONE', `${printable(folder)} was removed or moved away`)
}

/**
 * Moves the store of a folder that became a repository later into the git folder. A process that has it open gets
 * STORE_REPLACED with its next change, and finds it when it opens it again.
 */
export function moveIntoGit(project: Project): void {
  const { coordinationDir } = refreshed(project)
  const destination = destinationInGit({ ...project, coordinationDir })
  if (destination === undefined) return
  try {
    renameSync(coordinationDir, destination)
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'EACCES', 'EPERM', 'EROFS', 'EXDEV', 'ENOTEMPTY', 'EEXIST')) throw error
  }
}

/** Keys and the database in a planning folder are never committed. */
function hideFromGit({ coordinationDir }: Project): void {
  const ignored = join(coordinationDir, '.gitignore')
  if (basename(coordinationDir) !== '.heimdall' || existsSync(ignored)) return
  ensureFolder(coordinationDir)
  replaceFile(ignored, '*\n', { mode: 0o600 })
}

/** A new store, or an old one, in the place of a member's copy: whatever it granted, the fleet would not know of. */
function refuseLost(store: Store, isJoined: () => boolean): void {
  if (store.read((rows) => rows.localSetting(FLEET_SETTING)) !== undefined || !isJoined()) return
  const isEmpty = store.read((rows) => rows.head()) === 0
  store.close()
  throw lostCopy(isEmpty)
}

export function lostCopy(isGone: boolean): HeimdallError {
  return new HeimdallError(
    'FLEET_NOT_JOINED',
    isGone
      ? 'this machine’s copy of the fleet’s state is gone'
      : 'the store here is not the copy of the fleet’s state that this machine had: it was replaced, or joining was cut short',
    {
      hint: `heimdall fleet join --rebuild makes it again${isGone ? '' : ' and keeps what is here beside it'}; heimdall fleet leave goes on alone`,
    },
  )
}

/** For commands that change nothing: no lock is taken and nothing is written. Nothing when the repository has no store yet. */
export function openCoordinationToRead(given: CoordinationOptions): Coordination | undefined {
  const options = { ...given, project: refreshed(given.project) }
  const { project, clock } = options
  const store = openSqliteStore(storePath(project), { clock, readOnly: true })
  return store === undefined ? undefined : inFleet(options, { ...around(options), store })
}

/** Two machines of one name are two: in a fleet a machine is called what the fleet calls it. */
function inFleet(options: CoordinationOptions, room: Coordination): Coordination {
  const host = membershipIn(room.store)?.machine
  return host === undefined ? room : { ...room, rootHaid: projectHaid(options.project, options.env, { host }) }
}

/** Nothing can be written here, now or ever: whoever only reads goes on with what is known. */
export const isUnwritable = (error: unknown): error is HeimdallError =>
  error instanceof HeimdallError && UNWRITABLE.includes(error.code)

const UNWRITABLE: readonly string[] = [
  'STORE_FULL',
  'STORE_UNREADABLE',
  'STORE_BUSY',
  'STORE_FORKED',
  'ENGINE_UNREACHABLE',
  'ENGINE_REFUSED',
  'OUTCOME_UNKNOWN',
]

function around(options: CoordinationOptions): Omit<Coordination, 'store'> {
  const { project, env, clock } = options
  const machine = options.machine ?? readMachine()
  const bytes = options.randomBytes ?? randomBytes
  return {
    project,
    clock,
    staleMinutes: options.staleMinutes,
    fateOf: options.fateOf ?? fateOf,
    rootHaid: projectHaid(project, env, machine),
    startedIn: { sessionId: textOf(env, SESSION_VARIABLE), runId: textOf(env, RUN_VARIABLE) },
    now: () => momentOf(clock, machine),
    newId: createIdSource(clock, fractions(bytes)),
    randomBytes: bytes,
  }
}

/** Between 0 and 1. An id takes sixteen of them, and each question to the system costs as much as making the id does. */
function fractions(bytes: (count: number) => Buffer): () => number {
  const atOnce = 64
  let drawn: Buffer = Buffer.alloc(0)
  let at = 0
  return () => {
    if (at >= drawn.length) {
      drawn = bytes(atOnce * 4)
      at = 0
    }
    const fraction = drawn.readUInt32BE(at) / 2 ** 32
    at += 4
    return fraction
  }
}

function textOf(env: Env, name: string): string | null {
  const value = env[name] ?? ''
  return value === '' ? null : value
}

export function projectHaid(project: Project, env: Env, machine: Pick<Machine, 'host'>): string {
  return rootHaid({
    email: gitEmail(project, env),
    user: env['USER'] ?? env['LOGNAME'],
    host: machine.host,
    root: project.root,
  })
}
