// heimdall claim list, heimdall-claim list: what is claimed at present.
import { listClaims } from '../../../coordination/claims/claims.ts'
import type { Standing } from '../../../coordination/claims/conflicts.ts'
import { NO_TASK } from '../../../coordination/protocol.ts'
import { claimRecord } from '../../../coordination/records.ts'
import { printable } from '../../../ids.ts'
import type { Answer, Context, Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { claimList } from '../../table/coordination.ts'
import { withRoomToRead } from '../../coordination-door.ts'

export const run: Run<typeof claimList> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const found = listClaims(room, flags.task === undefined ? {} : { task: flags.task })
        // Seed 000 lists what is live; a lapsed lease whose owner is silent is not, and `--all` shows it.
        .filter(({ lease, liveness }) => flags.all === true || lease === 'live' || liveness === 'active')
      return listAnswer(context, found, flags.task)
    },
    () => listAnswer(context, []),
  )

function listAnswer(context: Context, found: readonly Standing[], task?: string): Answer {
  const records = found.map(claimRecord)
  const rows = found.map(({ claim, agentId, liveness, expiresAt }) => [
    claim.scopes.map(({ raw }) => raw).join(' '),
    context.isSeedName ? claim.holder : agentId,
    liveness,
    expiresAt,
    claim.task ?? NO_TASK,
  ])
  const table = renderTable(context.style, ['SCOPES', 'HOLDER', 'LIVENESS', 'EXPIRES', 'TASK'], rows)
  const text = context.isSeedName
    ? [`ACTIVE CLAIMS (${records.length})`, ...(rows.length === 0 ? [] : [table])].join('\n')
    : rows.length === 0
      ? `nothing is claimed${task === undefined ? '' : ` for ${printable(task)}`}`
      : table
  return { data: records, text, seedJson: records }
}
