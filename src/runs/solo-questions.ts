// Questions of a shim alone: its events go to a stream, which takes no answers, so its questions are recorded in a folder of their own.
import { rmSync } from 'node:fs'
import type { QueuedEvent } from '../events/event-lines.ts'
import { EventLines } from '../events/event-lines.ts'
import { RunLog } from './run-log.ts'
import { joinMembers, type RunMembership } from './run-members.ts'
import { fieldsOf } from './run-totals.ts'

/** Opened with the first question. While the shim lives it is a member there, so that what a killed one leaves can be told. */
export class SoloQuestions {
  readonly #folder: string
  readonly #shimId: string
  #log: RunLog | undefined
  #membership: RunMembership | undefined
  /** Events that are not in the record yet, because another process holds its lock. */
  readonly #waiting = new EventLines()
  /** Bytes of the record and answers in them that `news` has read. */
  #readBytes = 0
  #answers = 0

  constructor(folder: string, shimId: string) {
    this.#folder = folder
    this.#shimId = shimId
  }

  publish({ fields, ...event }: QueuedEvent): void {
    this.#membership ??= joinMembers(this.#folder, this.#shimId)
    this.#log ??= new RunLog(this.#folder)
    // Its number is that of another record.
    const call = fields.call === undefined ? {} : { call: { ...fields.call } }
    this.#waiting.put({ ...event, fields: { ...fields, ...call } })
    this.#write()
  }

  /** Where the lock is taken, the events wait for the next call. */
  #write(): void {
    const log = this.#log
    if (log === undefined || this.#waiting.count === 0) return
    try {
      if (log.locked(() => log.append(this.#waiting)) === undefined) return
    } catch (error) {
      this.#waiting.clear()
      throw error
    }
    this.#waiting.clear()
  }

  /** Answers that were given since the last time, as their events have them. */
  news(): readonly Readonly<Record<string, unknown>>[] {
    this.#write()
    this.#log?.refresh()
    if (this.#log === undefined || this.#log.bytes === this.#readBytes) return []
    this.#readBytes = this.#log.bytes
    const answers: Readonly<Record<string, unknown>>[] = []
    this.#log.read((event) => {
      if (event.type === 'approval_decided') answers.push(fieldsOf(event['approval']))
    })
    const news = answers.slice(this.#answers)
    this.#answers = answers.length
    return news
  }

  close(): void {
    this.#log?.close()
    if (this.#membership === undefined) return
    rmSync(this.#folder, { recursive: true, force: true })
    this.#membership.leave()
  }
}
