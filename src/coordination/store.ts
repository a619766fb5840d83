// The coordination store as an interface: changes that are committed as entries, one consistent state to read, entries to follow. Every implementation passes `test/coordination/store-conformance.ts`.
import type { Annex } from './annex.ts'
import type { HeimdallError } from '../errors.ts'
import type { Scope } from '../scopes/scope.ts'
import type { Dispatch, DispatchReader, DispatchWriter } from './dispatched.ts'
import type { Author, Entry } from './log-entry.ts'
import type { Beat, Sighting } from './who/liveness.ts'
import type { Moment } from './moment.ts'
import type { ProcessRef } from './who/process-ref.ts'

/** The runtime that speaks for an agent at present. A new one gets the next epoch, and the old one's secret is worth nothing. */
export interface Runtime {
  readonly epoch: number
  /** SHA-256 of the secret, in hex; null for an agent of another machine, for whom nobody here can speak. */
  readonly secretHash: string | null
  readonly client: string | null
  /** Local. The process it was made for: when that is provably gone, the session is. Null for one that a command made, which lives by its beats. */
  readonly process: ProcessRef | null
  /** Local. The process whose descendants may speak for the agent without its secret; of an MCP client, the one that may start its server again. */
  readonly tree: ProcessRef | null
  readonly startedMs: number
  readonly endedMs: number | null
}

/** Fields that are marked *local* are known to one machine alone: they are in no entry, and empty for what another machine made. */
export interface Agent {
  readonly haid: string
  readonly agentId: string
  readonly displayName: string
  readonly role: string
  readonly tool: string
  readonly toolVersion: string
  /** `remote`: known only from files that arrived by git. */
  readonly origin: 'local' | 'remote'
  readonly version: number
  readonly createdMs: number
  readonly revokedMs: number | null
  /** Local. */
  readonly beat: Beat
  /** Local. */
  readonly seen: Sighting | null
  readonly runtime: Runtime
}

export type ClaimState = 'active' | 'released' | 'expired'

export interface Claim {
  readonly claimId: string
  /** Fencing token: later grants have higher epochs, across all claims of the store. */
  readonly epoch: number
  readonly holder: string
  readonly task: string | null
  readonly intent: string | null
  /** Local. */
  readonly worktree: string
  readonly ttlMinutes: number
  readonly state: ClaimState
  readonly createdMs: number
  /** The grant or the last explicit renewal: the lease's cap counts from here. Its wall reading is shared, boot and monotonic reading are local. */
  readonly granted: Moment
  readonly endedMs: number | null
  readonly endedReason: string | null
  readonly displacedBy: string | null
  /** Local. The process tree that it was made from. */
  readonly tree: ProcessRef | null
  /** When its former holder was told that it is gone. */
  readonly toldMs: number | null
  readonly origin: 'local' | 'remote'
  readonly scopes: readonly Scope[]
}

export type ActorKind = 'agent' | 'human' | 'system'

export interface NewEvent {
  readonly id: string
  readonly type: string
  readonly actor: string | null
  readonly actorKind: ActorKind
  readonly to: string | null
  readonly task: string | null
  readonly scope: string | null
  readonly claimId: string | null
  readonly wallMs: number
  readonly payload: Readonly<Record<string, unknown>>
  /** Root HAID of the machine and project it was made in. */
  readonly origin: string
}

export interface StoredEvent extends NewEvent {
  /** The only order of events. */
  readonly seq: number
}

export interface EventQuery {
  readonly afterSeq?: number
  readonly types?: readonly string[]
  readonly claimId?: string
  readonly agent?: string
  readonly task?: string
  /** At most so many of what matches, the oldest. */
  readonly first?: number
  /** The newest ones of what matches; the answer is in order of seq all the same. */
  readonly last?: number
}

export type NoteState = 'unread' | 'read' | 'acked'

export interface Note {
  readonly messageId: string
  readonly threadId: string
  readonly task: string
  readonly from: string
  readonly to: string
  readonly category: string
  readonly subject: string
  readonly body: string
  readonly state: NoteState
  readonly requiresAck: boolean
  readonly createdMs: number
  readonly readMs: number | null
  readonly ackedMs: number | null
  /** Who acknowledged: the agent itself, or a person in its place. */
  readonly ackedBy: ActorKind | null
  /** HANDOFF: what the recipient should do next. */
  readonly nextAction: string | null
  /** BLOCKED: what the sender asks for, and how soon: low, medium or high. */
  readonly requestedAction: string | null
  readonly urgency: string | null
}

export interface NoteQuery {
  readonly to?: string
  readonly state?: NoteState
  readonly task?: string
  readonly unackedOnly?: boolean
  /** Newest first, at most this many. */
  readonly limit?: number
}

export interface Incursion {
  /** Owner's claim, incoming holder and the pair of scopes. */
  readonly pair: string
  /** Shared and local as of a claim's grant. */
  readonly since: Moment
  readonly count: number
  readonly eventId: string
}

export interface Ticket {
  readonly ticket: number
  readonly holder: string
  readonly scopes: readonly Scope[]
  /** Local. Who waits: when that process is provably gone, its turn is over. */
  readonly process: ProcessRef | null
  /** Local. The last sign of whoever waits. */
  readonly refreshed: Moment
}

/**
 * A task that somebody works on is in progress, done or failed. One that is dispatched may also wait for a worker
 * (`queued`), for something that has to happen first (`parked`) or for a person (`triage`).
 */
export type TaskState = 'queued' | 'parked' | 'in_progress' | 'triage' | 'done' | 'partial' | 'failed' | 'canceled'

export interface Task {
  readonly taskId: string
  /** Null for a dispatched task that no agent works on yet. */
  readonly owner: string | null
  readonly state: TaskState
  readonly title: string
  readonly startedMs: number
  readonly endedMs: number | null
  readonly summary: string | null
  readonly dispatch: Dispatch | null
}

export interface Reader extends DispatchReader {
  agent(haid: string): Agent | undefined
  /** Without regard to case. */
  agentById(agentId: string): Agent | undefined
  /** In order of agent id. */
  agents(): Agent[]
  /** Agents whose last beat was made under another boot than this one, and was not seen by this one yet. */
  agentsUnseen(boot: string): Agent[]
  /** Agents for whom the descendants of this process may speak, in order of agent id. */
  agentsOfTree(tree: ProcessRef): Agent[]
  revokedAgents(): Agent[]
  claim(claimId: string): Claim | undefined
  /** In order of epoch. */
  claims(query: { holder?: string; state?: ClaimState; task?: string }): Claim[]
  /** Active claims with a scope whose base lies at, above or below one of these. A superset of what overlaps, never a subset; in order of epoch. */
  candidates(bases: readonly string[]): Claim[]
  events(query: EventQuery): StoredEvent[]
  /** Those of the ids that an event has. */
  knownEvents(ids: readonly string[]): ReadonlySet<string>
  lastSeq(): number
  note(messageId: string): Note | undefined
  notes(query: NoteQuery): Note[]
  incursion(pair: string): Incursion | undefined
  incursionCounts(eventIds: readonly string[]): ReadonlyMap<string, number>
  tickets(): Ticket[]
  task(taskId: string): Task | undefined
  tasks(query: { owner?: string; state?: TaskState; dispatched?: true }): Task[]
  setting(key: string): string | undefined
  /** What holds on this machine alone. */
  localSetting(key: string): string | undefined
  /** Number of the last entry that this state has in it: whoever follows from there misses nothing. */
  head(): number
}

/**
 * What a change may do. Everything here runs in one transaction and nowhere else leaves a trace: the same act may be
 * run again on a newer state.
 */
export interface Writer extends Reader, DispatchWriter {
  /** Who the entry is by. Nobody's, until it is proved. */
  signAs(haid: string): void
  /** Inserts or replaces by HAID, the session's processes with it. Beats and sightings stay as they are. */
  putAgent(agent: Omit<Agent, 'beat' | 'seen'>): void
  /** Gives the claim the next epoch. */
  addClaim(claim: Omit<Claim, 'epoch'>): Claim
  /** Everything but scopes and epoch may change. */
  putClaim(claim: Claim): void
  /** Returns the sequence number, or nothing when an event of this id is there already. */
  addEvent(event: NewEvent): number | undefined
  putNote(note: Note): void
  putIncursion(incursion: Incursion): void
  addTicket(ticket: Omit<Ticket, 'ticket'>): number
  removeTicket(ticket: number): void
  putTask(task: Task): void
  putSetting(key: string, value: string): void
  // Local, in no entry.
  /** One more sign of life. */
  beat(haid: string, at: Moment): void
  putBeat(haid: string, beat: Beat): void
  putSighting(haid: string, seen: Sighting): void
  refreshTicket(ticket: number, at: Moment): void
  putLocalSetting(key: string, value: string): void
}

export interface Store {
  /**
   * Decides and commits: what `act` reads stays true until its changes are committed, all of them or, if it throws,
   * none. It is synchronous, touches nothing but the rows, and may run more than once; what it returns belongs to the
   * run that was committed. A change that puts no shared row and records no event makes no entry.
   */
  change<T>(act: (rows: Writer) => T, by?: Omit<Author, 'haid'>): Promise<T>
  /** One consistent state, of this machine and without waiting. `act` may run twice. */
  read<T>(act: (rows: Reader) => T): T
  /** Stands still as long as nothing was changed here since the last one: then every question has the answer that it had. */
  mark(): number
  /**
   * Entries after this one, in order, without gap or repeat, until the signal. Throws FOLLOW_TOO_OLD when the next one
   * is no longer kept.
   */
  follow(afterSeq: number, signal: AbortSignal): AsyncIterable<Entry>
  /** In a fleet: this machine's copy follows the log; resolves with the signal. Alone there is nothing to follow. What keeps it from following is told and not thrown. */
  link(signal: AbortSignal, onFailure?: (error: HeimdallError) => void): Promise<void>
  /** In a fleet: everything that others have changed is here when this resolves. */
  catchUp(): Promise<void>
  /** What is too large for an entry. */
  readonly annex: Annex
  close(): void
}
