// heimdall peers list: workers and orchestrators that are known, and how they are reached.
import type { Coordination } from '../../../coordination/coordination.ts'
import type { Worker } from '../../../coordination/dispatched.ts'
import type { KnownPeer } from '../../../dispatch/peers.ts'
import { profileOf, stateAt } from '../../../dispatch/workers.ts'
import { findProject } from '../../../paths.ts'
import type { Answer, Context, Run } from '../../command.ts'
import { withRoomToRead } from '../../coordination-door.ts'
import { renderTable } from '../../render/style.ts'
import { knownPeers } from '../dispatch/known-peers.ts'
import type { peersList } from '../../table/dispatch.ts'

export const run: Run<typeof peersList> = async (context) => {
  const { peers } = await knownPeers(context, findProject(context.cwd, context.env))
  const all = [...peers('worker'), ...peers('orchestrator')]
  return await withRoomToRead(
    context,
    (room) => answer(context, all, room),
    () => answer(context, all, undefined),
  )
}

function workerNow({ store, now }: Coordination, name: string): Worker | undefined {
  return store.read((rows) => {
    const worker = rows.worker(name)
    return worker === undefined ? undefined : { ...worker, state: stateAt(rows, worker, now()) }
  })
}

function answer(context: Context, peers: readonly KnownPeer[], room: Coordination | undefined): Answer {
  const records = peers.map(({ name, role, url, origin, token }) => {
    const worker = role !== 'worker' || room === undefined ? undefined : workerNow(room, name)
    return {
      name,
      role,
      url,
      origin: origin === 'settings' ? 'settings' : 'local',
      has_token: token() !== undefined,
      state: worker?.state ?? null,
      health: worker === undefined ? null : (profileOf(worker)?.mcp_health ?? null),
    }
  })
  const rows = records.map((one) => [one.name, one.role, one.url, one.origin, one.state ?? '-'])
  const table = renderTable(context.style, ['PEER', 'ROLE', 'URL', 'FROM', 'STATE'], rows)
  return { data: records, text: rows.length === 0 ? 'no peer is known' : table }
}
