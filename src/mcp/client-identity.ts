// Identity over MCP: the agent of the session or run that the server is in, or one of the connection's own. A name is a label and opens nothing.
import { isOver } from '../coordination/who/alive.ts'
import { actAs, type Caller, caller, recordRefusal } from '../coordination/who/caller.ts'
import { type ConnectedClient, isEarlier, joinAsClient, takeUp } from '../coordination/who/clients.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { Enrolled } from '../coordination/who/enrol.ts'
import type { AgentActor } from '../coordination/change.ts'
import { slug } from '../coordination/who/haid.ts'
import { heartbeat } from '../coordination/who/registration.ts'
import { keysOf } from '../coordination/who/key-files.ts'
import { revokedAbove, revokedError } from '../coordination/who/revoked.ts'
import type { Place } from '../coordination/who/place.ts'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { MCP_BEAT_MS, MCP_IDENTITIES_MAX } from '../limits.ts'
import type { Env } from '../paths.ts'

export interface ClientIdentity {
  readonly haid: string
  readonly agentId: string
  readonly actor: AgentActor
  /** Made for this connection, and over when it is. */
  readonly isOwn: boolean
  /** When it last beat, by the monotonic clock. */
  beatMs: number
}

export interface IdentifyOptions extends ConnectedClient {
  readonly env: Env
  readonly place: Place | undefined
  /** Identities of this session by label; new ones are added. */
  readonly owned: Map<string, ClientIdentity>
}

export async function identify(room: Coordination, options: IdentifyOptions): Promise<ClientIdentity> {
  await refuseRevoked(room, options)
  const identity = await identityOf(room, options)
  const nowMs = room.clock.monoMs()
  // Reading is activity too, but a beat is a write: one now and then says as much as one for each call.
  if (nowMs - identity.beatMs >= MCP_BEAT_MS) {
    await heartbeat(room, identity.actor)
    identity.beatMs = nowMs
  }
  return identity
}

/** One connection is one agent, whatever it calls itself: a revoked name ends all of them. */
async function refuseRevoked(room: Coordination, { owned, place }: IdentifyOptions): Promise<void> {
  const names = new Set([...owned.values()].map(({ haid }) => haid))
  const revoked = room.store.read(
    (rows) => rows.revokedAgents().find(({ haid }) => names.has(haid)) ?? revokedAbove(rows, place),
  )
  if (revoked === undefined) return
  const error = revokedError(revoked)
  await recordRefusal(room, error, { by: revoked.agentId, to: revoked.agentId })
  throw error
}

/** Whether the environment or a session names somebody does not change while the server runs; it is asked until there is an answer. */
async function identityOf(room: Coordination, options: IdentifyOptions): Promise<ClientIdentity> {
  const { owned } = options
  return (
    owned.get(OF_RUN) ?? (owned.size === 0 ? await ofRun(room, options) : undefined) ?? (await ofClient(room, options))
  )
}

/** No label is empty or has a space in it. */
const OF_RUN = 'of the run'
const OF_CONNECTION = ''

/** In a session, and where the environment names somebody, the holder is that agent, whatever client speaks and whatever it calls itself. */
async function ofRun(room: Coordination, options: IdentifyOptions): Promise<ClientIdentity | undefined> {
  const asking = { env: options.env, place: options.place }
  const found = caller(room, asking)
  if (!isOfRun(found)) return undefined
  if (isEarlierConnection(room, found)) {
    const proof = { haid: found.haid, secret: found.secret ?? '' }
    return keep(room, options.owned, OF_RUN, await takeUp(room, proof, options, keysOf(room)), true)
  }
  const actor = await actAs(room, asking, found)
  const { agentId } = await heartbeat(room, actor)
  return remember(room, options.owned, OF_RUN, { haid: actor.haid, agentId, actor, isOwn: false })
}

/** Somebody without the client's own word: an agent that is named, or whose session or host the server runs in. */
export const isOfRun = ({ as }: Pick<Caller, 'as'>): boolean => as === 'session' || as === 'host' || as === 'name'

/** An identity of a connection that is over: whoever has its secret goes on with it. */
function isEarlierConnection(room: Coordination, { agent, secret, refused }: Caller): boolean {
  if (agent === undefined || secret === null || refused !== undefined) return false
  return agent.runtime.client !== null && isOver(room, agent)
}

async function ofClient(room: Coordination, options: IdentifyOptions): Promise<ClientIdentity> {
  const { client, label, owned } = options
  const name = slug(label ?? client)
  if (name === '' && label !== undefined)
    throw new HeimdallError('MCP_ARGUMENTS_INVALID', `client_identity ${printable(label)} has no letter or digit`)
  // The connection's own identity may carry four hex digits, so it is found by what it is, not by its label.
  const key = label === undefined ? OF_CONNECTION : name
  const own = owned.get(OF_CONNECTION)
  const known = owned.get(key) ?? (own?.haid.endsWith(`/${name}`) === true ? own : undefined)
  if (known !== undefined) return known
  if (owned.size >= MCP_IDENTITIES_MAX)
    throw new HeimdallError(
      'MCP_ARGUMENTS_INVALID',
      `this session has ${owned.size} identities already, limit ${MCP_IDENTITIES_MAX}`,
    )
  return keep(room, owned, key, await joined(room, options), true)
}

/** The identity behind a HAID, if this connection has it or an earlier one of the same client had it. */
export async function ownIdentity(
  room: Coordination,
  options: IdentifyOptions,
  haid: string,
): Promise<ClientIdentity | undefined> {
  const known = [...options.owned.values()].find((identity) => identity.haid === haid)
  if (known !== undefined || options.owned.has(OF_RUN)) return known
  const agent = room.store.read((rows) => rows.agent(haid))
  if (agent === undefined || !isEarlier(room, agent, options)) return undefined
  const taken = await ofClient(room, { ...options, label: haid.slice(haid.indexOf('/') + 1) })
  return taken.haid === haid ? taken : undefined
}

/** A label that another has is an attempt, and on record under the connection's own name; so is the attempt of a revoked client. */
async function joined(room: Coordination, options: IdentifyOptions): Promise<Enrolled> {
  try {
    return await joinAsClient(room, options, keysOf(room))
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    const held = room.store.read((rows) => rows.agent(String(error.details?.['haid']))?.agentId) ?? null
    if (error.code === 'AGENT_REVOKED') await recordRefusal(room, error, { by: held, to: held })
    if (error.code !== 'IDENTITY_HELD') throw error
    const own = await ofClient(room, { ...options, label: undefined })
    await recordRefusal(room, error, { by: own.agentId, to: held })
    throw error
  }
}

function keep(
  room: Coordination,
  owned: Map<string, ClientIdentity>,
  key: string,
  { agent, secret }: Enrolled,
  isOwn: boolean,
): ClientIdentity {
  const actor: AgentActor = { kind: 'agent', haid: agent.haid, secret }
  return remember(room, owned, key, { haid: agent.haid, agentId: agent.agentId, actor, isOwn })
}

function remember(
  room: Coordination,
  owned: Map<string, ClientIdentity>,
  key: string,
  identity: Omit<ClientIdentity, 'beatMs'>,
): ClientIdentity {
  const kept = { ...identity, beatMs: room.clock.monoMs() }
  owned.set(key, kept)
  return kept
}
