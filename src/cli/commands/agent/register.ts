// heimdall agent register, bb agent register: register an agent under a name of its own.
import { keysOf } from '../../../coordination/who/key-files.ts'
import { register as registerAgent, updateAgent } from '../../../coordination/who/registration.ts'
import { parseAgentId } from '../../../coordination/who/names.ts'
import type { Run } from '../../command.ts'
import type { agentRegister } from '../../table/coordination.ts'
import { actorFor, sessionTree, withRoom } from '../../coordination-door.ts'
import { recordOf } from './agent-record.ts'

export const run: Run<typeof agentRegister> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const name = flags.name === undefined ? undefined : parseAgentId(flags.name)
    const known = name === undefined ? undefined : room.store.read((rows) => rows.agentById(name))
    if (known !== undefined && flags['force-update'] === true) {
      const updated = await updateAgent(room, await actorFor(context, room, known.agentId), {
        role: flags.role,
        displayName: flags.display,
      })
      return { data: recordOf(room, updated), text: `✓ updated ${updated.agentId}` }
    }
    const tree = sessionTree(context)
    const { agent } = await registerAgent(
      room,
      { name, role: flags.role, displayName: flags.display, tree },
      keysOf(room),
    )
    return { data: recordOf(room, agent), text: `✓ registered ${agent.agentId} (${agent.haid})` }
  })
