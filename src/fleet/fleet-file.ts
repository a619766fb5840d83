// Where a member keeps the engine's URL: in a file of its own below the user's configuration, which only its owner can read.
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { printable } from '../ids.ts'
import type { Env, Project } from '../paths.ts'
import { ensureFolder, removeIfThere, replaceFile } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import type { Membership } from '../coordination/membership.ts'
import type { EngineAddress } from './engine-connection.ts'
import { fleetsFolder } from './fleets-folder.ts'

export interface FleetFile extends EngineAddress, Membership {
  /** Until this machine has its copy and a name of its own there: joining again finishes it. */
  readonly isJoining?: true
}

export interface Where {
  readonly project: Pick<Project, 'coordinationDir'>
  readonly env: Env
}

/** By machine and place of the store: a folder that was copied to another is no member, and says so. */
export function fleetFilePath({ project, env }: Where): string {
  const name = createHash('sha256').update(`${machineId()}\u001f${project.coordinationDir}`).digest('hex').slice(0, 24)
  return join(fleetsFolder(env), `${name}.json`)
}

/** A copy that was brought here from another member: what that machine alone knew, and has in doubt, is none of this one's. */
export function refuseForeign(file: Membership, mark: Membership): void {
  if (mark.project === file.project && mark.member === file.member) return
  throw new HeimdallError('FLEET_NOT_JOINED', `the copy here is another’s, made for ${printable(mark.machine)}`, {
    hint: `heimdall fleet join --rebuild makes the copy of ${file.machine} again and keeps this one beside it`,
  })
}

export function readFleetFile(where: Where): FleetFile {
  const path = fleetFilePath(where)
  const stats = onDisk(path, () => lstatSync(path, { throwIfNoEntry: false }))
  if (stats === undefined)
    throw new HeimdallError('FLEET_NOT_JOINED', 'this store belongs to a fleet that was not joined in this place', {
      hint: 'heimdall fleet join joins it here; heimdall fleet leave makes it a store of its own',
    })
  const own = process.geteuid?.() ?? stats.uid
  if (!stats.isFile() || stats.uid !== own || (stats.mode & 0o077) !== 0)
    throw new HeimdallError('STORE_UNREADABLE', `${path} is not a file that only its owner can read`, {
      hint: `chmod 600 ${path}`,
    })
  return parsed(
    path,
    onDisk(path, () => readFileSync(path, 'utf8')),
  )
}

function parsed(path: string, text: string): FleetFile {
  try {
    return JSON.parse(text) as FleetFile
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // Without its cause, which shows a piece of the text: a password is in it.
    throw new HeimdallError('STORE_UNREADABLE', `${path} is not what Heimdall has written there`, {
      hint: 'remove it; heimdall fleet join --rebuild with the join line makes it again',
    })
  }
}

export function writeFleetFile(where: Where, file: FleetFile): void {
  const path = fleetFilePath(where)
  ensureFolder(fleetsFolder(where.env))
  replaceFile(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
}

export function removeFleetFile(where: Where): boolean {
  return removeIfThere(fleetFilePath(where))
}

/** What the system calls this installation; its name where it has no such word. */
function machineId(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES')) return hostname()
    throw error
  }
}
