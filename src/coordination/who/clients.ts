// MCP clients as holders: one identity for each connection, taken up again by whoever proves to be the same client (seed 000 T-4).
import { HeimdallError } from '../../errors.ts'
import { isOver } from './alive.ts'
import type { Coordination } from '../coordination.ts'
import { enrol, type Enrolled, newSession, withSecret } from './enrol.ts'
import { type Change, changeAsOther, isSecretOf, unknownAgent, unproven } from '../change.ts'
import { rootOf, slug } from './haid.ts'
import { aliasOf } from './registration.ts'
import type { SecretKeeper } from './key-files.ts'
import { sinceMs } from '../moment.ts'
import type { ProcessRef } from './process-ref.ts'
import { revokedClient, revokedError } from './revoked.ts'
import type { Agent } from '../store.ts'

export interface ConnectedClient {
  /** Name that the client gives itself. */
  readonly client: string
  /** The server's own process: the identity ends with it. */
  readonly process: ProcessRef
  /** The client's process, which may start a server again. */
  readonly startedBy?: ProcessRef | undefined
  /** Milliseconds since that process started, where this is known. */
  readonly startedByAgeMs?: number | undefined
  /** What a call asks to be called, instead of the client's name. */
  readonly label?: string | undefined
}

/**
 * The first live session of a client is `{root}/{client}`, further ones get four hex digits. A HAID that still holds
 * claims of an earlier session is taken up by the process that started that session, or once that process has ended:
 * then the client was started again. A label is what the caller asked for by name, so it is given as it is or not at all.
 */
export async function joinAsClient(
  room: Coordination,
  connection: ConnectedClient,
  keys?: SecretKeeper,
): Promise<Enrolled> {
  const { client, process, startedBy, label } = connection
  return withSecret(room, keys, (secret) =>
    changeAsOther(room, { kind: 'system' }, (change) => {
      const name = slug(label ?? client) || 'client'
      const own = `${rootOf(room.rootHaid)}/${slug(client) || 'client'}`
      const revoked = revokedClient(change.rows, { haid: own, client, startedBy })
      if (revoked !== undefined) throw revokedError(revoked)
      const left = [...change.rows.agentsOfTree(startedBy ?? ''), ...change.rows.agents()].find(
        (agent) => isEarlier(room, agent, connection) && isLeftBehind(room, change, agent, name),
      )
      const haid = left?.haid ?? freeHaid(room, change, { name, isAsked: label !== undefined })
      const known = change.rows.agent(haid)
      const origin = { secret, client, process, tree: startedBy }
      return known === undefined
        ? enrol(room, change, {
            haid,
            agentId: aliasOf(change.rows, haid),
            role: name,
            displayName: haid,
            ...origin,
          })
        : newSession(room, change, known, origin, left === undefined ? {} : { taken_up: heldBy(change, haid) })
    }),
  )
}

function freeHaid(
  room: Coordination,
  change: Change,
  { name, isAsked }: { readonly name: string; readonly isAsked: boolean },
): string {
  const root = rootOf(room.rootHaid)
  let haid = `${root}/${name}`
  if (isAsked && !isFree(room, change, haid))
    throw new HeimdallError('IDENTITY_HELD', `${haid} belongs to another session, or holds claims of an earlier one`, {
      hint: 'choose another label, or none',
      details: { haid },
    })
  while (!isFree(room, change, haid)) haid = `${root}/${name}-${room.randomBytes(2).toString('hex')}`
  return haid
}

/**
 * A session of the same client that is over. Either the same process started it, or the process that did has ended and
 * the caller's was started after that session: a second window that was open all along is not its successor.
 */
export function isEarlier(room: Coordination, agent: Agent, connection: ConnectedClient): boolean {
  const { runtime } = agent
  if (runtime.client !== connection.client || !isOver(room, agent)) return false
  if (runtime.tree === null) return false
  return (
    runtime.tree === connection.startedBy ||
    (room.fateOf(runtime.tree) === 'gone' && isStartedSince(room, agent, connection))
  )
}

function isStartedSince(room: Coordination, { beat, runtime }: Agent, { startedByAgeMs }: ConnectedClient): boolean {
  if (startedByAgeMs === undefined) return false
  const now = room.now()
  const endedAgoMs = runtime.endedMs === null ? Number.POSITIVE_INFINITY : now.wallMs - runtime.endedMs
  return startedByAgeMs < Math.min(sinceMs(beat.at, now), endedAgoMs)
}

/** An earlier session under this name of which nobody is left, with what it held. */
function isLeftBehind(room: Coordination, change: Change, agent: Agent, name: string): boolean {
  const role = agent.haid.slice(agent.haid.indexOf('/') + 1)
  return (
    (role === name || (role.startsWith(`${name}-`) && /^[0-9a-f]{4}$/.test(role.slice(name.length + 1)))) &&
    agent.revokedMs === null &&
    isOver(room, agent) &&
    heldBy(change, agent.haid).length > 0
  )
}

/**
 * A name that nobody has, or that a connection had which is over and has left nothing. Silence is no end: what a
 * command has registered comes back whenever it likes, and is taken over with evidence alone (RESUME).
 */
function isFree(room: Coordination, change: Change, haid: string): boolean {
  const known = change.rows.agent(haid)
  if (known === undefined) return true
  return (
    known.origin === 'local' &&
    known.revokedMs === null &&
    known.runtime.client !== null &&
    isOver(room, known) &&
    heldBy(change, haid).length === 0 &&
    change.rows.tasks({ owner: haid, state: 'in_progress' }).length === 0
  )
}

function heldBy({ rows }: Change, haid: string): string[] {
  return rows.claims({ holder: haid, state: 'active' }).map(({ claimId }) => claimId)
}

/** A session that is over goes on for whoever has its secret: the same HAID, its claims, the next epoch. */
export async function takeUp(
  room: Coordination,
  proof: { readonly haid: string; readonly secret: string },
  connection: ConnectedClient,
  keys?: SecretKeeper,
): Promise<Enrolled> {
  return withSecret(room, keys, (secret) =>
    changeAsOther(room, { kind: 'system' }, (change) => {
      const agent = change.rows.agent(proof.haid)
      if (agent === undefined) throw unknownAgent(proof.haid)
      if (!isSecretOf(agent, proof.secret) || agent.revokedMs !== null) throw unproven(agent)
      const { client, process, startedBy } = connection
      const taken = heldBy(change, agent.haid)
      return newSession(room, change, agent, { secret, client, process, tree: startedBy }, { taken_up: taken })
    }),
  )
}
