// heimdall agent heartbeat, bb agent heartbeat: say that an agent is alive; renews its leases.
import { heartbeat as beat } from '../../../coordination/who/registration.ts'
import type { Run } from '../../command.ts'
import type { agentHeartbeat } from '../../table/coordination.ts'
import { actorFor, withRoom } from '../../coordination-door.ts'
import { checkedName, recordOf } from './agent-record.ts'

export const run: Run<typeof agentHeartbeat> = (context, { flags }) =>
  withRoom(context, async (room) => {
    if (flags.agent !== undefined) checkedName(flags.agent)
    const agent = await beat(room, await actorFor(context, room, flags.agent))
    const record = recordOf(room, agent)
    return { data: record, text: `✓ ${agent.agentId} seen at ${record.last_seen_at}` }
  })
