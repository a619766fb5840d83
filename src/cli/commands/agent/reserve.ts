// heimdall agent reserve, bb agent reserve: reserve scopes for an agent.
import { claimScopes } from '../../../coordination/claims/claims.ts'
import { standingNow } from '../../../coordination/claims/conflicts.ts'
import { NO_TASK } from '../../../coordination/protocol.ts'
import { conflictRecord, reservationRecord } from '../../../coordination/records.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { agentReserve } from '../../table/coordination.ts'
import { actorFor, withRoom } from '../../coordination-door.ts'

export const run: Run<typeof agentReserve> = (context, { flags }) =>
  withRoom(context, async (room) => {
    if (flags.ttl < 5 || flags.ttl > 1_440)
      throw new HeimdallError('INVALID_ARGS', `--ttl ${flags.ttl}, 5 to 1440 minutes allowed`)
    const result = await claimScopes(room, await actorFor(context, room, flags.agent), {
      scopes: flags.scope,
      cwd: context.cwd,
      task: flags.bead === NO_TASK ? null : flags.bead,
      ttlMinutes: flags.ttl,
      takeover: flags['takeover-stale'] === true ? 'stale' : undefined,
    })
    if (!result.granted) {
      const active = result.conflicts.find(({ liveness }) => liveness === 'active')
      const first = active ?? result.conflicts[0]
      const who =
        first === undefined
          ? 'somebody'
          : `${first.agentId} (${first.liveness}${first.lease === 'lapsed' ? ', lease expired' : ''})`
      throw new HeimdallError(
        active === undefined ? 'RESERVATION_STALE_FOUND' : 'RESERVATION_CONFLICT',
        `${first?.wanted ?? ''} overlaps ${first?.held ?? ''}, held by ${who} until ${first?.expiresAt ?? ''}`,
        {
          hint:
            active === undefined
              ? 'add --takeover-stale to take it over'
              : 'work elsewhere, ask for a handoff, or wait with heimdall claim wait',
          details: { conflicts: result.conflicts.map(conflictRecord) },
        },
      )
    }
    for (const warning of result.warnings) context.note(`warning: ${warning}`)
    const record = reservationRecord(room, standingNow(room, result.claim))
    const taken = result.displaced.map(({ claimId, agentId }) => ({ reservation_id: claimId, agent_id: agentId }))
    const extra = taken.length === 0 ? {} : { displaced: taken, dirty_paths: result.dirty }
    const dirty =
      result.dirty.length === 0 ? '' : `\n! left uncommitted by the former holder: ${result.dirty.join(', ')}`
    return {
      data: { ...record, ...extra },
      text: `✓ reserved ${flags.scope.join(' ')} until ${String(record['expires_at'])}${dirty}`,
    }
  })
