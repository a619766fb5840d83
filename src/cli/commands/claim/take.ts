// heimdall claim take, heimdall-claim claim: claim scopes: all of them or none.
import { claimScopes } from '../../../coordination/claims/claims.ts'
import type { Run } from '../../command.ts'
import type { claimTake } from '../../table/coordination.ts'
import { ledgerActor, withRoom } from '../../coordination-door.ts'
import { requestOf, answer } from './claim-answer.ts'

export const run: Run<typeof claimTake> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const request = requestOf(context, args.scope, flags)
    const actor = await ledgerActor(context, room, flags.agent)
    return answer(
      context,
      room,
      await claimScopes(room, actor, { ...request, archivesLapsed: true, replacesTask: true }),
    )
  })
