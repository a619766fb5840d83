// What a process has read of the store already, kept for as long as nobody has written: most calls of a long-lived one ask the same.
import { KEPT_ROWS_MAX } from '../../limits.ts'
import type { Reader } from '../store.ts'

/** The store underneath: a read transaction, and the number that moves when another connection has committed. */
export interface Source {
  readonly rows: Reader
  begin(): void
  commit(): void
  /** Inside a transaction it says as of when the transaction reads. */
  version(): number
}

/**
 * Answers are facts of the store and never of the time: whether a lease has run out is worked out from them at each
 * call. They are good for one version; a change of our own moves no version, so whoever makes one calls `forget`.
 */
export class KeptReads {
  readonly #source: Source
  readonly #answers = new Map<string, unknown>()
  readonly #view: Reader
  /** In all answers together. */
  #rows = 0
  #version: number | undefined
  #isOpen = false
  /** How often a commit came between a kept answer and a fresh one. */
  #overtaken = 0

  constructor(source: Source) {
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

  forget(): void {
    this.#answers.clear()
    this.#rows = 0
  }

  /** True when answers had to go. */
  #catchUp(): boolean {
    const version = this.#source.version()
    if (version === this.#version) return false
    this.#version = version
    const hadAnswers = this.#answers.size > 0
    this.forget()
    return hadAnswers
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

  #kept<T>(key: string, ask: () => T): T {
    const known = this.#answers.get(key)
    if (known !== undefined) return known as T
    const answer = this.#fresh(ask)
    if (this.#rows >= KEPT_ROWS_MAX) this.forget()
    this.#rows += Array.isArray(answer) ? answer.length + 1 : 1
    // Others get the very same list: whoever sorts it in place is told at once.
    this.#answers.set(key, Array.isArray(answer) ? Object.freeze(answer) : answer)
    return answer
  }

  #keeping(rows: Reader): Reader {
    return {
      agent: (haid) => this.#kept(`agent ${haid}`, () => rows.agent(haid)),
      claims: (query) => this.#kept(`claims ${JSON.stringify(query)}`, () => rows.claims(query)),
      candidates: (bases) => this.#kept(`candidates ${JSON.stringify(bases)}`, () => rows.candidates(bases)),
      setting: (key) => this.#kept(`setting ${key}`, () => rows.setting(key)),
      agentById: (agentId) => this.#fresh(() => rows.agentById(agentId)),
      agents: () => this.#fresh(() => rows.agents()),
      agentsOfOtherBoots: (boot) => this.#fresh(() => rows.agentsOfOtherBoots(boot)),
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
      localSetting: (key) => this.#kept(`local setting ${key}`, () => rows.localSetting(key)),
      head: () => this.#fresh(() => rows.head()),
    }
  }
}
