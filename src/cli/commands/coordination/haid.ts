// heimdall haid …, heimdall-haid …: identities as seed 000 T-1 has them.
import { type Coordination, projectHaid } from '../../../coordination/coordination.ts'
import { findAgent, unknownAgent } from '../../../coordination/gate.ts'
import { parseHaid, spawnHaid, trailer as trailerOf } from '../../../coordination/haid.ts'
import { heartbeat as beat, registerHaid, setRevoked, updateAgent } from '../../../coordination/identity.ts'
import { readMachine } from '../../../coordination/moment.ts'
import { registryRecord } from '../../../coordination/records.ts'
import { HeimdallError } from '../../../errors.ts'
import { findProject } from '../../../paths.ts'
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
import { keepKey, ledgerActor, SECRET_VARIABLE, withRoom, withRoomToRead } from './room.ts'

const REVOKED_OR_UNKNOWN = 3

/** The HAID of this session: what `heimdall run` says, or the one of this human, machine and project. */
function ownHaid(context: Context): string {
  const given = context.env['HEIMDALL_HAID']
  if (given !== undefined && given !== '') {
    parseHaid(given)
    return given
  }
  return projectHaid(findProject(context.cwd, context.env), context.env, readMachine())
}

export const current: Run<typeof haidCurrent> = (context) => Promise.resolve(plain(ownHaid(context)))

export const spawn: Run<typeof haidSpawn> = (context, { args }) =>
  Promise.resolve(plain(spawnHaid(ownHaid(context), args.role)))

export const trailer: Run<typeof haidTrailer> = (context, { args }) =>
  Promise.resolve(plain(trailerOf(args.haid ?? ownHaid(context)), 'trailer'))

function plain(text: string, field = 'haid'): Answer {
  return { data: { [field]: text }, text }
}

export const register: Run<typeof haidRegister> = (context, { flags }) =>
  withRoom(context, (room) => {
    const haid = flags.haid ?? ownHaid(context)
    const made = registerHaid(room, haid, { role: flags.role }, keepKey(room))
    if (made === undefined) {
      const actor = ledgerActor(context, room, haid)
      const isRevoked = room.store.read((rows) => rows.agent(haid)?.revokedMs ?? null) !== null
      // Registering again never lifts a revocation.
      if (!isRevoked && flags.role !== undefined) updateAgent(room, actor, { role: flags.role })
      else if (!isRevoked) beat(room, actor)
    }
    return one(room, haid, haid)
  })

export const heartbeat: Run<typeof haidHeartbeat> = (context, { args }) =>
  withRoom(context, (room) => {
    const haid = args.haid ?? ownHaid(context)
    known(room, haid)
    beat(room, ledgerActor(context, room, haid))
    return one(room, haid, haid)
  })

export const revoke: Run<typeof haidRevoke> = (context, { args }) => setState(context, args.haid, true)
export const reinstate: Run<typeof haidReinstate> = (context, { args }) => setState(context, args.haid, false)

function setState(context: Context, haid: string, isRevoked: boolean): Promise<Answer> {
  parseHaid(haid)
  // An agent's session decides about itself only, and never lifts a revocation.
  if ((context.env[SECRET_VARIABLE] ?? '') !== '' && (!isRevoked || ownHaid(context) !== haid))
    throw new HeimdallError(
      'IDENTITY_UNPROVEN',
      `an agent's session may not ${isRevoked ? 'revoke' : 'reinstate'} ${haid}`,
    )
  return withRoom(context, (room) => {
    setRevoked(room, { kind: 'human', name: context.env['USER'] ?? 'unknown' }, haid, isRevoked)
    return one(room, haid, `${haid} ${isRevoked ? 'revoked' : 'active'}`)
  })
}

export const check: Run<typeof haidCheck> = (context, { args }) => {
  parseHaid(args.haid)
  const absent: Answer = { data: { haid: args.haid, status: 'absent' }, text: 'absent', exit: REVOKED_OR_UNKNOWN }
  return withRoomToRead(
    context,
    (room) => {
      const agent = room.store.read((rows) => rows.agent(args.haid))
      if (agent === undefined) return absent
      const status = String(registryRecord(room, agent, room.now())['status'])
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
      const agents = room.store.read((rows) => rows.agents())
      const registry = Object.fromEntries(agents.map((agent) => [agent.haid, registryRecord(room, agent, now)]))
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

function one(room: Coordination, haid: string, text?: string): Answer {
  const agent = room.store.read((rows) => rows.agent(haid))
  if (agent === undefined) throw unknownAgent(haid)
  const record = registryRecord(room, agent, room.now())
  return { data: { haid, ...record }, text: text ?? JSON.stringify(record, null, 2), seedJson: record }
}
