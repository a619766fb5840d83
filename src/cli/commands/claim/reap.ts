// heimdall claim reap, heimdall-claim reap: archive lapsed claims of silent owners.
import { reap as reapClaims } from '../../../coordination/claims/claims.ts'
import type { Run } from '../../command.ts'
import type { claimReap } from '../../table/coordination.ts'
import { withRoom } from '../../coordination-door.ts'

export const run: Run<typeof claimReap> = (context) =>
  withRoom(context, async (room) => {
    const { reaped, active } = await reapClaims(room)
    return {
      data: { reaped: reaped.map(({ claimId }) => claimId), active },
      text: `reaped ${reaped.length} expired claim(s); ${active} active claim(s) remain`,
    }
  })
