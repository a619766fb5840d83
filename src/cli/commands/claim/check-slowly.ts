// heimdall claim check, heimdall-claim check: may these paths be claimed or edited? Changes nothing.
import { checkScopes } from '../../../coordination/claims/check-scopes.ts'
import { oldCopyText } from '../../../coordination/membership.ts'
import { FLEET_CHECK_OLD_MS } from '../../../limits.ts'
import type { Run } from '../../command.ts'
import type { claimCheck } from '../../table/coordination.ts'
import { clear } from './check.ts'
import { withRoomToRead } from '../../coordination-door.ts'
import { askerOf, refusal } from './claim-answer.ts'

export const run: Run<typeof claimCheck> = (context, { flags, args }) =>
  withRoomToRead(
    context,
    (room) => {
      const { conflicts, contests } = checkScopes(room, {
        scopes: args.scope,
        cwd: context.cwd,
        asker: askerOf(context, room, flags.agent),
      })
      for (const { holder, later } of contests)
        context.note(
          `note: ${later.agentId} has claimed ${later.witness} as well, through ${later.held}; ${holder.agentId} was first and holds it`,
        )
      const old = oldCopyText(room.store, room.now(), FLEET_CHECK_OLD_MS)
      return conflicts.length === 0 ? clear(args.scope, old) : refusal(context, conflicts)
    },
    () => clear(args.scope),
  )
