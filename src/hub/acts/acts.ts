// What a person does through the page: each act goes to the same place as the command for it, and is on record as a person's.
import { openConnection } from '../../client/connection.ts'
import type { Endpoint } from '../../client/endpoint.ts'
import type { Clock } from '../../clock.ts'
import { acknowledge, markRead, sendNoteFor } from '../../coordination/notes.ts'
import { HeimdallError } from '../../errors.ts'
import { LET_WAIT_MS } from '../../limits.ts'
import { runsDirOf } from '../../paths.ts'
import { approved } from '../../pins/approve.ts'
import { changePins, pinsPlace } from '../../pins/pins-file.ts'
import type { Lasts, PersonAnswer } from '../../runs/approvals.ts'
import { answerRequest, requestsIn } from '../../runs/questions.ts'
import { typedBy } from '../../spine/fleet/choices.ts'
import { snooze } from '../../spine/fleet/snooze.ts'
import type { ActReply, AnswerRequest, NoteRequest, WaitCard } from '../contract.ts'
import type { Picture } from '../live/picture.ts'
import type { ProjectRoom } from '../project-room.ts'
import { wayToSession } from '../terminals/way-to-session.ts'
import type { TaskActs } from './task-acts.ts'

export interface ActOptions {
  readonly room: ProjectRoom
  /** The unix user, whose hub this is. */
  readonly person: string
  readonly clock: Clock
  readonly tasks: TaskActs
}

/** For the records of sessions that are typed into and ended. */
const AS_HUB = 'heimdall up'

export class Acts {
  readonly #options: ActOptions

  constructor(options: ActOptions) {
    this.#options = options
  }

  async answer(picture: Picture, waitId: string, { answer_id: answerId, text }: AnswerRequest): Promise<ActReply> {
    const wait = picture.waits.find(({ wait_id: id }) => id === waitId)
    if (wait === undefined) return this.#reply('gone', 'it was answered otherwise in the meantime')
    const answer = wait.answers.find(({ answer_id: id }) => id === answerId)
    if (answer === undefined)
      throw new HeimdallError(
        'HUB_REQUEST_INVALID',
        `no answer ${answerId} to this wait, there are: ${wait.answers.map(({ answer_id: id }) => id).join(', ')}`,
      )
    if (answer.needs_text && (text ?? '').trim() === '')
      throw new HeimdallError('HUB_REQUEST_INVALID', 'this answer needs words')
    switch (answer.act) {
      case 'allow':
        return this.approve(
          wait.approval_id ?? waitId,
          'allow',
          answerId === 'allow_run' ? { kind: 'run' } : { kind: 'once' },
          false,
        )
      case 'deny':
        return this.approve(wait.approval_id ?? waitId, 'deny', { kind: 'run' }, false)
      case 'ack':
        return this.acknowledge(wait.note_id ?? waitId)
      case 'approve_pin':
        return this.#approvePinOf(wait)
      case 'type':
        return this.#typeInto(picture, wait, answerId, text)
      case 'wait':
        return this.snooze(waitId, LET_WAIT_MS / 60_000)
      case 'ask_holder':
        return this.#askHolder(wait)
      case 'answer_task':
      case 'retry_task':
      case 'cancel_task':
        return this.#reply('recorded', await this.#ofTask(answer.act, wait, text ?? ''))
    }
  }

  #ofTask(act: 'answer_task' | 'retry_task' | 'cancel_task', { task, since }: WaitCard, text: string): Promise<string> {
    const { tasks } = this.#options
    const id = task ?? ''
    return act === 'answer_task'
      ? tasks.answer(id, text, since)
      : act === 'retry_task'
        ? tasks.retry(id)
        : tasks.cancel(id)
  }

  async acknowledge(noteId: string): Promise<ActReply> {
    const { room, person } = this.#options
    const note = await room.change((open) => acknowledge(open, { kind: 'human', name: person }, noteId))
    return this.#reply('recorded', `Accepted: ${note.subject}`)
  }

  async seen(noteId: string): Promise<ActReply> {
    const { room, person } = this.#options
    const note = await room.change((open) => markRead(open, { kind: 'human', name: person }, noteId))
    return this.#reply('recorded', `Seen: ${note.subject}`)
  }

  /** In an agent's place, since notes are between agents; on record as a person's. */
  async sendNote({ from, ...draft }: NoteRequest): Promise<ActReply> {
    const { room, person } = this.#options
    const sent = await room.change((open) => sendNoteFor(open, { kind: 'human', name: person }, from, draft))
    return this.#reply('recorded', `Passed to ${sent.map(({ to }) => to).join(', ')}`)
  }

  #askHolder({ agent_id: from, collision, task }: WaitCard): Promise<ActReply> {
    if (collision === null || from === null) return Promise.resolve(this.#reply('gone', 'they do not collide any more'))
    return this.sendNote({
      from,
      to: collision.holder,
      category: 'BLOCKED',
      task: task ?? 'none',
      subject: `Please pass ${collision.scope} on to ${from}`,
      body: `${from} waits for ${collision.scope}, ${collision.attempts === 1 ? '1 attempt' : `${collision.attempts} attempts`} so far. Release it, or say when you will: heimdall claim release ${collision.scope}`,
    })
  }

  /** As `heimdall approve` and `deny` do it, for a request of any run. */
  async approve(id: string, said: PersonAnswer, lasts: Lasts, ofRule: boolean): Promise<ActReply> {
    const { room, person, clock } = this.#options
    const asked = requestsIn(runsDirOf(room.fleetOptions.env)).find(({ request }) => request.id === id)
    if (asked !== undefined) {
      try {
        await answerRequest(asked, { answer: said, by: person, lasts, ofRule }, clock)
      } catch (error) {
        if (!(error instanceof HeimdallError && error.code === 'APPROVAL_NOT_FOUND')) throw error
        return this.#reply('gone', error.message)
      }
      return this.#reply(
        'recorded',
        `${said === 'allow' ? 'Allowed' : 'Denied'}, ${lasts.kind === 'once' ? 'once' : 'for the run'}`,
      )
    }
    throw new HeimdallError('APPROVAL_NOT_FOUND', `no question has the id ${id}`)
  }

  async approvePin(server: string, toolName: string, hash: string): Promise<ActReply> {
    const { room, person, clock } = this.#options
    const { env, project } = room.fleetOptions
    const at = new Date(clock.wallMs()).toISOString()
    changePins(pinsPlace(env, project.root, server), (pins) => {
      if (pins === undefined) throw new HeimdallError('PIN_NOT_FOUND', `nothing is known of a server ${server}`)
      return approved(pins, { toolName, hash, isBeside: false, by: person, at }).pins
    })
    return this.#reply('recorded', `Approved ${toolName} of ${server} as it was shown`)
  }

  async snooze(waitId: string, minutes: number): Promise<ActReply> {
    const { room, clock } = this.#options
    const nowMs = clock.wallMs()
    snooze(room.fleetOptions.env, waitId, nowMs + minutes * 60_000, nowMs)
    return this.#reply('snoozed', `Snoozed for ${minutes} minutes`)
  }

  async type(picture: Picture, agentId: string, text: string, keys: readonly string[]): Promise<ActReply> {
    const connection = await openConnection(await this.#wayTo(picture, agentId), { clock: this.#options.clock })
    try {
      const { writtenBytes } = await connection.send(text, { keys, as: AS_HUB })
      return this.#reply('sent', `${writtenBytes} bytes were taken by the session`)
    } finally {
      connection.close()
    }
  }

  /** As `hm kill` does it. */
  async end(picture: Picture, agentId: string): Promise<ActReply> {
    const connection = await openConnection(await this.#wayTo(picture, agentId), { clock: this.#options.clock })
    try {
      await connection.callAs(AS_HUB)
      await connection.kill()
      return this.#reply('sent', 'the session was asked to end')
    } finally {
      connection.close()
    }
  }

  async #wayTo({ fleet }: Picture, agentId: string): Promise<Endpoint> {
    const agent = fleet.agents.find(({ agent_id: id }) => id === agentId)
    if (agent === undefined) throw new HeimdallError('SESSION_NOT_FOUND', `${agentId} has no session here`)
    return wayToSession(agent, this.#options)
  }

  async #approvePinOf({ pin }: WaitCard): Promise<ActReply> {
    if (pin === null) return this.#reply('gone', 'nothing waits to be approved any more')
    return this.approvePin(pin.server, pin.tool, pin.hash)
  }

  /** A choice of a host's dialog is one key; words of one's own are pasted and sent off. */
  async #typeInto(picture: Picture, wait: WaitCard, answerId: string, text: string | undefined): Promise<ActReply> {
    if (wait.agent_id === null) throw new HeimdallError('SESSION_NOT_FOUND', 'no session asks this')
    const typed = typedBy(answerId) ?? { text: text ?? '', isLine: true }
    return this.type(picture, wait.agent_id, typed.text, typed.isLine ? ['enter'] : [])
  }

  #reply(outcome: ActReply['outcome'], text: string): ActReply {
    const { person, clock } = this.#options
    return {
      done: outcome !== 'gone',
      outcome,
      text,
      by: { kind: 'human', name: person },
      at: new Date(clock.wallMs()).toISOString(),
    }
  }
}
