// heimdall claim history and heimdall why: what happened, and who holds a path for which reason.
import type { Bringer } from '../../../coordination/brought-by.ts'
import { checkScopes } from '../../../coordination/claims.ts'
import type { Conflict } from '../../../coordination/conflicts.ts'
import { findAgent, unknownAgent } from '../../../coordination/gate.ts'
import { type Envelope, listEvents, NO_TASK } from '../../../coordination/protocol.ts'
import { conflictRecord } from '../../../coordination/records.ts'
import { REPORTED } from '../../../coordination/reported.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { claimHistory, whyPath } from '../../table/coordination.ts'
import { withRoomToRead } from './room.ts'

export const history: Run<typeof claimHistory> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const named = flags.agent
      const agent = named === undefined ? undefined : room.store.read((rows) => findAgent(rows, named))
      if (named !== undefined && agent === undefined) throw unknownAgent(named)
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
      const table = renderTable(context.style, ['SEQ', 'TIME', 'EVENT', 'FROM', 'TO', 'SCOPE', 'TASK'], rows)
      return { data: events, text: rows.length === 0 ? 'nothing has happened yet' : table }
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

export const why: Run<typeof whyPath> = (context, { args }) =>
  withRoomToRead(
    context,
    (room) => {
      const { conflicts } = checkScopes(room, { scopes: [args.path], cwd: context.cwd, asker: null })
      const data = { path: args.path, holders: conflicts.map(conflictRecord) }
      return { data, text: conflicts.length === 0 ? `nobody holds ${args.path}` : conflicts.map(story).join('\n') }
    },
    () => ({ data: { path: args.path, holders: [] }, text: `nobody holds ${args.path}` }),
  )

function story(conflict: Conflict): string {
  const reason = [conflict.task ?? NO_TASK, conflict.intent].filter((part) => part !== null).join(': ')
  const where = conflict.origin === 'remote' ? ', on another machine' : ''
  return [
    `${conflict.wanted} is held by ${conflict.agentId} (${conflict.haid}${where})`,
    `  through ${conflict.held} (${conflict.kind}, for instance ${conflict.witness})`,
    `  since ${conflict.since}, until ${conflict.expiresAt} unless it beats again; it is ${conflict.liveness}`,
    `  for ${reason}`,
  ].join('\n')
}
