// The store of this repository as a member's: what its own mark says.
import {
  type Coordination,
  type CoordinationOptions,
  lostCopy,
  openCoordinationToRead,
} from '../../../coordination/coordination.ts'
import { type Membership, membershipIn } from '../../../coordination/membership.ts'
import { HeimdallError } from '../../../errors.ts'
import { fleetDoor } from '../../../fleet/door.ts'

/** Refuses a store of a machine alone. */
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
  return new HeimdallError('FLEET_NOT_JOINED', 'this repository’s coordination is this machine’s alone', {
    hint: 'heimdall fleet create makes a fleet of it; heimdall fleet join makes this machine a member of one',
  })
}
