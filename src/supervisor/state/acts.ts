// What clients have done to this session, and who they were: kept for its records, as far as there is room.
import type { Clock } from '../../clock.ts'
import { SESSION_ACTS_MAX } from '../../limits.ts'
import type { SessionAct } from '../../wire/session-acts.ts'
import type { SessionLog } from '../session-log.ts'

export class SessionActs {
  readonly #clock: Clock
  readonly #log: SessionLog
  #all: SessionAct[] = []
  /** Values of the last act, which came one by one. */
  #values = 0

  constructor(clock: Clock, log: SessionLog) {
    this.#clock = clock
    this.#log = log
  }

  get all(): readonly SessionAct[] {
    return this.#all
  }

  add(act: SessionAct['act'], by: string, what = ''): void {
    this.#log.write('info', 'session', `${act}: ${what === '' ? '' : `${what}, `}${by}`)
    this.#all.push({ at: new Date(this.#clock.wallMs()).toISOString(), act, by, what })
    if (this.#all.length > SESSION_ACTS_MAX) this.#all.shift()
  }

  /** Several in a row by the same are one act. */
  addValues(act: 'secrets' | 'secrets refused', by: string, values: number): void {
    const last = this.#all.at(-1)
    const isSame = last?.act === act && last.by === by
    this.#values = values + (isSame ? this.#values : 0)
    if (isSame) this.#all.pop()
    this.add(act, by, countOf(this.#values))
  }
}

export const countOf = (values: number): string => `${values} value${values === 1 ? '' : 's'}`
