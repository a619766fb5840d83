// Who is who: agents with an id and a HAID, the session that speaks for each, revocation (seed 002 §3, seed 000 T-1).
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import type { Coordination } from './coordination.ts'
import {
  type Actor,
  type AgentActor,
  type Change,
  changeAs,
  changeAsOther,
  findAgent,
  hashSecret,
  livenessIn,
  unknownAgent,
} from './gate.ts'
import { parseHaid, rootOf, slug, spawnHaid } from './haid.ts'
import { freeName, parseAgentId } from './names.ts'
import type { Agent, Reader, Session } from './store.ts'

/** An agent and the secret of its new session: the only time that the secret is seen outside the holder. */
export interface Enrolled {
  readonly agent: Agent
  readonly secret: string
}

/**
 * Where the secret of a session is kept. Called before the commit: another process that sees the agent must find its
 * key, too.
 */
export type KeepSecret = (haid: string, secret: string) => void

export interface Registration {
  /** Made up when absent. */
  readonly name?: string | undefined
  readonly role: string
  readonly displayName?: string | undefined
  readonly client?: string | undefined
  readonly pid?: number | undefined
}

/** A new agent with a session of its own. Names are never given twice, not even in another spelling. */
export function register(room: Coordination, registration: Registration, keep?: KeepSecret): Enrolled {
  const role = parseRole(registration.role)
  const name = registration.name === undefined ? undefined : parseAgentId(registration.name)
  return changeAsOther(room, { kind: 'system' }, (change) => {
    const isTaken = (wanted: string): boolean =>
      change.rows.agentById(wanted) !== undefined || change.rows.agent(spawnHaid(room.rootHaid, wanted)) !== undefined
    if (name !== undefined && isTaken(name))
      throw new HeimdallError('DUPLICATE_AGENT_ID', `${name} is taken`, {
        hint: `${freeName(isTaken, () => random(room))} is free; adopt ${name} only with evidence`,
      })
    const agentId = name ?? freeName(isTaken, () => random(room))
    const enrolled = enrol(room, change, {
      haid: `${room.rootHaid}/${agentId}`,
      agentId,
      role,
      displayName: registration.displayName ?? agentId,
      tool: registration.client ?? 'unknown',
      client: registration.client ?? null,
      pid: registration.pid ?? null,
    })
    keep?.(enrolled.agent.haid, enrolled.secret)
    return enrolled
  })
}

/** Changes what an agent is shown as; its id never changes. */
export function updateAgent(
  room: Coordination,
  actor: AgentActor,
  update: { readonly role?: string | undefined; readonly displayName?: string | undefined },
): Agent {
  return changeAs(room, actor, (change, agent) => {
    const updated: Agent = {
      ...agent,
      role: update.role === undefined ? agent.role : parseRole(update.role),
      displayName: update.displayName ?? agent.displayName,
      version: agent.version + 1,
    }
    change.rows.putAgent(updated)
    change.record({ type: 'UPDATE', payload: { role: updated.role, display_name: updated.displayName } })
    return updated
  })
}

/** Registers a HAID that is given rather than made up; nothing when it is known already. */
export function registerHaid(
  room: Coordination,
  haid: string,
  options: { readonly role?: string | undefined; readonly client?: string | undefined } = {},
  keep?: KeepSecret,
): Enrolled | undefined {
  const parts = parseHaid(haid)
  return changeAsOther(room, { kind: 'system' }, (change) => {
    if (change.rows.agent(haid) !== undefined) return undefined
    const enrolled = enrol(room, change, {
      haid,
      agentId: aliasOf(change.rows, haid),
      role: parseRole(options.role ?? parts.role ?? 'orchestrator'),
      displayName: haid,
      tool: options.client ?? 'unknown',
      client: options.client ?? null,
      pid: null,
    })
    keep?.(haid, enrolled.secret)
    return enrolled
  })
}

/**
 * A session for an MCP client: the first live one of a client is `{root}/{client}`, further ones get four hex digits.
 * A HAID that still holds claims of an earlier session is not taken over in passing: that would be adoption without evidence.
 * A label is what the caller asked for by name, so it is given as it is or not at all.
 */
export function joinAsClient(
  room: Coordination,
  { client, pid, label }: { readonly client: string; readonly pid: number; readonly label?: string },
  keep?: KeepSecret,
): Enrolled {
  return changeAsOther(room, { kind: 'system' }, (change) => {
    const name = slug(label ?? client) || 'client'
    const root = rootOf(room.rootHaid)
    const isFree = (haid: string): boolean => {
      const known = change.rows.agent(haid)
      if (known === undefined) return true
      return (
        known.origin === 'local' &&
        known.revokedMs === null &&
        !isLive(room, known, change) &&
        change.rows.claims({ holder: haid, state: 'active' }).length === 0
      )
    }
    let haid = `${root}/${name}`
    if (label !== undefined && !isFree(haid))
      throw new HeimdallError(
        'IDENTITY_HELD',
        `${haid} belongs to another session, or holds claims of an earlier one`,
        {
          hint: 'choose another label, or none',
        },
      )
    while (!isFree(haid)) haid = `${root}/${name}-${room.randomBytes(2).toString('hex')}`
    const known = change.rows.agent(haid)
    const enrolled =
      known === undefined
        ? enrol(room, change, {
            haid,
            agentId: aliasOf(change.rows, haid),
            role: name,
            displayName: haid,
            tool: client,
            client,
            pid,
          })
        : newSession(room, change, known, { client, pid })
    keep?.(haid, enrolled.secret)
    return enrolled
  })
}

/** True unless the session is over, its process is gone, or the agent was silent for twice the stale time. */
function isLive(room: Coordination, agent: Agent, { now }: Change): boolean {
  if (agent.session.endedMs !== null) return false
  const { pid } = agent.session
  if (pid !== null && agent.beat.at.boot === now.boot && room.isProcessGone(pid)) return false
  return livenessIn(room, agent, now) !== 'evicted'
}

interface Enrolment {
  readonly haid: string
  readonly agentId: string
  readonly role: string
  readonly displayName: string
  readonly tool: string
  readonly client: string | null
  readonly pid: number | null
}

function enrol(room: Coordination, { rows, now, record }: Change, enrolment: Enrolment): Enrolled {
  const { client, pid, ...described } = enrolment
  const { secret, session } = makeSession(room, 1, { client, pid })
  const agent: Agent = {
    ...described,
    toolVersion: 'unknown',
    origin: 'local',
    version: 1,
    createdMs: now.wallMs,
    revokedMs: null,
    beat: { count: 1, at: now },
    seen: null,
    session,
  }
  rows.putAgent(agent)
  record({
    type: 'REGISTER',
    actor: agent.agentId,
    actorKind: 'agent',
    payload: { haid: agent.haid, role: agent.role, epoch: session.epoch },
  })
  return { agent, secret }
}

/** The next session of a known agent: from here on the secret before it is worth nothing. */
export function newSession(
  room: Coordination,
  { rows, now, record }: Change,
  agent: Agent,
  process: Pick<Session, 'client' | 'pid'>,
): Enrolled {
  const { secret, session } = makeSession(room, agent.session.epoch + 1, process)
  rows.putAgent({ ...agent, session, version: agent.version + 1 })
  rows.beat(agent.haid, now)
  record({
    type: 'SESSION',
    actor: agent.agentId,
    actorKind: 'agent',
    payload: { haid: agent.haid, epoch: session.epoch },
  })
  return { agent: rows.agent(agent.haid) ?? agent, secret }
}

function makeSession(
  room: Coordination,
  epoch: number,
  { client, pid }: Pick<Session, 'client' | 'pid'>,
): { secret: string; session: Session } {
  const secret = room.randomBytes(24).toString('hex')
  const startedMs = room.clock.wallMs()
  return { secret, session: { epoch, secretHash: hashSecret(secret), client, pid, startedMs, endedMs: null } }
}

/** The end of a session: its claims are released, and its secret opens nothing any more. */
export function endSession(room: Coordination, actor: AgentActor): { released: string[] } {
  return changeAs(room, actor, (change, agent) => {
    const held = change.rows.claims({ holder: agent.haid, state: 'active' })
    for (const claim of held) {
      change.rows.putClaim({ ...claim, state: 'released', endedMs: change.now.wallMs, endedReason: 'session ended' })
      change.record({
        type: 'RELEASE',
        claimId: claim.claimId,
        task: claim.task,
        payload: { epoch: claim.epoch, reason: 'session ended' },
      })
    }
    change.rows.putAgent({ ...agent, session: { ...agent.session, endedMs: change.now.wallMs } })
    change.record({ type: 'SESSION_END', payload: { haid: agent.haid, epoch: agent.session.epoch } })
    return { released: held.map((claim) => claim.claimId) }
  })
}

export function heartbeat(room: Coordination, actor: AgentActor): Agent {
  return changeAs(room, actor, (_, agent) => agent)
}

/** A revoked agent keeps its claims, so that nobody runs into half-done work, but can change nothing. */
export function setRevoked(
  room: Coordination,
  actor: Exclude<Actor, AgentActor>,
  haid: string,
  isRevoked: boolean,
): Agent {
  return changeAsOther(room, actor, (change) => {
    const agent = findAgent(change.rows, haid)
    if (agent === undefined) throw unknownAgent(haid)
    const updated = { ...agent, revokedMs: isRevoked ? (agent.revokedMs ?? change.now.wallMs) : null }
    change.rows.putAgent(updated)
    change.record({ type: isRevoked ? 'REVOKE' : 'REINSTATE', to: agent.agentId, payload: { haid: agent.haid } })
    return updated
  })
}

export function parseRole(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$/.test(text)) return text
  throw new HeimdallError('INVALID_ROLE', `${printable(text)} is not a role`, {
    hint: 'use 1 to 48 letters, digits, dots, underscores or hyphens, such as backend',
  })
}

/** An agent id for a HAID that came without one: its role if free, else with the hash or a number after it. */
export function aliasOf(rows: Reader, haid: string): string {
  const { human, hash4, role } = parseHaid(haid)
  const base = (role ?? human).replace(/-+/g, '-').replace(/^-|-$/g, '').slice(0, 38).replace(/-$/, '')
  const candidates = [...(role === undefined || base.length < 3 ? [] : [base]), `${base}-${hash4}`]
  const free = candidates.find((candidate) => rows.agentById(candidate) === undefined)
  if (free !== undefined) return free
  for (let number = 2; ; number += 1) {
    const candidate = `${base}-${hash4}-${number}`
    if (rows.agentById(candidate) === undefined) return candidate
  }
}

function random(room: Coordination): number {
  return room.randomBytes(4).readUInt32BE() / 2 ** 32
}
