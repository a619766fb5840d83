// heimdall claim check, heimdall-claim check: may these paths be claimed or edited? Changes nothing.
import { askingHere } from '../../../coordination/who/caller.ts'
import { checkScopes } from '../../../coordination/claims/check-scopes.ts'
import type { Asker } from '../../../coordination/claims/conflicts.ts'
import { oldCopyText } from '../../../coordination/membership.ts'
import { FLEET_CHECK_OLD_MS } from '../../../limits.ts'
import type { Coordination } from '../../../coordination/coordination.ts'
import type { Context, Run } from '../../command.ts'
import type { claimCheck } from '../../table/coordination.ts'
import { clear } from './check.ts'
import { callerOf, withRoomToRead } from '../../coordination-door.ts'
import { refusal, haidOf } from './claim-answer.ts'

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

/** What is claimed under a name that another session holds is the other's, whoever was started for it as well. */
function askerOf(context: Context, room: Coordination, named: string | undefined): Asker | null {
  if (named === undefined && callerOf(context, room).refused?.error.code === 'IDENTITY_HELD') return null
  return { haid: haidOf(context, room, named), tree: askingHere(context.env).place?.tree }
}
