// Whether this repository's store is the copy of a fleet member, by the mark in the store itself.
import {
  type Coordination,
  type CoordinationOptions,
  lostCopy,
  openCoordinationToRead,
} from '../coordination/coordination.ts'
import { type Membership, membershipIn } from '../coordination/membership.ts'
import { HeimdallError } from '../errors.ts'
import { fleetDoor } from './door.ts'
import { type FleetFile, readFleetFile, refuseForeign } from './fleet-file.ts'

/** Rejects a store that is not part of a fleet. */
export function requireMember<T = Membership>(
  options: CoordinationOptions,
  look: (room: Coordination, membership: Membership) => T = (_, membership) => membership as T,
): T {
  const room = openCoordinationToRead(options)
  try {
    const membership = room === undefined ? undefined : membershipIn(room.store)
    if (room === undefined || membership === undefined)
      throw fleetDoor.isJoined(options)
        ? lostCopy(room === undefined || room.store.read((rows) => rows.head()) === 0)
        : alone()
    return look(room, membership)
  } finally {
    room?.store.close()
  }
}

function alone(): HeimdallError {
  return new HeimdallError('FLEET_NOT_JOINED', 'this repository is not part of a fleet', {
    hint: 'heimdall fleet create starts one; heimdall fleet join joins one',
  })
}

/** What this machine knows of its fleet, with the copy checked to be its own. */
export function requireFleetFile(options: CoordinationOptions): FleetFile {
  const mark = requireMember(options)
  const file = readFleetFile(options)
  refuseForeign(file, mark)
  return file
}

export const memberFile = (options: CoordinationOptions): FleetFile | undefined =>
  fleetDoor.isJoined(options) ? readFleetFile(options) : undefined
