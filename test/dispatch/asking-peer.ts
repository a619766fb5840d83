// A peer of the stock SDK that asks before it does anything.
import { type Message, type Part, Role, TaskState } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor } from '@a2a-js/sdk/server'

export const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
})

const wordsIn = ({ parts }: Message): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('')

/** Asks before it does anything, as the SDK has it: a state, a message, and the end of the turn. */
export class Asking implements AgentExecutor {
  readonly heard: string[] = []
  readonly #asks: TaskState
  readonly #questions: string[]
  goOn: () => void = () => undefined

  constructor(asks: TaskState, questions: readonly string[]) {
    this.#asks = asks
    this.#questions = [...questions]
  }

  execute: AgentExecutor['execute'] = async ({ taskId, contextId, userMessage, task }, bus) => {
    this.heard.push(wordsIn(userMessage))
    const say = (state: TaskState, text: string): void =>
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: {
            state,
            timestamp: undefined,
            message: {
              messageId: `a-${this.heard.length}`,
              contextId,
              taskId,
              role: Role.ROLE_AGENT,
              parts: [textPart(text)],
              metadata: undefined,
              extensions: [],
              referenceTaskIds: [],
            },
          },
          metadata: undefined,
        }),
      )
    const finish = (): void => {
      say(TaskState.TASK_STATE_COMPLETED, `done with: ${this.heard.at(-1) ?? ''}`)
      bus.finished()
    }
    if (task === undefined)
      bus.publish(
        AgentEvent.task({
          id: taskId,
          contextId,
          artifacts: [],
          history: [],
          metadata: undefined,
          status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined },
        }),
      )
    const question = this.#questions.shift()
    if (question === undefined) return finish()
    say(this.#asks, question)
    // What is authorised is authorised elsewhere: nobody sends a message for it.
    if (this.#asks === TaskState.TASK_STATE_AUTH_REQUIRED) {
      await new Promise<void>((resolve) => {
        this.goOn = resolve
      })
      finish()
    } else bus.finished()
  }

  cancelTask: AgentExecutor['cancelTask'] = async () => undefined
}
