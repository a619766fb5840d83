// What the runtimes of a worker's assignments ask of a person, and the answers that come for them.
import { changeAsOther } from '../../coordination/change.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import type { Assignment, TaskQuestion } from '../../coordination/dispatched.ts'
import { TOKENS_WANTED, tokensIn } from '../more-tokens.ts'
import { redactText } from '../redacted.ts'

/** `why`: it was not taken. */
export type Answered = { readonly assignment: Assignment } | { readonly why: string }

export class Questions {
  readonly #room: Coordination
  readonly #type: (assignment: Assignment, text: string) => Promise<boolean>
  /** Answers that were given to open assignments, by message: the same one twice is typed once. */
  readonly #given = new Map<string, Map<string, Promise<Answered>>>()

  constructor(room: Coordination, type: (assignment: Assignment, text: string) => Promise<boolean>) {
    this.#room = room
    this.#type = type
  }

  /** Its runtime waits for a person, or does so no longer. */
  async ask(assignmentId: string, asks: TaskQuestion | undefined): Promise<void> {
    const text = asks === undefined ? null : JSON.stringify({ ...asks, question: redactText(asks.question) })
    const isNews = (known: Assignment | undefined): known is Assignment =>
      known?.state === 'running' && known.asks !== text
    if (!isNews(this.#room.store.read((rows) => rows.assignment(assignmentId)))) return
    await changeAsOther(this.#room, { kind: 'system' }, ({ rows }) => {
      const known = rows.assignment(assignmentId)
      if (isNews(known)) rows.putAssignment({ ...known, asks: text })
    })
  }

  async answer(
    assignment: Assignment,
    { id, text }: { readonly id: string; readonly text: string },
  ): Promise<Answered> {
    const given = this.#given.get(assignment.assignmentId) ?? new Map<string, Promise<Answered>>()
    this.#given.set(assignment.assignmentId, given)
    const answering = given.get(id) ?? this.#pass(assignment, text)
    given.set(id, answering)
    const answered = await answering
    // What was not taken may be said again.
    if ('why' in answered) given.delete(id)
    return answered
  }

  forget(assignmentId: string): void {
    this.#given.delete(assignmentId)
  }

  async #pass(assignment: Assignment, text: string): Promise<Answered> {
    const { assignmentId, endedMs, asks } = assignment
    if (endedMs !== null) return { why: `task ${assignmentId} has ended` }
    if (asks === null) return { why: `task ${assignmentId} asks nothing: send a new one` }
    if ((JSON.parse(asks) as TaskQuestion).isAuth)
      return { why: 'a human approves it where the worker runs: heimdall approve' }
    if (text.trim() === '') return { why: 'an answer has some text' }
    if ((JSON.parse(asks) as TaskQuestion).partial?.needs === 'tokens' && tokensIn(text) === undefined)
      return { why: TOKENS_WANTED }
    if (!(await this.#type(assignment, text))) return { why: 'nobody is there to read an answer' }
    await this.ask(assignmentId, undefined)
    return { assignment: { ...assignment, asks: null } }
  }
}
