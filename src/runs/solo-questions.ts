// Questions of a shim alone: its events go to a stream that nobody can answer in, so its questions are recorded in a folder of their own.
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
  #answers = 0

  constructor(folder: string, shimId: string) {
    this.#folder = folder
    this.#shimId = shimId
  }

  publish({ fields, ...event }: QueuedEvent): void {
    this.#membership ??= joinMembers(this.#folder, this.#shimId)
    const log = (this.#log ??= new RunLog(this.#folder))
    const lines = new EventLines()
    // Its number is that of another record.
    lines.put({ ...event, fields: { ...fields, ...(fields.call === undefined ? {} : { call: { ...fields.call } }) } })
    log.locked(() => log.append(lines))
  }

  /** Answers that were given since the last time, as their events have them. */
  news(): readonly Readonly<Record<string, unknown>>[] {
    const before = this.#log?.bytes
    this.#log?.refresh()
    if (this.#log === undefined || this.#log.bytes === before) return []
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
