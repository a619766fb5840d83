// heimdall claim wait: claim scopes as soon as they are free; first come, first served.
import { processRef } from '../../../coordination/who/process-ref.ts'
import { waitForClaim } from '../../../coordination/claims/queue.ts'
import { conflictHint, conflictRecord } from '../../../coordination/records.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import type { claimWait } from '../../table/coordination.ts'
import { ledgerActor, withRoom } from '../../coordination-door.ts'
import { requestOf, answer } from './claim-answer.ts'

export const run: Run<typeof claimWait> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const stop = new AbortController()
    const onSignal = (): void => stop.abort()
    process.once('SIGINT', onSignal)
    try {
      const result = await waitForClaim(
        room,
        await ledgerActor(context, room, flags.agent),
        requestOf(context, args.scope, flags),
        {
          timeoutMs: flags.timeout,
          process: processRef(process.pid),
          signal: stop.signal,
          onQueued: ({ conflicts, ahead }) =>
            context.note(
              conflicts.length > 0
                ? `waiting for ${[...new Set(conflicts.map(({ agentId }) => agentId))].join(', ')}`
                : `waiting behind ${ahead} other${ahead === 1 ? '' : 's'}`,
            ),
        },
      )
      if (result.granted) return answer(context, room, result)
      if (stop.signal.aborted) throw new HeimdallError('INTERRUPTED', 'stopped waiting')
      throw new HeimdallError('WAIT_TIMEOUT', `still held after ${flags.timeout} ms: ${args.scope.join(' ')}`, {
        hint: ['wait longer', ...new Set(result.conflicts.map(conflictHint))].join('; '),
        details: { conflicts: result.conflicts.map(conflictRecord), ahead: result.ahead },
      })
    } finally {
      process.removeListener('SIGINT', onSignal)
    }
  })
