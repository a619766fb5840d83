// heimdall agent …, bb agent …: register, list, show, heartbeat, reserve, release, status.
import { keysOf } from '../../../coordination/keys.ts'
import { claimScopes } from '../../../coordination/claims.ts'
import { releaseClaims } from '../../../coordination/held.ts'
import { type Standing, standingOf } from '../../../coordination/conflicts.ts'
import type { Coordination } from '../../../coordination/coordination.ts'
import { findAgent, unknownAgent } from '../../../coordination/gate.ts'
import { heartbeat as beat, register as registerAgent, updateAgent } from '../../../coordination/identity.ts'
import { endSession } from '../../../coordination/enrol.ts'
import { parseAgentId } from '../../../coordination/names.ts'
import { NO_TASK } from '../../../coordination/protocol.ts'
import {
  type AgentRecord,
  agentRecord,
  conflictRecord,
  endedStanding,
  noteRecord,
  reservationRecord,
} from '../../../coordination/records.ts'
import type { Agent, Claim } from '../../../coordination/store.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type {
  agentEnd,
  agentHeartbeat,
  agentList,
  agentRegister,
  agentRelease,
  agentReserve,
  agentShow,
  agentStatus,
} from '../../table/coordination.ts'
import { actorFor, sessionTree, withRoom, withRoomToRead } from './room.ts'

const recordOf = (room: Coordination, agent: Agent): AgentRecord =>
  room.store.read((rows) => agentRecord(room, rows, rows.agent(agent.haid) ?? agent, room.now()))

export const register: Run<typeof agentRegister> = (context, { flags }) =>
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

export const list: Run<typeof agentList> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const now = room.now()
      const records = room.store
        .read((rows) => rows.agents().map((agent) => agentRecord(room, rows, agent, now)))
        .filter(({ role }) => flags.role === undefined || role === flags.role)
        .filter(
          ({ status, liveness }) => flags.status === undefined || status === flags.status || liveness === flags.status,
        )
      const table = renderTable(
        context.style,
        ['AGENT', 'ROLE', 'LIVENESS', 'STATUS', 'LAST SEEN', 'TASK'],
        records.map((agent) => [
          agent.agent_id,
          agent.role,
          agent.liveness,
          agent.status,
          agent.last_seen_at,
          agent.current_task ?? '',
        ]),
      )
      return { data: records, text: records.length === 0 ? 'nobody is registered' : table }
    },
    () => ({ data: [], text: 'nobody is registered' }),
  )

export const show: Run<typeof agentShow> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const agent = room.store.read((rows) => findAgent(rows, checkedName(flags.agent)))
      if (agent === undefined) throw unknownAgent(flags.agent)
      const record = recordOf(room, agent)
      const text = Object.entries(record).map(([field, value]) => `${field}: ${value ?? ''}`)
      return { data: record, text: text.join('\n') }
    },
    () => {
      throw unknownAgent(checkedName(flags.agent))
    },
  )

export const heartbeat: Run<typeof agentHeartbeat> = (context, { flags }) =>
  withRoom(context, async (room) => {
    if (flags.agent !== undefined) checkedName(flags.agent)
    const agent = await beat(room, await actorFor(context, room, flags.agent))
    const record = recordOf(room, agent)
    return { data: record, text: `✓ ${agent.agentId} seen at ${record.last_seen_at}` }
  })

export const end: Run<typeof agentEnd> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const { released } = await endSession(room, await actorFor(context, room, flags.agent))
    return { data: { released }, text: `✓ session ended, ${released.length} claims released` }
  })

export const reserve: Run<typeof agentReserve> = (context, { flags }) =>
  withRoom(context, async (room) => {
    if (flags.ttl < 5 || flags.ttl > 1_440)
      throw new HeimdallError('INVALID_ARGS', `--ttl ${flags.ttl}, 5 to 1440 minutes allowed`)
    const result = await claimScopes(room, await actorFor(context, room, flags.agent), {
      scopes: flags.scope,
      cwd: context.cwd,
      task: flags.bead === NO_TASK ? null : flags.bead,
      ttlMinutes: flags.ttl,
      takeover: flags['takeover-stale'] === true ? 'stale' : undefined,
    })
    if (!result.granted) {
      const active = result.conflicts.find(({ liveness }) => liveness === 'active')
      const first = active ?? result.conflicts[0]
      const who =
        first === undefined
          ? 'somebody'
          : `${first.agentId} (${first.liveness}${first.lease === 'lapsed' ? ', lease expired' : ''})`
      throw new HeimdallError(
        active === undefined ? 'RESERVATION_STALE_FOUND' : 'RESERVATION_CONFLICT',
        `${first?.wanted ?? ''} overlaps ${first?.held ?? ''}, held by ${who} until ${first?.expiresAt ?? ''}`,
        {
          hint:
            active === undefined
              ? 'add --takeover-stale to take it over'
              : 'work elsewhere, ask for a handoff, or wait with heimdall claim wait',
          details: { conflicts: result.conflicts.map(conflictRecord) },
        },
      )
    }
    for (const warning of result.warnings) context.note(`warning: ${warning}`)
    const record = reservationRecord(room, standing(room, result.claim))
    const taken = result.displaced.map(({ claimId, agentId }) => ({ reservation_id: claimId, agent_id: agentId }))
    const extra = taken.length === 0 ? {} : { displaced: taken, dirty_paths: result.dirty }
    const dirty =
      result.dirty.length === 0 ? '' : `\n! left uncommitted by the former holder: ${result.dirty.join(', ')}`
    return {
      data: { ...record, ...extra },
      text: `✓ reserved ${flags.scope.join(' ')} until ${String(record['expires_at'])}${dirty}`,
    }
  })

export const release: Run<typeof agentRelease> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const actor = await actorFor(context, room, flags.agent)
    const released = await releaseClaims(room, actor, { scopes: flags.scope, cwd: context.cwd, epoch: flags.epoch })
    const agentId = room.store.read((rows) => rows.agent(actor.haid)?.agentId ?? actor.haid)
    const [first] = released.map((claim) => reservationRecord(room, endedStanding(claim, agentId)))
    return {
      data: first ?? null,
      text: `✓ released ${released.flatMap(({ scopes }) => scopes.map(({ raw }) => raw)).join(' ')}`,
    }
  })

export const status: Run<typeof agentStatus> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const now = room.now()
      const data = room.store.read((rows) => {
        const agent = flags.agent === undefined ? undefined : findAgent(rows, flags.agent)
        if (flags.agent !== undefined && agent === undefined) throw unknownAgent(flags.agent)
        const query = {
          ...(agent === undefined ? {} : { holder: agent.haid }),
          ...(flags.bead === undefined ? {} : { task: flags.bead }),
        }
        const all = rows.claims(query)
        const active = all.filter(({ state }) => state === 'active').map((claim) => standingOf(room, rows, claim, now))
        const unacked = rows.notes({
          unackedOnly: true,
          ...(agent === undefined ? {} : { to: agent.agentId }),
          ...(flags.bead === undefined ? {} : { task: flags.bead }),
        })
        const count = (state: Claim['state']): number => all.filter((claim) => claim.state === state).length
        return {
          reservations: active.map((found) => reservationRecord(room, found)),
          unacked_required_messages: unacked.map(noteRecord),
          summary: {
            active: active.length,
            released: count('released'),
            expired: count('expired'),
            unacked_required_messages: unacked.length,
          },
        }
      })
      const rows = data.reservations.map((record) => [
        String(record['scope']),
        String(record['agent_id']),
        String(record['liveness']),
        String(record['expires_at']),
        String(record['bead_id']),
      ])
      const table = renderTable(context.style, ['SCOPE', 'AGENT', 'LIVENESS', 'EXPIRES', 'TASK'], rows)
      const counts = `${data.summary.active} active, ${data.summary.unacked_required_messages} notes waiting for an answer`
      return { data, text: rows.length === 0 ? counts : `${table}\n${counts}` }
    },
    () => {
      if (flags.agent !== undefined) throw unknownAgent(flags.agent)
      const summary = { active: 0, released: 0, expired: 0, unacked_required_messages: 0 }
      return {
        data: { reservations: [], unacked_required_messages: [], summary },
        text: '0 active, 0 notes waiting for an answer',
      }
    },
  )

function standing(room: Coordination, claim: Claim): Standing {
  const now = room.now()
  return room.store.read((rows) => standingOf(room, rows, claim, now))
}

/** A name that cannot be one is a mistake of its own, not an unknown agent. */
function checkedName(name: string): string {
  return name.startsWith('haid:') ? name : parseAgentId(name)
}
