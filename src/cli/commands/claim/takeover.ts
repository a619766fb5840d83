// heimdall claim takeover: claim scopes from owners that went silent.
import { claimScopes } from '../../../coordination/claims/claims.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { claimTakeover } from '../../table/coordination.ts'
import { ledgerActor, personIn, withRoom } from '../../coordination-door.ts'
import { requestOf, answer } from './claim-answer.ts'

export const run: Run<typeof claimTakeover> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const force = flags.force === true ? (await personIn(context, room, '--force', null)).name : undefined
    if (force !== undefined && flags.reason === undefined) throw new HeimdallError('USAGE', '--force needs --reason')
    const result = await claimScopes(room, await ledgerActor(context, room, flags.agent), {
      ...requestOf(context, args.scope, flags),
      takeover: force === undefined ? 'stale' : { force, reason: flags.reason ?? '' },
    })
    return answer(context, room, result)
  })
