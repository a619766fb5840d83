// heimdall haid …, heimdall-haid …: identities as seed 000 T-1 has them.
import { keysOf } from '../../../coordination/keys.ts'
import { haidBeforeAny, askingHere } from '../../../coordination/caller.ts'
import { type Coordination, projectHaid } from '../../../coordination/coordination.ts'
import { findAgent, unknownAgent } from '../../../coordination/gate.ts'
import { parseHaid, spawnHaid, trailer as trailerOf } from '../../../coordination/haid.ts'
import { heartbeat as beat, registerHaid, setRevoked, updateAgent } from '../../../coordination/identity.ts'
import { readMachine } from '../../../coordination/moment.ts'
import { registryRecord } from '../../../coordination/records.ts'
import type { Answer, Context, Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type {
  haidCheck,
  haidCurrent,
  haidGet,
  haidHeartbeat,
  haidList,
  haidRegister,
  haidReinstate,
  haidRevoke,
  haidSpawn,
  haidTrailer,
} from '../../table/coordination.ts'
import { callerOf, ledgerActor, personIn, sessionTree, withRoom, withRoomToRead } from './room.ts'

const REVOKED_OR_UNKNOWN = 3

/** The HAID of whoever calls: a session's own, or the one of this human, machine and project. */
function ownHaid(context: Context): Promise<string> {
  const given = context.env['HEIMDALL_HAID'] ?? ''
  if (given !== '') parseHaid(given)
  return withRoomToRead(
    context,
    (room) => callerOf(context, room).haid,
    ({ project, env }) => haidBeforeAny(projectHaid(project, env, readMachine()), askingHere(context.env)),
  )
}

export const current: Run<typeof haidCurrent> = async (context) => plain(await ownHaid(context))

export const spawn: Run<typeof haidSpawn> = async (context, { args }) =>
  plain(spawnHaid(await ownHaid(context), args.role))

export const trailer: Run<typeof haidTrailer> = async (context, { args }) =>
  plain(trailerOf(args.haid ?? (await ownHaid(context))), 'trailer')

function plain(text: string, field = 'haid'): Answer {
  return { data: { [field]: text }, text }
}

export const register: Run<typeof haidRegister> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const found = callerOf(context, room)
    const haid = flags.haid ?? found.haid
    const isSession = flags.haid === undefined && found.proof === 'process'
    const made = isSession
      ? undefined
      : await registerHaid(room, haid, { role: flags.role, tree: sessionTree(context) }, keysOf(room))
    if (made === undefined) {
      const actor = await ledgerActor(context, room, flags.haid)
      const isRevoked = room.store.read((rows) => rows.agent(haid)?.revokedMs ?? null) !== null
      // Registering again never lifts a revocation.
      if (!isRevoked && flags.role !== undefined) await updateAgent(room, actor, { role: flags.role })
      else if (!isRevoked) await beat(room, actor)
    }
    return one(room, haid, haid)
  })

export const heartbeat: Run<typeof haidHeartbeat> = (context, { args }) =>
  withRoom(context, async (room) => {
    const haid = args.haid ?? callerOf(context, room).haid
    known(room, haid)
    await beat(room, await ledgerActor(context, room, args.haid))
    return one(room, haid, haid)
  })

export const revoke: Run<typeof haidRevoke> = (context, { args }) => setState(context, args.haid, true)
export const reinstate: Run<typeof haidReinstate> = (context, { args }) => setState(context, args.haid, false)

/** By HAID, or by the short name that every list shows. */
function setState(context: Context, named: string, isRevoked: boolean): Promise<Answer> {
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

export const check: Run<typeof haidCheck> = (context, { args }) => {
  parseHaid(args.haid)
  const absent: Answer = { data: { haid: args.haid, status: 'absent' }, text: 'absent', exit: REVOKED_OR_UNKNOWN }
  return withRoomToRead(
    context,
    (room) => {
      const record = recordOf(room, args.haid)
      if (record === undefined) return absent
      const status = String(record['status'])
      return {
        data: { haid: args.haid, status },
        text: status,
        ...(status === 'revoked' ? { exit: REVOKED_OR_UNKNOWN } : {}),
      }
    },
    () => absent,
  )
}

export const list: Run<typeof haidList> = (context) =>
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

export const get: Run<typeof haidGet> = (context, { args }) => {
  parseHaid(args.haid)
  return withRoomToRead(
    context,
    (room) => one(room, args.haid),
    () => {
      throw unknownAgent(args.haid)
    },
  )
}

function known(room: Coordination, haid: string): void {
  parseHaid(haid)
  if (room.store.read((rows) => findAgent(rows, haid)) === undefined) throw unknownAgent(haid)
}

function recordOf(room: Coordination, haid: string): Record<string, unknown> | undefined {
  return room.store.read((rows) => {
    const agent = rows.agent(haid)
    return agent === undefined ? undefined : registryRecord(room, rows, agent, room.now())
  })
}

function one(room: Coordination, haid: string, text?: string): Answer {
  const record = recordOf(room, haid)
  if (record === undefined) throw unknownAgent(haid)
  return { data: { haid, ...record }, text: text ?? JSON.stringify(record, null, 2), seedJson: record }
}
