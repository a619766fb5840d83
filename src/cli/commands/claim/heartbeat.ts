// heimdall claim heartbeat, heimdall-claim heartbeat: keep the claims of a holder alive.
import { listClaims } from '../../../coordination/claims/claims.ts'
import { heartbeat as beat } from '../../../coordination/who/registration.ts'
import { claimRecord } from '../../../coordination/records.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { claimHeartbeat } from '../../table/coordination.ts'
import { ledgerActor, withRoom } from '../../coordination-door.ts'

export const run: Run<typeof claimHeartbeat> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const actor = await ledgerActor(context, room, flags.haid)
    const agent = await beat(room, actor)
    const claims = listClaims(room, { holder: agent.haid })
    // Seed 000: a heartbeat without a claim is an error of the caller.
    if (claims.length === 0)
      throw new HeimdallError('RESERVATION_NOT_FOUND', `${agent.haid} holds no claim`, {
        hint: 'heimdall claim take makes one',
      })
    return { data: claims.map(claimRecord), text: `heartbeat: ${agent.haid}, ${claims.length} claim(s) live` }
  })
