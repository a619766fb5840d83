// heimdall fleet import: a store from such a file, for a machine alone.
import { existsSync, statSync } from 'node:fs'
import { openCoordination } from '../../../coordination/coordination.ts'
import { membershipIn } from '../../../coordination/membership.ts'
import { momentOf, readMachine } from '../../../coordination/moment.ts'
import { roomOptions } from '../../../coordination/room-options.ts'
import { copyAside } from '../../../coordination/sqlite/store-file.ts'
import { makeStore } from '../../../coordination/sqlite/whole-state.ts'
import { storePath } from '../../../coordination/store-path.ts'
import { HeimdallError } from '../../../errors.ts'
import { fleetDoor } from '../../../fleet/door.ts'
import { FLEET_STATE_BYTES_MAX } from '../../../limits.ts'
import { ensureFolder, readFileIfThere } from '../../../storage/atomic-file.ts'
import { refuseAgent } from '../../../person.ts'
import type { Run } from '../../command.ts'
import type { fleetImport } from '../../table/fleet.ts'

export const run: Run<typeof fleetImport> = async (context, { args }) => {
  refuseAgent('replacing the store of claims')
  const file = context.resolve(args.file)
  const options = await roomOptions(context)
  const path = storePath(options.project)
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined || size > FLEET_STATE_BYTES_MAX)
    throw new HeimdallError(
      'USAGE',
      size === undefined ? `there is no file ${file}` : `${file} has ${size} bytes, limit ${FLEET_STATE_BYTES_MAX}`,
    )
  ensureFolder(options.project.coordinationDir)
  const aside = existsSync(path)
    ? `${path}.${new Date(context.clock.wallMs()).toISOString().replace(/[:.]/g, '-')}`
    : undefined
  if (fleetDoor.isJoined(options) || (aside !== undefined && isMember(options))) throw memberHere()
  const state = readFileIfThere(file)?.toString('utf8')
  if (aside !== undefined) copyAside(path, aside)
  const at = makeStore(path, { state, membership: undefined, now: momentOf(context.clock, readMachine()) })
  return {
    data: { seq: at.seq, set_aside: aside ?? null },
    text: [
      `The store has everything up to entry ${at.seq}.`,
      ...(aside === undefined ? [] : [`What was here before is in ${aside}`]),
    ].join('\n'),
  }
}

function isMember(options: Parameters<typeof openCoordination>[0]): boolean {
  const room = openCoordination(options)
  try {
    return membershipIn(room.store) !== undefined
  } finally {
    room.store.close()
  }
}

function memberHere(): HeimdallError {
  return new HeimdallError('FLEET_JOINED', 'this store is a member’s copy', {
    hint: 'heimdall fleet leave makes it a store of its own first',
  })
}
