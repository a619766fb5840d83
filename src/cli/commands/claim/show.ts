// heimdall claim show, heimdall-claim show: the claims of one holder.
import { listClaims } from '../../../coordination/claims/claims.ts'
import { claimRecord } from '../../../coordination/records.ts'
import type { Run } from '../../command.ts'
import type { claimShow } from '../../table/coordination.ts'
import { withRoomToRead } from '../../coordination-door.ts'
import { haidOf } from './claim-answer.ts'

export const run: Run<typeof claimShow> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const haid = haidOf(context, room, flags.haid)
      const records = listClaims(room, { holder: haid }).map(claimRecord)
      return {
        data: records,
        text: records.length === 0 ? `no active claim for ${haid}` : JSON.stringify(records, null, 2),
        seedJson: merged(records),
      }
    },
    () => ({ data: [], text: 'no active claim', seedJson: null }),
  )

/** Seed 000 knows one claim per HAID: several are shown as one with all their surfaces. */
function merged(records: readonly Record<string, unknown>[]): Record<string, unknown> | null {
  const [first] = records
  if (first === undefined) return null
  const surfaces = records.flatMap((record) => record['claimed_surfaces'] as string[])
  return {
    ...first,
    claimed_surfaces: surfaces,
    task_ref: [...new Set(records.map((record) => String(record['task_ref'])))].join(', '),
  }
}
