// What a process has read of the store already, kept until an entry says that it has changed: most calls of a long-lived one ask the same.
import { KEPT_ROWS_MAX } from '../../limits.ts'
import type { SharedTable } from '../log-entry.ts'
import type { Reader } from '../store.ts'

/** The store underneath: a read transaction, and what was committed since a number. */
export interface ReadSource {
  readonly rows: Reader
  begin(): void
  commit(): void
  /** Moves when another connection has committed, an entry or not. Inside a transaction it says as of when the transaction reads. */
  version(): number
  /** Tables that entries after this one have put rows into; nothing when they are no longer all kept. */
  tablesSince(seq: number): ReadonlySet<string> | undefined
}

/** Answers of one kind, which go together: those about agents have beats in them, which are in no entry. */
type Kind = Extract<SharedTable, 'agents' | 'claims' | 'settings'> | 'local'

/**
 * Answers are facts of the store and never of the time: whether a lease has run out is worked out from them at each
 * call. A change of our own moves no version, so whoever makes one calls `forget`.
 */
export class KeptReads {
  readonly #source: ReadSource
  readonly #answers = new Map<Kind, Map<string, unknown>>()
  readonly #view: Reader
  /** In all answers together. */
  #rows = 0
  #version: number | undefined
  /** The entry as of which the answers stand. */
  #head = 0
  #isOpen = false
  /** How often a commit came between a kept answer and a fresh one. */
  #overtaken = 0
  #mark = 0

  constructor(source: ReadSource) {
    this.#source = source
    this.#view = this.#keeping(source.rows)
  }

  /** All that `act` reads is one state of the store. It may run twice, and must not change anything. */
  read<T>(act: (rows: Reader) => T): T {
    if (this.#answers.size > 0) this.#catchUp()
    const overtaken = this.#overtaken
    try {
      const result = act(this.#view)
      return this.#overtaken === overtaken ? result : act(this.#view)
    } finally {
      if (this.#isOpen) {
        this.#isOpen = false
        this.#source.commit()
      }
    }
  }

  /** Stands still as long as every question would be answered as it was. */
  mark(): number {
    this.#catchUp()
    return this.#mark
  }

  forget(): void {
    this.#mark += 1
    this.#answers.clear()
    this.#rows = 0
    this.#version = undefined
  }

  /** True when answers had to go. */
  #catchUp(): boolean {
    const version = this.#source.version()
    if (version === this.#version) return false
    this.#mark += 1
    // Before the tables are asked for: what is committed in between belongs to the next time.
    const head = this.#source.rows.head()
    const changed = this.#version === undefined ? undefined : this.#source.tablesSince(this.#head)
    const before = this.#answers.size
    if (changed === undefined) this.forget()
    // What is in no entry may have changed without one.
    else for (const kind of this.#answers.keys()) if (isStale(kind, changed)) this.#answers.delete(kind)
    this.#version = version
    this.#head = head
    return this.#answers.size < before
  }

  /** The transaction begins with the first question that has no answer yet. A commit in between makes what was answered before it older than the rest. */
  #fresh<T>(ask: () => T): T {
    if (!this.#isOpen) {
      this.#source.begin()
      this.#isOpen = true
      if (this.#catchUp()) this.#overtaken += 1
    }
    return ask()
  }

  #kept<T>(kind: Kind, key: string, ask: () => T): T {
    const known = this.#answers.get(kind)?.get(key)
    if (known !== undefined) return known as T
    const answer = this.#fresh(ask)
    if (this.#rows >= KEPT_ROWS_MAX) {
      this.#answers.clear()
      this.#rows = 0
    }
    this.#rows += Array.isArray(answer) ? answer.length + 1 : 1
    const answers = this.#answers.get(kind) ?? new Map<string, unknown>()
    this.#answers.set(kind, answers)
    // Others get the very same list: whoever sorts it in place is told at once.
    answers.set(key, Array.isArray(answer) ? Object.freeze(answer) : answer)
    return answer
  }

  #keeping(rows: Reader): Reader {
    return {
      agent: (haid) => this.#kept('agents', haid, () => rows.agent(haid)),
      revokedAgents: () => this.#kept('agents', 'revoked', () => rows.revokedAgents()),
      claims: (query) => this.#kept('claims', JSON.stringify(query), () => rows.claims(query)),
      candidates: (bases) => this.#kept('claims', JSON.stringify(bases), () => rows.candidates(bases)),
      setting: (key) => this.#kept('settings', key, () => rows.setting(key)),
      localSetting: (key) => this.#kept('local', key, () => rows.localSetting(key)),
      agentById: (agentId) => this.#fresh(() => rows.agentById(agentId)),
      agents: () => this.#fresh(() => rows.agents()),
      agentsUnseen: (boot) => this.#fresh(() => rows.agentsUnseen(boot)),
      agentsOfTree: (tree) => this.#fresh(() => rows.agentsOfTree(tree)),
      claim: (claimId) => this.#fresh(() => rows.claim(claimId)),
      events: (query) => this.#fresh(() => rows.events(query)),
      knownEvents: (ids) => this.#fresh(() => rows.knownEvents(ids)),
      lastSeq: () => this.#fresh(() => rows.lastSeq()),
      note: (messageId) => this.#fresh(() => rows.note(messageId)),
      notes: (query) => this.#fresh(() => rows.notes(query)),
      incursion: (pair) => this.#fresh(() => rows.incursion(pair)),
      incursionCounts: (eventIds) => this.#fresh(() => rows.incursionCounts(eventIds)),
      tickets: () => this.#fresh(() => rows.tickets()),
      task: (taskId) => this.#fresh(() => rows.task(taskId)),
      tasks: (query) => this.#fresh(() => rows.tasks(query)),
      lastSign: (who) => this.#fresh(() => rows.lastSign(who)),
      contract: (taskId) => this.#fresh(() => rows.contract(taskId)),
      queueHeads: () => this.#fresh(() => rows.queueHeads()),
      parked: () => this.#fresh(() => rows.parked()),
      deadlines: (byMs) => this.#fresh(() => rows.deadlines(byMs)),
      worker: (workerId) => this.#fresh(() => rows.worker(workerId)),
      workers: () => this.#fresh(() => rows.workers()),
      attempts: (query) => this.#fresh(() => rows.attempts(query)),
      tokenReservations: (taskId) => this.#fresh(() => rows.tokenReservations(taskId)),
      assignment: (assignmentId) => this.#fresh(() => rows.assignment(assignmentId)),
      assignments: (query) => this.#fresh(() => rows.assignments(query)),
      head: () => this.#fresh(() => rows.head()),
    }
  }
}

function isStale(kind: Kind, changed: ReadonlySet<string>): boolean {
  return kind === 'agents' || kind === 'local' || changed.has(kind)
}
