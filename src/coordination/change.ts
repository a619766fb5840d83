// The one place that every change passes: who is acting is proved here, revoked agents stop here, and every act counts as a beat.
import { createHash, timingSafeEqual } from 'node:crypto'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { didYouMean } from '../suggest.ts'
import { livenessIn, settleStaleMinutes } from './who/alive.ts'
import type { Coordination } from './coordination.ts'
import { sight } from './who/liveness.ts'
import type { Moment } from './moment.ts'
import type { ProcessRef } from './who/process-ref.ts'
import { revokedError } from './who/revoked.ts'
import { isSecretHash } from './who/secret-hash.ts'
import { checkPayload } from './protocol.ts'
import type { ActorKind, Agent, NewEvent, Reader, Writer } from './store.ts'

/**
 * Who acts. An agent proves itself with the secret of its session, or by descending from the process that may speak
 * for it; a name is a label and proves nothing.
 */
export type Actor =
  | {
      readonly kind: 'agent'
      readonly haid: string
      readonly secret: string | null
      /** The process tree that it acts from. */
      readonly tree?: ProcessRef | undefined
    }
  | { readonly kind: 'human'; readonly name: string }
  | { readonly kind: 'system' }

export type AgentActor = Extract<Actor, { kind: 'agent' }>

export interface Change {
  readonly rows: Writer
  readonly now: Moment
  readonly record: (event: EventDraft) => string
}

export type EventDraft = Pick<NewEvent, 'type' | 'payload'> &
  Partial<Pick<NewEvent, 'to' | 'task' | 'scope' | 'claimId' | 'actor' | 'actorKind'>>

/** A change made by a proven, unrevoked agent. Its leases are renewed by the act itself. */
export async function changeAs<T>(
  room: Coordination,
  actor: AgentActor,
  act: (change: Change, agent: Agent) => T,
): Promise<T> {
  const outcome = await room.store.change((rows): { refused: HeimdallError } | { done: T } => {
    const change = beginChange(room, rows)
    const agent = rows.agent(actor.haid)
    if (agent === undefined) return { refused: unknownAgent(actor.haid) }
    const error = refusal(agent, actor)
    if (error !== undefined) {
      // The refusal itself is committed: it leaves a trace even though it changes nothing, under the name of whoever
      // has proved to be somebody, and of nobody otherwise.
      const isKnown = mayBe(agent, actor)
      if (isKnown) rows.signAs(agent.haid)
      change.record({
        type: 'REFUSED',
        actor: isKnown ? agent.agentId : null,
        actorKind: isKnown ? 'agent' : 'system',
        to: agent.agentId,
        payload: { code: error.code },
      })
      return { refused: error }
    }
    rows.signAs(agent.haid)
    const was = livenessIn(room, rows, agent, change.now)
    if (was !== 'active')
      change.record({ type: 'HEARTBEAT', actor: agent.agentId, actorKind: 'agent', payload: { was } })
    // Whoever has the secret takes it up where its process has gone. From here on it lives by its beats.
    if (agent.runtime.process !== null && room.fateOf(agent.runtime.process) === 'gone')
      rows.putAgent({ ...agent, runtime: { ...agent.runtime, process: null, tree: null } })
    rows.beat(agent.haid, change.now)
    const own: Change = {
      ...change,
      record: (event) => change.record({ actor: agent.agentId, actorKind: 'agent', ...event }),
    }
    return { done: act(own, rows.agent(agent.haid) ?? agent) }
  }, room.startedIn)
  if ('refused' in outcome) throw outcome.refused
  return outcome.done
}

/** A change by a person or by the program itself: no agent acts, no agent beats. */
export async function changeAsOther<T>(
  room: Coordination,
  actor: Extract<Actor, { kind: 'human' | 'system' }>,
  act: (change: Change) => T,
): Promise<T> {
  return room.store.change((rows) => {
    const change = beginChange(room, rows)
    return act({
      ...change,
      record: (event) =>
        change.record({
          actorKind: actor.kind,
          ...event,
          payload: actor.kind === 'human' ? { by: actor.name, ...event.payload } : event.payload,
        }),
    })
  }, room.startedIn)
}

function beginChange(room: Coordination, rows: Writer): Change {
  const now = room.now()
  settleStaleMinutes(room, rows)
  // Beats made under another boot are watched from the first change on, so that their silence is measured and not believed.
  for (const agent of rows.agentsUnseen(now.boot)) {
    const seen = sight(agent.beat, agent.seen, now)
    if (seen !== undefined) rows.putSighting(agent.haid, seen)
  }
  return {
    rows,
    now,
    record(event) {
      checkPayload(event.type, event.payload)
      const id = `proto_${new Date(now.wallMs).toISOString().slice(0, 10).replaceAll('-', '')}_${room.newId()}`
      const {
        actorKind = 'system' satisfies ActorKind,
        actor = null,
        // Nobody's but the program's own events go to nobody (seed 002 §6.1): what concerns no other is the actor's own.
        to = actorKind === 'agent' ? actor : null,
        task = null,
        scope = null,
        claimId = null,
      } = event
      rows.addEvent({
        id,
        type: event.type,
        actor,
        actorKind,
        to,
        task,
        scope,
        claimId,
        wallMs: now.wallMs,
        payload: event.payload,
        origin: room.rootHaid,
      })
      return id
    },
  }
}

function refusal(agent: Agent, actor: AgentActor): HeimdallError | undefined {
  if (!mayBe(agent, actor)) return unproven(agent)
  if (agent.revokedMs !== null) return revokedError(agent)
  if (agent.runtime.endedMs !== null)
    return new HeimdallError('IDENTITY_ENDED', `the session of ${agent.agentId} has ended`, {
      hint: `heimdall claim takeover PATH takes what it still holds; act under a name of your own, or adopt this one: bb-init --adopt ${agent.agentId}`,
    })
  return undefined
}

export function unproven(agent: Agent): HeimdallError {
  return new HeimdallError('IDENTITY_UNPROVEN', `nothing proves that this is ${agent.agentId}`, {
    hint: 'act under your own name (heimdall whoami says which); another session holds this one, or adopted it since',
  })
}

function mayBe(agent: Agent, { secret, tree }: AgentActor): boolean {
  return (secret !== null && isSecretOf(agent, secret)) || (tree !== undefined && speaksFor(agent, tree))
}

/** Those below this process speak for the agent. An MCP client's server speaks for itself alone. */
export function speaksFor({ runtime }: Agent, tree: ProcessRef): boolean {
  return runtime.tree === tree && runtime.client === null
}

export function isSecretOf(agent: Agent, secret: string): boolean {
  const { secretHash } = agent.runtime
  if (secretHash === null || !isSecretHash(secretHash)) return false
  return timingSafeEqual(Buffer.from(secretHash, 'hex'), Buffer.from(hashSecret(secret), 'hex'))
}

export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** `rows`: nothing where there is no store yet. */
export function unknownAgent(name: string, rows?: Reader): HeimdallError {
  const known = (rows?.agents() ?? []).map(({ agentId, haid }) => (name.startsWith('haid:') ? haid : agentId))
  return new HeimdallError('AGENT_NOT_FOUND', `no agent ${printable(name)} is registered here`, {
    hint: didYouMean(name, known, 'heimdall agent list shows agents; heimdall agent add registers one'),
  })
}

/** By agent id or by HAID. */
export function findAgent(rows: Reader, name: string): Agent | undefined {
  return name.startsWith('haid:') ? rows.agent(name) : rows.agentById(name)
}
