// The way from a store to its fleet's log, for every door that may change something. Light: the engine's client is loaded with the first use.
import { existsSync } from 'node:fs'
import { systemClock } from '../clock.ts'
import type { FleetDoor } from '../coordination/coordination.ts'
import { storePath } from '../coordination/store-path.ts'
import { fleetFilePath, readFleetFile, refuseForeign } from './fleet-file.ts'
import { hasFleets } from './fleets-folder.ts'

export const fleetDoor: FleetDoor = {
  async openLog(where, mark) {
    const file = readFleetFile(where)
    if (mark !== undefined) refuseForeign(file, mark)
    const { openEngineLog } = await import('./engine-log.ts')
    // Waits for the network are real time.
    return openEngineLog({
      ...file,
      clock: systemClock,
      copy: storePath(where.project),
      // With each connection anew: a program that runs goes on with the line that its machine has got meanwhile.
      get url() {
        return readFleetFile(where).url
      },
      get isPooled() {
        return readFleetFile(where).isPooled
      },
    })
  },
  // Where no fleet was ever joined, one look is enough.
  isJoined: (where) => hasFleets(where.env) && existsSync(fleetFilePath(where)),
}
