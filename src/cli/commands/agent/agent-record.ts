// What commands about agents share: an agent as it is shown, and names that can be none.
import type { Coordination } from '../../../coordination/coordination.ts'
import { parseAgentId } from '../../../coordination/who/names.ts'
import { type AgentRecord, agentRecord } from '../../../coordination/records.ts'
import type { Agent } from '../../../coordination/store.ts'

export const recordOf = (room: Coordination, agent: Agent): AgentRecord =>
  room.store.read((rows) => agentRecord(room, rows, rows.agent(agent.haid) ?? agent, room.now()))

/** A name that cannot be one is a mistake of its own, not an unknown agent. */
export function checkedName(name: string): string {
  return name.startsWith('haid:') ? name : parseAgentId(name)
}
