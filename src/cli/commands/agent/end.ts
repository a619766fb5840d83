// heimdall agent end: end the session of an agent and release what it holds.
import { endSession } from '../../../coordination/who/enrol.ts'
import type { Run } from '../../command.ts'
import type { agentEnd } from '../../table/coordination.ts'
import { actorFor, withRoom } from '../../coordination-door.ts'

export const run: Run<typeof agentEnd> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const { released } = await endSession(room, await actorFor(context, room, flags.agent))
    return { data: { released }, text: `✓ session ended, ${released.length} claims released` }
  })
