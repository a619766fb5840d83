// heimdall claim release, heimdall-claim release: release claims; all of yours when none is named.
import { releaseClaims } from '../../../coordination/claims/held.ts'
import type { Run } from '../../command.ts'
import type { claimRelease } from '../../table/coordination.ts'
import { ledgerActor, withRoom } from '../../coordination-door.ts'
import { chosenBy } from './claim-answer.ts'

export const run: Run<typeof claimRelease> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const actor = await ledgerActor(context, room, flags.haid ?? flags.agent)
    const released = await releaseClaims(room, actor, {
      ...chosenBy(room, args.scope, flags.claim),
      cwd: context.cwd,
      epoch: flags.epoch,
    })
    const scopes = released.flatMap((claim) => claim.scopes.map(({ raw }) => raw))
    const data = { haid: actor.haid, released: released.map(({ claimId }) => claimId), surfaces: scopes }
    return {
      data,
      text: released.length === 0 ? `no active claim for ${actor.haid}` : `released: ${scopes.join(' ')}`,
      seedJson: data,
    }
  })
