// heimdall haid list, heimdall-haid list: the registry of HAIDs.
import { registryRecord } from '../../../coordination/records.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { haidList } from '../../table/coordination.ts'
import { withRoomToRead } from '../../coordination-door.ts'

export const run: Run<typeof haidList> = (context) =>
  withRoomToRead(
    context,
    (room) => {
      const now = room.now()
      const { agents, registry } = room.store.read((store) => {
        const all = store.agents()
        const records = all.map((agent) => [agent.haid, registryRecord(room, store, agent, now)] as const)
        return { agents: all, registry: Object.fromEntries(records) }
      })
      const rows = agents.map((agent) => [
        agent.haid,
        agent.role,
        String(registry[agent.haid]?.['status']),
        String(registry[agent.haid]?.['last_heartbeat']),
      ])
      return {
        data: { agents: registry },
        text: renderTable(context.style, ['HAID', 'ROLE', 'STATUS', 'HEARTBEAT'], rows),
        seedJson: { version: '1.0.0', agents: registry },
      }
    },
    () => ({ data: { agents: {} }, text: '', seedJson: { version: '1.0.0', agents: {} } }),
  )
