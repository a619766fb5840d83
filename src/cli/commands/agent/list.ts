// heimdall agent list, bb agent list: who is registered, and who is alive.
import { agentRecord } from '../../../coordination/records.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { agentList } from '../../table/coordination.ts'
import { withRoomToRead } from '../../coordination-door.ts'

export const run: Run<typeof agentList> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const now = room.now()
      const all = room.store.read((rows) => rows.agents().map((agent) => agentRecord(room, rows, agent, now)))
      const records = all
        .filter(({ role }) => flags.role === undefined || role === flags.role)
        .filter(
          ({ status, liveness }) => flags.status === undefined || status === flags.status || liveness === flags.status,
        )
      // One machine needs no name.
      const isFleet = new Set(records.map(({ machine }) => machine)).size > 1
      const table = renderTable(
        context.style,
        ['AGENT', ...(isFleet ? ['MACHINE'] : []), 'ROLE', 'LIVENESS', 'STATUS', 'LAST SEEN', 'TASK'],
        records.map((agent) => [
          agent.agent_id,
          ...(isFleet ? [agent.machine] : []),
          agent.role,
          agent.liveness,
          agent.status,
          agent.last_seen_at,
          agent.current_task ?? '',
        ]),
      )
      const nobody =
        all.length === 0 ? 'nobody is registered' : `nobody of ${all.length} registered agents is like that`
      return { data: records, text: records.length === 0 ? nobody : table }
    },
    () => ({ data: [], text: 'nobody is registered' }),
  )
