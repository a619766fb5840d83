// Tells the session around the agent that a person is waited for, and when no more.
import { openConnection } from '../../client/connection.ts'
import type { Report } from '../../client/index.ts'
import { HeimdallError } from '../../errors.ts'

/** Why a person is waited for: a call to be allowed, a tool to be approved. */
type Waiting = 'approvals' | 'pins'

export class SessionNotice {
  readonly #socket: () => Promise<string | undefined>
  readonly #note: (line: string) => void
  /** One after the other: a question must not overtake the word that it is answered. */
  #last: Promise<void> = Promise.resolve()
  #hasFailed = false
  /** Who waits for a person. */
  readonly #waiting = new Set<Waiting>()
  /** What the session was told last. */
  #question = ''

  /** `socket` finds the session's socket; undefined where the agent runs in none. */
  constructor(socket: () => Promise<string | undefined>, note: (line: string) => void) {
    this.#socket = socket
    this.#note = note
  }

  needsInput(who: Waiting, question: string): void {
    this.#waiting.add(who)
    this.#question = question
    this.#say({ source: 'hook', needs_input: true, evidence: question })
  }

  /** Says so when nobody else waits. That the agent works now is not known here. */
  settled(who: Waiting): void {
    if (this.#waiting.delete(who) && this.#waiting.size === 0)
      this.#say({ source: 'hook', needs_input: false, evidence: this.#question, takes_back: true })
  }

  /** Resolves when the session has heard all that was said, or could not be told. */
  said(): Promise<void> {
    return this.#last
  }

  #say(report: Report): void {
    this.#last = this.#last.then(async () => {
      try {
        const socket = await this.#socket()
        if (socket === undefined) return
        const connection = await openConnection(socket)
        try {
          await connection.report(report)
          // Frames are taken in order, so this answer says that the report was.
          await connection.status()
        } finally {
          connection.close()
        }
      } catch (error) {
        if (!(error instanceof HeimdallError)) throw error
        // The question stands in the record and in `heimdall approve` all the same.
        if (!this.#hasFailed) this.#note(`the session cannot be told that a person is asked: ${error.message}`)
        this.#hasFailed = true
      }
    })
  }
}
