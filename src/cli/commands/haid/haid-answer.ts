// What commands about HAIDs share: who calls, and one identity as it is shown.
import { haidBeforeAny, askingHere } from '../../../coordination/who/caller.ts'
import { type Coordination, projectHaid } from '../../../coordination/coordination.ts'
import { findAgent, unknownAgent } from '../../../coordination/change.ts'
import { parseHaid } from '../../../coordination/who/haid.ts'
import { setRevoked } from '../../../coordination/who/registration.ts'
import { readMachine } from '../../../coordination/moment.ts'
import { registryRecord } from '../../../coordination/records.ts'
import type { Answer, Context } from '../../command.ts'
import { callerOf, personIn, withRoom, withRoomToRead } from '../../coordination-door.ts'

/** The HAID of whoever calls: a session's own, or the one of this human, machine and project. */
export function ownHaid(context: Context): Promise<string> {
  const given = context.env['HEIMDALL_HAID'] ?? ''
  if (given !== '') parseHaid(given)
  return withRoomToRead(
    context,
    (room) => callerOf(context, room).haid,
    ({ project, env }) => haidBeforeAny(projectHaid(project, env, readMachine()), askingHere(context.env)),
  )
}

export function plain(text: string, field = 'haid'): Answer {
  return { data: { [field]: text }, text }
}

/** By HAID, or by the short name that every list shows. */
export function setState(context: Context, named: string, isRevoked: boolean): Promise<Answer> {
  return withRoom(context, async (room) => {
    const agent = room.store.read((rows) => findAgent(rows, named))
    if (agent === undefined) parseHaid(named)
    const haid = agent?.haid ?? named
    const agentId = agent?.agentId ?? null
    const what = isRevoked ? 'revoking an agent' : 'lifting a revocation'
    const { name } = await personIn(context, room, what, agentId)
    await setRevoked(room, { kind: 'human', name }, haid, isRevoked)
    return one(room, haid, `${haid} ${isRevoked ? 'revoked' : 'active'}`)
  })
}

export function recordOf(room: Coordination, haid: string): Record<string, unknown> | undefined {
  return room.store.read((rows) => {
    const agent = rows.agent(haid)
    return agent === undefined ? undefined : registryRecord(room, rows, agent, room.now())
  })
}

export function one(room: Coordination, haid: string, text?: string): Answer {
  const record = recordOf(room, haid)
  if (record === undefined) throw unknownAgent(haid)
  return { data: { haid, ...record }, text: text ?? JSON.stringify(record, null, 2), seedJson: record }
}
