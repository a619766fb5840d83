// heimdall haid heartbeat, heimdall-haid heartbeat: say that a HAID is alive.
import type { Coordination } from '../../../coordination/coordination.ts'
import { findAgent, unknownAgent } from '../../../coordination/change.ts'
import { parseHaid } from '../../../coordination/who/haid.ts'
import { heartbeat as beat } from '../../../coordination/who/registration.ts'
import type { Run } from '../../command.ts'
import type { haidHeartbeat } from '../../table/coordination.ts'
import { callerOf, ledgerActor, withRoom } from '../../coordination-door.ts'
import { one } from './haid-answer.ts'

export const run: Run<typeof haidHeartbeat> = (context, { args }) =>
  withRoom(context, async (room) => {
    const haid = args.haid ?? callerOf(context, room).haid
    known(room, haid)
    await beat(room, await ledgerActor(context, room, args.haid))
    return one(room, haid, haid)
  })

function known(room: Coordination, haid: string): void {
  parseHaid(haid)
  if (room.store.read((rows) => findAgent(rows, haid)) === undefined) throw unknownAgent(haid)
}
