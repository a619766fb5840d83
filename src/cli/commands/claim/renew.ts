// heimdall claim renew: renew claims; refused when the claim was taken over.
import { standingNow } from '../../../coordination/claims/conflicts.ts'
import { renewClaims } from '../../../coordination/claims/held.ts'
import { claimRecord } from '../../../coordination/records.ts'
import type { Run } from '../../command.ts'
import type { claimRenew } from '../../table/coordination.ts'
import { ledgerActor, withRoom } from '../../coordination-door.ts'
import { chosenBy } from './claim-answer.ts'

export const run: Run<typeof claimRenew> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const renewed = await renewClaims(room, await ledgerActor(context, room, flags.agent), {
      ...chosenBy(room, args.scope, flags.claim),
      cwd: context.cwd,
      epoch: flags.epoch,
      ttlMinutes: flags.ttl,
    })
    const records = renewed.map((claim) => claimRecord(standingNow(room, claim)))
    return {
      data: records,
      text: records
        .map((record) => `renewed until ${String(record['expires_at'])}: ${String(record['claim_id'])}`)
        .join('\n'),
    }
  })
