// Waiting for a held scope: first come, first served among those who wait, with a deadline.
import { pause } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { TICKET_BEAT_MS, WAIT_LOOK_MS, WAIT_MS_MAX } from '../../limits.ts'
import { type ClaimRequest, decide, type Grant, prepare, type PreparedRequest, whoIsInTheWay } from './claims.ts'
import type { Conflict } from './conflicts.ts'
import type { Coordination } from '../coordination.ts'
import type { Entry } from '../log-entry.ts'
import { type AgentActor, changeAs } from '../change.ts'
import type { Moment } from '../moment.ts'
import type { ProcessRef } from '../who/process-ref.ts'
import type { Reader } from '../store.ts'
import { aheadOf, isWaiting, waitingTickets } from './tickets.ts'

export interface WaitOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** The process that waits, where that is known: when it is gone, so is its place. */
  readonly process?: ProcessRef | undefined
  /** Told once, when the wait begins, who is in the way and how many wait in front. */
  readonly onQueued?: (state: { conflicts: readonly Conflict[]; ahead: number }) => void
}

/** Who is in the way, and how many came earlier. */
interface Held {
  readonly granted: false
  readonly conflicts: readonly Conflict[]
  readonly ahead: number
}

export type WaitResult = Grant | Held

/**
 * Claims as soon as nobody holds the scopes and nobody who came earlier waits for them. Whoever waits follows the
 * entries and changes nothing until its turn may have come. Waiting is activity: it keeps the waiter's own claims alive.
 */
export async function waitForClaim(
  room: Coordination,
  actor: AgentActor,
  request: ClaimRequest,
  options: WaitOptions,
): Promise<WaitResult> {
  if (options.timeoutMs > WAIT_MS_MAX)
    throw new HeimdallError('INVALID_ARGS', `a wait of ${options.timeoutMs} ms, limit ${WAIT_MS_MAX}`)
  const deadlineMs = room.clock.monoMs() + options.timeoutMs
  // Nobody waits for the dead: what a plain claim would get at once, whoever waits gets in its turn.
  const wanted = prepare(room, { ...request, archivesLapsed: true })
  const line = new Line(room, actor, wanted, options.process ?? null)
  const over = new AbortController()
  try {
    let result = await line.tryTurn()
    if (!result.granted) options.onQueued?.(result)
    const bell = new Bell(room.store.follow(line.sinceSeq, over.signal))
    // In a fleet: what frees the scope may happen on another machine.
    void room.store.link(over.signal)
    while (!result.granted) {
      const leftMs = deadlineMs - room.clock.monoMs()
      if (leftMs <= 0 || options.signal?.aborted === true) return result
      await bell.heard(room, Math.min(WAIT_LOOK_MS, leftMs), options.signal)
      const found = line.look()
      result = found === 'my turn' ? await line.tryTurn() : found
      if (!result.granted) await line.beat()
    }
    return result
  } finally {
    over.abort()
    await line.leave()
  }
}

/** A waiter's place in the line. */
class Line {
  readonly #room: Coordination
  readonly #actor: AgentActor
  readonly #wanted: PreparedRequest
  readonly #process: ProcessRef | null
  #ticket: number | undefined
  #beatMs = 0
  /** The entry before the one that gave it its place. */
  sinceSeq = 0

  constructor(room: Coordination, actor: AgentActor, wanted: PreparedRequest, process: ProcessRef | null) {
    this.#room = room
    this.#actor = actor
    this.#wanted = wanted
    this.#process = process
  }

  /** The claim if it is this one's turn, otherwise a place in the line; whoever was taken for gone gets a new one. */
  async tryTurn(): Promise<WaitResult> {
    const room = this.#room
    const { ticket, sinceSeq, result } = await changeAs(room, this.#actor, (change, agent) => {
      const { rows, now } = change
      const tickets = rows.tickets()
      for (const { ticket } of tickets.filter((other) => !isWaiting(room, other, now))) rows.removeTicket(ticket)
      const mine = rows.tickets().find(({ ticket }) => ticket === this.#ticket)?.ticket
      const ahead = this.#inFront(rows, agent.haid, now)
      const decided = ahead > 0 ? undefined : decide(room, change, agent, this.#wanted, this.#actor.tree)
      if (decided?.granted === true && mine !== undefined) rows.removeTicket(mine)
      const ticket =
        decided?.granted === true
          ? undefined
          : (mine ??
            rows.addTicket({
              holder: agent.haid,
              scopes: this.#wanted.parsed,
              process: this.#process,
              refreshed: now,
            }))
      const result: WaitResult = decided?.granted === true ? decided : held(decided?.conflicts ?? [], ahead)
      return { ticket, sinceSeq: rows.head(), result }
    })
    this.#ticket = ticket
    this.sinceSeq = sinceSeq
    this.#beatMs = room.clock.monoMs()
    return result
  }

  /** Reads, and says whether it is worth trying. */
  look(): Held | 'my turn' {
    const room = this.#room
    const now = room.now()
    return room.store.read((rows) => {
      const { haid, tree } = this.#actor
      const ahead = this.#inFront(rows, haid, now)
      const conflicts = whoIsInTheWay(room, rows, { haid, tree }, this.#wanted, now)
      const hasPlace = rows.tickets().some(({ ticket }) => ticket === this.#ticket)
      return hasPlace && (ahead > 0 || conflicts.length > 0) ? held(conflicts, ahead) : 'my turn'
    })
  }

  /** A sign of life at a slow pace. It is no entry, and wakes nobody. */
  async beat(): Promise<void> {
    const { clock } = this.#room
    const ticket = this.#ticket
    if (ticket === undefined || clock.monoMs() - this.#beatMs < TICKET_BEAT_MS) return
    this.#beatMs = clock.monoMs()
    await changeAs(this.#room, this.#actor, ({ rows, now }) => rows.refreshTicket(ticket, now))
  }

  async leave(): Promise<void> {
    const ticket = this.#ticket
    if (ticket === undefined) return
    await this.#room.store.change((rows) => rows.removeTicket(ticket), this.#room.startedIn)
  }

  #inFront(rows: Reader, holder: string, now: Moment): number {
    const before = this.#ticket ?? Number.POSITIVE_INFINITY
    return aheadOf(waitingTickets(this.#room, rows, now), { ticket: before, holder, scopes: this.#wanted.parsed })
  }
}

function held(conflicts: readonly Conflict[], ahead: number): Held {
  return { granted: false, conflicts, ahead }
}

/** Rings when an entry may have freed something. */
class Bell {
  #rung = new AbortController()
  #failure: unknown

  constructor(entries: AsyncIterable<Entry>) {
    void this.#listen(entries)
  }

  async #listen(entries: AsyncIterable<Entry>): Promise<void> {
    try {
      for await (const entry of entries) if (mayFree(entry)) this.#rung.abort()
    } catch (error) {
      // It goes to whoever waits, who hears of it at once.
      this.#failure = error
      this.#rung.abort()
    }
  }

  /** Silence is no entry: who falls silent, or dies in front of us, is noticed by a look now and then. */
  async heard({ clock }: Coordination, ms: number, signal: AbortSignal | undefined): Promise<void> {
    await pause(clock, ms, signal === undefined ? this.#rung.signal : AbortSignal.any([signal, this.#rung.signal]))
    if (this.#failure !== undefined) throw this.#failure
    if (this.#rung.signal.aborted) this.#rung = new AbortController()
  }
}

/** A claim that ended, a waiter that left, an agent whose session is over or that was given another name, another patience. */
function mayFree({ puts }: Entry): boolean {
  return puts.some((put) =>
    'removed' in put
      ? put.table === 'tickets'
      : put.table === 'claims'
        ? put.row['state'] !== 'active'
        : put.table === 'agents' || put.table === 'settings',
  )
}
