// heimdall agent release, bb agent release: release reserved scopes.
import { releaseClaims } from '../../../coordination/claims/held.ts'
import { endedStanding, reservationRecord } from '../../../coordination/records.ts'
import type { Run } from '../../command.ts'
import type { agentRelease } from '../../table/coordination.ts'
import { actorFor, withRoom } from '../../coordination-door.ts'

export const run: Run<typeof agentRelease> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const actor = await actorFor(context, room, flags.agent)
    const released = await releaseClaims(room, actor, { scopes: flags.scope, cwd: context.cwd, epoch: flags.epoch })
    const agentId = room.store.read((rows) => rows.agent(actor.haid)?.agentId ?? actor.haid)
    const [first] = released.map((claim) => reservationRecord(room, endedStanding(claim, agentId)))
    return {
      data: first ?? null,
      text: `✓ released ${released.flatMap(({ scopes }) => scopes.map(({ raw }) => raw)).join(' ')}`,
    }
  })
