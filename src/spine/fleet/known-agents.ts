// What coordination knows of the agents of a project at one moment: who lives, who holds and wants what, which notes want an answer.
import { aheadOf, waitingTickets } from '../../coordination/claims/tickets.ts'
import { isBinding, standingOf } from '../../coordination/claims/conflicts.ts'
import { otherMachine, sessionSetting } from '../../coordination/membership.ts'
import { readWhy } from '../../coordination/dispatched.ts'
import { iso, type Moment } from '../../coordination/moment.ts'
import type { Agent, Claim, Note, Reader, StoredEvent, Task, Ticket } from '../../coordination/store.ts'
import { notesOfSessions, type SessionNotes } from '../../coordination/trail.ts'
import type { View } from '../../coordination/view.ts'
import { isOver, livenessIn } from '../../coordination/who/alive.ts'
import { NOT_STARTED, outcomesIn, type SessionOutcome } from '../../coordination/who/outcome.ts'
import type { Fate, ProcessRef } from '../../coordination/who/process-ref.ts'
import { type Liveness, silenceMs } from '../../coordination/who/liveness.ts'
import { STATUS_EVENTS_MAX, STATUS_SHOWN_MS, INCURSION_WINDOW_MS } from '../../limits.ts'
import type { UsageTotal, WaitStart } from '../../runs/owned-run.ts'
import { overlap } from '../../scopes/overlap.ts'
import type { Collision, HeldClaim, QueuePlace } from './fleet.ts'

export interface KnownAgent {
  readonly agent_id: string
  readonly haid: string
  readonly role: string
  readonly client: string
  readonly epoch: number
  readonly liveness: Liveness
  readonly isOver: boolean
  readonly isRemote: boolean
  /** Another one of the fleet. */
  readonly machine: string | null
  /** Of one on another machine: the session that it was last seen to act in. */
  readonly sessionThere: string | null
  readonly startedMs: number
  readonly endedMs: number | null
  /** How its last session ended, where the watcher has said so. */
  readonly outcome: SessionOutcome | undefined
  readonly silentMs: number
  readonly lastSeenMs: number
  readonly task: { readonly id: string; readonly title: string } | null
  readonly claims: readonly HeldClaim[]
  readonly queue: readonly QueuePlace[]
  /** Of a host session that no run is around: its run, and what it has cost so far. */
  readonly spent: { readonly run_id: string; readonly total: UsageTotal } | null
  /** What its host asks a person, by its hooks, where no session of ours tells it. */
  readonly wait: WaitStart | null
}

/** A note that a person is to answer: nobody else will, or it says that its sender cannot go on. */
export interface OpenNote {
  readonly message_id: string
  readonly category: string
  readonly from: string
  readonly to: string
  readonly subject: string
  /** What the sender asks for, and how soon. */
  readonly action: string | null
  readonly urgency: string | null
  readonly since: string
  readonly why: string
}

/** A dispatched task that nothing more happens to by itself. */
export interface OpenTask {
  readonly task_id: string
  readonly worker: string | null
  readonly asks: string
  /** `triage`: it was given up on. The others are questions of its worker, and `auth` is answered where that runs. */
  readonly kind: 'triage' | 'input' | 'auth'
  readonly since: string
  /** Of the attempt, where it runs on this machine: its session may say the same. */
  readonly run_id: string | null
}

export interface KnownAgents {
  readonly agents: readonly KnownAgent[]
  readonly notes: readonly OpenNote[]
  readonly collisions: readonly Collision[]
  readonly tasks: readonly OpenTask[]
}

export const NOBODY_KNOWN: KnownAgents = { agents: [], notes: [], collisions: [], tasks: [] }

export function knownAgents(view: View): KnownAgents {
  const room = { ...view, fateOf: askedOnce(view.fateOf) }
  const now = room.now()
  return room.store.read((rows) => {
    const claims = rows.claims({ state: 'active' })
    const tickets = waitingTickets(room, rows, now)
    // Of several, the last that was begun.
    const tasks = new Map(rows.tasks({ state: 'in_progress' }).map((task) => [task.owner, task]))
    const outcomes = outcomesIn(rows.events({ types: ['SESSION_END'], last: STATUS_EVENTS_MAX }))
    const notesOf = notesOfSessions(room.project)
    const agents = rows
      .agents()
      .map((agent) => agentOf(room, rows, agent, { claims, tickets, tasks, outcomes, notesOf, now }))
    const byId = new Map(agents.map((agent) => [agent.agent_id, agent]))
    return {
      agents: agents.filter(isShown),
      notes: openNotes(rows, byId),
      collisions: openCollisions(room, rows, { byId, claims, tickets, now }),
      tasks: openTasks(rows),
    }
  })
}

function openTasks(rows: Reader): OpenTask[] {
  return (['triage', 'in_progress'] as const)
    .flatMap((state) => rows.tasks({ dispatched: true, state }))
    .flatMap(({ taskId, state, dispatch, startedMs }) => {
      const why = readWhy(dispatch?.reason ?? null)
      const asks = state === 'in_progress' ? why?.asks : undefined
      // An answer that is on its way needs nobody.
      if (state === 'in_progress' && (asks === undefined || why?.answer !== undefined)) return []
      const attempt = rows.attempts({ taskId }).at(-1)
      const kind = asks === undefined ? 'triage' : asks.isAuth ? 'auth' : 'input'
      return [
        {
          task_id: taskId,
          worker: attempt?.workerId ?? null,
          asks: why?.why ?? 'it waits for a person',
          kind,
          since: asks?.since ?? iso(attempt?.endedMs ?? startedMs),
          run_id: rows.assignments({ taskId }).find((one) => one.attempt === attempt?.number)?.runId ?? null,
        } as const,
      ]
    })
}

/** Within one look a process is alive or it is not; and it is the same one in many rows. */
function askedOnce(fateOf: View['fateOf']): View['fateOf'] {
  const known = new Map<string, Fate>()
  return (ref) => {
    const fate = known.get(ref) ?? fateOf(ref)
    known.set(ref, fate)
    return fate
  }
}

/** Of whom something was heard today, or who stands in somebody's way. */
function isShown({ claims, silentMs, isRemote, liveness, queue, outcome }: KnownAgent): boolean {
  if (isRemote && liveness === 'evicted') return false
  // A start that failed: nobody was ever there.
  if (outcome?.status === NOT_STARTED.status) return false
  return claims.length > 0 || queue.length > 0 || silentMs < STATUS_SHOWN_MS
}

interface AtOnce {
  readonly claims: readonly Claim[]
  readonly tickets: readonly Ticket[]
  readonly now: Moment
}

function agentOf(
  room: View,
  rows: Reader,
  agent: Agent,
  {
    claims,
    tickets,
    tasks,
    outcomes,
    notesOf,
    now,
  }: AtOnce & {
    readonly tasks: ReadonlyMap<string | null, Task>
    readonly outcomes: ReadonlyMap<string, SessionOutcome>
    readonly notesOf: (tree: ProcessRef) => SessionNotes
  },
): KnownAgent {
  const task = tasks.get(agent.haid)
  const { tree } = agent.runtime
  const notes = tree === null ? undefined : notesOf(tree)
  const isGone = isOver(room, agent)
  const held = claims.filter(({ holder }) => holder === agent.haid)
  const machine = otherMachine(room, rows, agent.haid) ?? null
  return {
    agent_id: agent.agentId,
    haid: agent.haid,
    role: agent.role,
    client: agent.runtime.client ?? agent.tool,
    epoch: agent.runtime.epoch,
    liveness: livenessIn(room, rows, agent, now),
    isOver: isGone,
    isRemote: agent.origin === 'remote',
    machine,
    sessionThere: machine === null ? null : (rows.localSetting(sessionSetting(agent.haid)) ?? null),
    startedMs: agent.runtime.startedMs,
    endedMs: agent.runtime.endedMs,
    outcome: outcomes.get(`${agent.haid} ${agent.runtime.epoch}`),
    silentMs: silenceMs(agent.beat, agent.seen, now),
    lastSeenMs: Math.min(agent.beat.at.wallMs, now.wallMs),
    task: task === undefined ? null : { id: task.taskId, title: task.title },
    claims: held.map((claim) => heldClaim(room, rows, claim, now)),
    queue: tickets.filter(({ holder }) => holder === agent.haid).map((ticket) => placeOf(ticket, tickets)),
    spent: spentIn(notes?.spent),
    wait: isGone ? null : waitIn(notes?.wait),
  }
}

function waitIn(value: unknown): WaitStart | null {
  const wait = value as (WaitStart & { readonly is_told?: boolean }) | undefined
  if (typeof wait?.wait_id !== 'string' || Number.isNaN(Date.parse(wait.started_at)) || wait.is_told === true)
    return null
  const { wait_id, started_at, source, evidence } = wait
  return { wait_id, started_at, source, evidence }
}

function spentIn(value: unknown): KnownAgent['spent'] {
  const spent = value as KnownAgent['spent'] | undefined
  return typeof spent?.run_id === 'string' && typeof spent.total.tokens === 'object' ? spent : null
}

function heldClaim(room: View, rows: Reader, claim: Claim, now: Moment): HeldClaim {
  const { lease, expiresAt } = standingOf(room, rows, claim, now)
  return {
    claim_id: claim.claimId,
    scopes: claim.scopes.map(({ raw }) => raw),
    epoch: claim.epoch,
    task: claim.task,
    intent: claim.intent,
    origin: claim.origin,
    since: iso(claim.createdMs),
    expires_at: expiresAt,
    lease,
  }
}

const placeOf = (ticket: Ticket, tickets: readonly Ticket[]): QueuePlace => ({
  scopes: ticket.scopes.map(({ raw }) => raw),
  place: aheadOf(tickets, ticket) + 1,
})

/**
 * BLOCKED waits for a human while its sender lives; a HANDOFF does while its recipient is not active. A note that was sent
 * to several agents is one wait, and one acknowledgement, by an agent or a human, answers it.
 */
function openNotes(rows: Reader, byId: ReadonlyMap<string, KnownAgent>): OpenNote[] {
  const whyOpen = ({ category, from, to }: Note): string | undefined => {
    if (category === 'BLOCKED') return byId.get(from)?.isOver === false ? `${from} is blocked` : undefined
    const liveness = byId.get(to)?.liveness
    return category === 'HANDOFF' && liveness !== 'active' ? `${to} is ${liveness ?? 'not known'}` : undefined
  }
  const sent = new Map<string, Note[]>()
  for (const note of rows.notes({ limit: STATUS_EVENTS_MAX })) {
    const { from, category, threadId, subject, body, createdMs } = note
    const key = JSON.stringify([from, category, threadId, subject, body, createdMs])
    if (note.requiresAck) sent.set(key, [...(sent.get(key) ?? []), note])
  }
  return [...sent.values()].flatMap((copies) => {
    if (copies.some(({ ackedMs }) => ackedMs !== null)) return []
    const open = copies.flatMap((note) => {
      const why = whyOpen(note)
      return why === undefined ? [] : [{ note, why }]
    })
    const [first] = open
    // A HANDOFF to several agents is taken as soon as one of them is active.
    if (first === undefined || open.length < copies.length) return []
    const { messageId, category, from, to, subject, nextAction, requestedAction, urgency, createdMs } = first.note
    const action = nextAction ?? requestedAction
    const { why } = first
    return [{ message_id: messageId, category, from, to, subject, action, urgency, since: iso(createdMs), why }]
  })
}

/**
 * A collision is open while the claim that was met stands in the way, whoever came in is there, and it was tried again
 * not longer ago than the window of an INCURSION, or waits in the line. So it clears by itself.
 */
function openCollisions(
  room: View,
  rows: Reader,
  known: AtOnce & { readonly byId: ReadonlyMap<string, KnownAgent> },
): Collision[] {
  const { byId, claims, tickets, now } = known
  const events = rows.events({ types: ['INCURSION'], last: STATUS_EVENTS_MAX })
  const counts = rows.incursionCounts(events.map(({ id }) => id))
  const newest = new Map<string, Collision>()
  for (const event of events) {
    const claim = claims.find(({ claimId }) => claimId === event.claimId)
    const incoming = byId.get(textOf(event.payload['incoming_agent']))
    if (claim === undefined || incoming === undefined || incoming.isOver || incoming.haid === claim.holder) continue
    const standing = standingOf(room, rows, claim, now)
    const place = tickets
      .filter((ticket) => ticket.holder === incoming.haid && overlaps(ticket, claim))
      .map((ticket) => aheadOf(tickets, ticket) + 1)[0]
    // Of a first attempt the event tells when it was. Later ones are only counted, up to the end of the window.
    const count = counts.get(event.id) ?? 1
    const lastMs = count > 1 ? event.wallMs + INCURSION_WINDOW_MS : event.wallMs
    const isRecent = now.wallMs - lastMs < INCURSION_WINDOW_MS
    if (!isBinding(standing) || (!isRecent && place === undefined)) continue
    const id = `${claim.claimId}.${incoming.agent_id}`
    const attempts = count + (newest.get(id)?.attempts ?? 0)
    newest.set(id, {
      id,
      claim_id: claim.claimId,
      wanted: event.scope ?? '',
      wanted_by: incoming.agent_id,
      held: textOf(event.payload['held_scope']),
      held_by: standing.agentId,
      holder_liveness: standing.liveness,
      expires_at: standing.expiresAt,
      attempts,
      since: newest.get(id)?.since ?? sinceOf(event),
      place: place ?? null,
    })
  }
  return [...newest.values()]
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const sinceOf = ({ wallMs }: StoredEvent): string => iso(wallMs)

const overlaps = (ticket: Ticket, claim: Claim): boolean =>
  ticket.scopes.some((theirs) => claim.scopes.some((ours) => overlap(theirs, ours).kind !== 'disjoint'))
