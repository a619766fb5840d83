// Makes the store of this repository from a file that `heimdall fleet export` has written.
import { existsSync, statSync } from 'node:fs'
import { type CoordinationOptions, openCoordination } from '../coordination/coordination.ts'
import { membershipIn } from '../coordination/membership.ts'
import { momentOf, readMachine } from '../coordination/moment.ts'
import { copyAside } from '../coordination/sqlite/store-file.ts'
import { makeStore } from '../coordination/sqlite/whole-state.ts'
import { storePath } from '../coordination/store-path.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_STATE_BYTES_MAX } from '../limits.ts'
import { ensureFolder, readFileIfThere } from '../storage/atomic-file.ts'
import { fleetDoor } from './door.ts'

/** A store that is there is kept in `asideAs`; a member's copy is not replaced. */
export function importState(options: CoordinationOptions, file: string): { seq: number; asideAs: string | undefined } {
  const path = storePath(options.project)
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined || size > FLEET_STATE_BYTES_MAX)
    throw new HeimdallError(
      'USAGE',
      size === undefined ? `no file ${file}` : `${file} has ${size} bytes, limit ${FLEET_STATE_BYTES_MAX}`,
    )
  ensureFolder(options.project.coordinationDir)
  const asideAs = existsSync(path)
    ? `${path}.${new Date(options.clock.wallMs()).toISOString().replace(/[:.]/g, '-')}`
    : undefined
  if (fleetDoor.isJoined(options) || (asideAs !== undefined && isMember(options)))
    throw new HeimdallError('FLEET_JOINED', 'this store is the copy of a fleet member', {
      hint: 'heimdall fleet leave makes it a store of its own first',
    })
  const state = readFileIfThere(file)?.toString('utf8')
  if (asideAs !== undefined) copyAside(path, asideAs)
  const { seq } = makeStore(path, { state, membership: undefined, now: momentOf(options.clock, readMachine()) })
  return { seq, asideAs }
}

function isMember(options: CoordinationOptions): boolean {
  const room = openCoordination(options)
  try {
    return membershipIn(room.store) !== undefined
  } finally {
    room.store.close()
  }
}
