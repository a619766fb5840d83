// heimdall agent show, bb agent show: one agent.
import { findAgent, unknownAgent } from '../../../coordination/change.ts'
import type { Run } from '../../command.ts'
import type { agentShow } from '../../table/coordination.ts'
import { withRoomToRead } from '../../coordination-door.ts'
import { checkedName, recordOf } from './agent-record.ts'

export const run: Run<typeof agentShow> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const agent = room.store.read((rows) => findAgent(rows, checkedName(flags.agent)))
      if (agent === undefined) throw room.store.read((rows) => unknownAgent(flags.agent, rows))
      const record = recordOf(room, agent)
      const text = Object.entries(record).map(([field, value]) => `${field}: ${value ?? ''}`)
      return { data: record, text: text.join('\n') }
    },
    () => {
      throw unknownAgent(checkedName(flags.agent))
    },
  )
