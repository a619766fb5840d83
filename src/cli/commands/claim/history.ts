// heimdall claim history: what happened, in order: claims, takeovers, incursions, handoffs, resumes.
import type { Bringer } from '../../../coordination/ledger/brought-by.ts'
import { findAgent, unknownAgent } from '../../../coordination/change.ts'
import { type Envelope, listEvents } from '../../../coordination/protocol.ts'
import { REPORTED } from '../../../coordination/ledger/reported.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { claimHistory } from '../../table/coordination.ts'
import { withRoomToRead } from '../../coordination-door.ts'

export const run: Run<typeof claimHistory> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const named = flags.agent
      const agent = named === undefined ? undefined : room.store.read((rows) => findAgent(rows, named))
      if (named !== undefined && agent === undefined) throw room.store.read((rows) => unknownAgent(named, rows))
      const events = listEvents(room, {
        last: flags.last,
        ...(flags.type.length === 0 ? {} : { types: flags.type }),
        ...(flags.claim === undefined ? {} : { claimId: flags.claim }),
        ...(flags.task === undefined ? {} : { task: flags.task }),
        ...(agent === undefined ? {} : { agent: agent.agentId }),
      })
      const rows = events.map((event) => [
        String(event.seq),
        event.created_at,
        ...told(event),
        // What concerns nobody else goes to the actor itself on the wire; here that would only be read twice.
        event.to_agent === event.from_agent ? '' : (event.to_agent ?? ''),
        event.scope ?? '',
        event.bead_id,
      ])
      const isAsked = flags.type.length > 0 || [flags.claim, flags.task, named].some((one) => one !== undefined)
      const nothing = isAsked ? 'nothing of that has happened yet' : 'nothing has happened yet'
      const table = renderTable(context.style, ['SEQ', 'TIME', 'EVENT', 'FROM', 'TO', 'SCOPE', 'TASK'], rows)
      return { data: events, text: rows.length === 0 ? nothing : table }
    },
    () => ({ data: [], text: 'nothing has happened yet' }),
  )

/** What happened and by whom; of what arrived by git only that somebody says so, and who brought it. */
function told({ event_type, from_agent, actor_kind, payload }: Envelope): [string, string] {
  if (event_type !== REPORTED) return [event_type, from_agent ?? actor_kind]
  const { event, reported_by } = payload as { event: { event_type: string }; reported_by: Bringer }
  const { commit } = reported_by
  return [`${REPORTED} ${event.event_type}`, commit === null ? 'no commit' : `commit ${commit.slice(0, 10)}`]
}
