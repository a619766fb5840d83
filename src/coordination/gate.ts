// The one place that every change passes: who is acting is proved here, revoked agents stop here, and every act counts as a beat.
import { createHash, timingSafeEqual } from 'node:crypto'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import type { Coordination } from './coordination.ts'
import { type Liveness, livenessOf, sight, silenceMs } from './liveness.ts'
import type { Moment } from './moment.ts'
import { checkPayload } from './protocol.ts'
import type { ActorKind, Agent, NewEvent, Reader, Writer } from './store.ts'

/** Who acts. An agent proves itself with the secret of its session; a client's name is a label and proves nothing. */
export type Actor =
  | { readonly kind: 'agent'; readonly haid: string; readonly secret: string | null }
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
export function changeAs<T>(room: Coordination, actor: AgentActor, act: (change: Change, agent: Agent) => T): T {
  const outcome = room.store.write((rows): { refused: HeimdallError } | { done: T } => {
    const change = beginChange(room, rows)
    const agent = rows.agent(actor.haid)
    const refused = agent === undefined ? unknownAgent(actor.haid) : refusal(agent, actor.secret)
    if (agent === undefined || refused !== undefined) {
      // The refusal itself is committed: a forged identity leaves a trace even though it changes nothing.
      const error = refused ?? unknownAgent(actor.haid)
      if (agent !== undefined)
        change.record({
          type: 'REFUSED',
          actor: null,
          actorKind: 'system',
          to: agent.agentId,
          payload: { code: error.code },
        })
      return { refused: error }
    }
    if (livenessIn(room, agent, change.now) !== 'active')
      change.record({
        type: 'HEARTBEAT',
        actor: agent.agentId,
        actorKind: 'agent',
        payload: { was: livenessIn(room, agent, change.now) },
      })
    rows.beat(agent.haid, change.now)
    const own: Change = {
      ...change,
      record: (event) => change.record({ actor: agent.agentId, actorKind: 'agent', ...event }),
    }
    return { done: act(own, rows.agent(agent.haid) ?? agent) }
  })
  if ('refused' in outcome) throw outcome.refused
  return outcome.done
}

/** A change by a person or by the program itself: no agent acts, no agent beats. */
export function changeAsOther<T>(
  room: Coordination,
  actor: Extract<Actor, { kind: 'human' | 'system' }>,
  act: (change: Change) => T,
): T {
  return room.store.write((rows) => {
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
  })
}

function beginChange(room: Coordination, rows: Writer): Change {
  const now = room.now()
  // Beats made under another boot are watched from the first change on, so that their silence is measured and not believed.
  for (const agent of rows.agentsOfOtherBoots(now.boot)) {
    const seen = sight(agent.beat, agent.seen, now)
    if (seen !== undefined) rows.putAgent({ ...agent, seen })
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
        to = null,
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

function refusal(agent: Agent, secret: string | null): HeimdallError | undefined {
  if (agent.revokedMs !== null)
    return new HeimdallError('AGENT_REVOKED', `${agent.haid} is revoked and may change nothing`, {
      hint: `heimdall haid reinstate ${agent.haid} lifts it`,
    })
  if (agent.session.endedMs !== null)
    return new HeimdallError('IDENTITY_ENDED', `the session of ${agent.agentId} has ended`, {
      hint: 'register under a name of your own, or adopt this one with evidence',
    })
  if (secret === null || !isSecretOf(agent, secret))
    return new HeimdallError('IDENTITY_UNPROVEN', `this session may not act as ${agent.agentId}`, {
      hint: 'act under your own name; another session holds this one, or adopted it since',
    })
  return undefined
}

/** May whoever knows `secret` act as this agent at present? */
export function isProven(agent: Agent, secret: string): boolean {
  return agent.session.endedMs === null && isSecretOf(agent, secret)
}

function isSecretOf(agent: Agent, secret: string): boolean {
  if (agent.session.secretHash === null) return false
  return timingSafeEqual(Buffer.from(agent.session.secretHash, 'hex'), Buffer.from(hashSecret(secret), 'hex'))
}

export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

export function unknownAgent(name: string): HeimdallError {
  return new HeimdallError('AGENT_NOT_FOUND', `no agent ${printable(name)} is registered here`, {
    hint: 'heimdall agent list shows who is; heimdall agent register adds one',
  })
}

/** By agent id or by HAID. */
export function findAgent(rows: Reader, name: string): Agent | undefined {
  return name.startsWith('haid:') ? rows.agent(name) : rows.agentById(name)
}

export function livenessIn(room: Pick<Coordination, 'staleMs'>, agent: Agent, now: Moment): Liveness {
  return livenessOf(silenceMs(agent.beat, agent.seen, now), room.staleMs)
}
