// Identity over MCP: the agent of the run, or a session of the client's own. A name is a label; the secret is the authority.
import type { Coordination } from '../coordination/coordination.ts'
import { slug } from '../coordination/haid.ts'
import { heartbeat, joinAsClient } from '../coordination/identity.ts'
import { writeKey } from '../coordination/keys.ts'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { MCP_BEAT_MS, MCP_IDENTITIES_MAX } from '../limits.ts'
import type { Env } from '../paths.ts'

export interface Identity {
  readonly haid: string
  readonly agentId: string
  readonly secret: string
  /** When it last beat, by the monotonic clock. */
  beatMs: number
}

export interface IdentifyOptions {
  readonly env: Env
  /** Name of the connected client. */
  readonly client: string
  /** `client_identity` of the call. */
  readonly label: string | undefined
  readonly pid: number
  /** Identities of this session by label; new ones are added. */
  readonly owned: Map<string, Identity>
}

export function identify(room: Coordination, options: IdentifyOptions): Identity {
  const identity = ofRun(room, options) ?? ofClient(room, options)
  const nowMs = room.clock.monoMs()
  // Reading is activity too, but a beat is a write: one now and then says as much as one for each call.
  if (nowMs - identity.beatMs >= MCP_BEAT_MS) {
    heartbeat(room, { kind: 'agent', ...identity })
    identity.beatMs = nowMs
  }
  return identity
}

/** Inside `heimdall run` the holder is the run's agent, whatever client speaks and whatever it calls itself. */
function ofRun(room: Coordination, { env, owned }: IdentifyOptions): Identity | undefined {
  const haid = env['HEIMDALL_HAID']
  const secret = env['HEIMDALL_SECRET']
  if (haid === undefined || secret === undefined) return undefined
  const known = owned.get(haid)
  if (known !== undefined) return known
  const { agentId } = heartbeat(room, { kind: 'agent', haid, secret })
  return keep(room, owned, haid, { haid, agentId, secret })
}

function ofClient(room: Coordination, { client, label, pid, owned }: IdentifyOptions): Identity {
  const name = slug(label ?? client)
  if (name === '' && label !== undefined)
    throw new HeimdallError('MCP_ARGUMENTS_INVALID', `client_identity ${printable(label)} has no letter or digit`)
  // The connection's own identity may carry four hex digits, so it is found by what it is, not by its label.
  const key = label === undefined ? '' : name
  const own = owned.get('')
  const known = owned.get(key) ?? (own?.haid.endsWith(`/${name}`) === true ? own : undefined)
  if (known !== undefined) return known
  if (owned.size >= MCP_IDENTITIES_MAX)
    throw new HeimdallError(
      'MCP_ARGUMENTS_INVALID',
      `this session has ${owned.size} identities already, limit ${MCP_IDENTITIES_MAX}`,
    )
  const { agent, secret } = joinAsClient(
    room,
    { client, pid, ...(label === undefined ? {} : { label }) },
    (haid, made) => writeKey(room.project, haid, made),
  )
  return keep(room, owned, key, { haid: agent.haid, agentId: agent.agentId, secret })
}

function keep(
  room: Coordination,
  owned: Map<string, Identity>,
  key: string,
  identity: Omit<Identity, 'beatMs'>,
): Identity {
  const kept = { ...identity, beatMs: room.clock.monoMs() }
  owned.set(key, kept)
  return kept
}
