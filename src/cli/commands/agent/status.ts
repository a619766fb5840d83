// heimdall agent status, bb agent status: what is reserved, and which notes wait for an answer.
import { standingOf } from '../../../coordination/claims/conflicts.ts'
import { findAgent, unknownAgent } from '../../../coordination/change.ts'
import { noteRecord, reservationRecord } from '../../../coordination/records.ts'
import type { Claim } from '../../../coordination/store.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { agentStatus } from '../../table/coordination.ts'
import { withRoomToRead } from '../../coordination-door.ts'

export const run: Run<typeof agentStatus> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const now = room.now()
      const data = room.store.read((rows) => {
        const agent = flags.agent === undefined ? undefined : findAgent(rows, flags.agent)
        if (flags.agent !== undefined && agent === undefined) throw unknownAgent(flags.agent, rows)
        const query = {
          ...(agent === undefined ? {} : { holder: agent.haid }),
          ...(flags.bead === undefined ? {} : { task: flags.bead }),
        }
        const all = rows.claims(query)
        const active = all.filter(({ state }) => state === 'active').map((claim) => standingOf(room, rows, claim, now))
        const unacked = rows.notes({
          unackedOnly: true,
          ...(agent === undefined ? {} : { to: agent.agentId }),
          ...(flags.bead === undefined ? {} : { task: flags.bead }),
        })
        const count = (state: Claim['state']): number => all.filter((claim) => claim.state === state).length
        return {
          reservations: active.map((found) => reservationRecord(room, found)),
          unacked_required_messages: unacked.map(noteRecord),
          summary: {
            active: active.length,
            released: count('released'),
            expired: count('expired'),
            unacked_required_messages: unacked.length,
          },
        }
      })
      const rows = data.reservations.map((record) => [
        String(record['scope']),
        String(record['agent_id']),
        String(record['liveness']),
        String(record['expires_at']),
        String(record['bead_id']),
      ])
      const table = renderTable(context.style, ['SCOPE', 'AGENT', 'LIVENESS', 'EXPIRES', 'TASK'], rows)
      const counts = `${data.summary.active} active, ${data.summary.unacked_required_messages} notes waiting for an answer`
      return { data, text: rows.length === 0 ? counts : `${table}\n${counts}` }
    },
    () => {
      if (flags.agent !== undefined) throw unknownAgent(flags.agent)
      const summary = { active: 0, released: 0, expired: 0, unacked_required_messages: 0 }
      return {
        data: { reservations: [], unacked_required_messages: [], summary },
        text: '0 active, 0 notes waiting for an answer',
      }
    },
  )
