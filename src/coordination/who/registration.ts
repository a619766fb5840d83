// Who is who: agents with an id and a HAID, registered, renamed, revoked (seed 002 §3, seed 000 T-1).
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import type { Coordination } from '../coordination.ts'
import { enrol, type Enrolled, type Origin, withSecret } from './enrol.ts'
import { type Actor, type AgentActor, changeAs, changeAsOther, findAgent, unknownAgent } from '../change.ts'
import { parseHaid, spawnHaid } from './haid.ts'
import type { SecretKeeper } from './key-files.ts'
import { freeName, parseAgentId } from './names.ts'
import type { Agent, Reader } from '../store.ts'

export interface Registration extends Origin {
  /** Made up when absent. */
  readonly name?: string | undefined
  readonly role: string
  readonly displayName?: string | undefined
}

/**
 * A new agent with a session of its own. Names are never given twice, not even in another spelling. An agent that is
 * made for a process has its secret in the environment of that process, and nobody passes `keys` for it.
 */
export async function register(room: Coordination, registration: Registration, keys?: SecretKeeper): Promise<Enrolled> {
  const role = parseRole(registration.role)
  const name = registration.name === undefined ? undefined : parseAgentId(registration.name)
  return withSecret(room, keys, (secret) =>
    changeAsOther(room, { kind: 'system' }, (change) => {
      const isTaken = (wanted: string): boolean =>
        change.rows.agentById(wanted) !== undefined || change.rows.agent(spawnHaid(room.rootHaid, wanted)) !== undefined
      if (name !== undefined && isTaken(name))
        throw new HeimdallError('DUPLICATE_AGENT_ID', `${name} is taken`, {
          hint: `${freeName(isTaken, () => random(room))} is free; adopt ${name} only with evidence`,
        })
      const agentId = name ?? freeName(isTaken, () => random(room))
      return enrol(room, change, {
        secret,
        haid: `${room.rootHaid}/${agentId}`,
        agentId,
        role,
        displayName: registration.displayName ?? agentId,
        process: registration.process,
        tree: registration.tree,
        startedBy: registration.startedBy,
      })
    }),
  )
}

/** Changes what an agent is shown as; its id never changes. */
export async function updateAgent(
  room: Coordination,
  actor: AgentActor,
  update: { readonly role?: string | undefined; readonly displayName?: string | undefined },
): Promise<Agent> {
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
export async function registerHaid(
  room: Coordination,
  haid: string,
  options: Origin & { readonly role?: string | undefined } = {},
  keys?: SecretKeeper,
): Promise<Enrolled | undefined> {
  const parts = parseHaid(haid)
  return withSecret(room, keys, (secret) =>
    changeAsOther(room, { kind: 'system' }, (change) => {
      if (change.rows.agent(haid) !== undefined) return undefined
      return enrol(room, change, {
        secret,
        haid,
        agentId: aliasOf(change.rows, haid),
        role: parseRole(options.role ?? parts.role ?? 'orchestrator'),
        displayName: haid,
        process: options.process,
        tree: options.tree,
      })
    }),
  )
}

export async function heartbeat(room: Coordination, actor: AgentActor): Promise<Agent> {
  return changeAs(room, actor, (_, agent) => agent)
}

/** A revoked agent keeps its claims, so that nobody runs into half-done work, but can change nothing. */
export async function setRevoked(
  room: Coordination,
  actor: Exclude<Actor, AgentActor>,
  haid: string,
  isRevoked: boolean,
): Promise<Agent> {
  return changeAsOther(room, actor, (change) => {
    const agent = findAgent(change.rows, haid)
    if (agent === undefined) throw unknownAgent(haid, change.rows)
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
