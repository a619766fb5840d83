// What the orchestrator does for each method of A2A: it takes announces, and has no tasks for anybody.
import { randomUUID } from 'node:crypto'
import { type AgentCard, type Message, Role } from '@a2a-js/sdk'
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import type { A2ARequestHandler as Methods } from '@a2a-js/sdk/server'
import type { Coordination } from '../../coordination/coordination.ts'
import { iso } from '../../coordination/moment.ts'
import { HeimdallError } from '../../errors.ts'
import { DISPATCH_PROTOCOL, parseAnnounce } from '../messages.ts'
import { LOCAL } from '../peers.ts'
import { takeAnnounce } from '../workers.ts'
import { endAttempt } from '../attempts.ts'
import { contractOf } from '../parking.ts'
import { redacted } from '../redacted.ts'
import { dataOf, dataPart, EXTENSION, textOf, textPart } from './extension.ts'
import { attemptIn, isLater, resultInWords } from './plain-reply.ts'

export interface OrchestratorMethodsOptions {
  readonly room: Coordination
  readonly card: AgentCard
  /** Of this process: a worker that sees another knows that we were restarted. */
  readonly epoch: string
  /** Where a known worker is reached, if it does not say so itself. */
  readonly urlOf: (worker: string) => string | null
}

export function orchestratorMethods({ room, card, epoch, urlOf }: OrchestratorMethodsOptions): Methods {
  const noTask = ({ id }: { id: string }): Promise<never> => Promise.reject(new TaskNotFoundError(`no task ${id}`))
  return {
    getAgentCard: () => Promise.resolve(card),
    getAuthenticatedExtendedAgentCard: () => Promise.resolve(card),
    async sendMessage({ message }, context) {
      const data = message === undefined ? undefined : dataOf(message.parts, 'SESSION_ANNOUNCE')
      const name = context.user?.userName ?? ''
      if (message !== undefined && data === undefined && (await takeReply(room, name, message)))
        return said(message, [textPart('taken')])
      if (message === undefined || data === undefined)
        throw new RequestMalformedError('only SESSION_ANNOUNCE is taken here')
      if (name === LOCAL) throw new RequestMalformedError('a worker announces itself, with its own token')
      const announce = malformed(() => parseAnnounce(data))
      const { taken, why, cancel } = await takeAnnounce(
        room,
        { name, url: urlOf(name), speaks: 'extension' },
        announce,
      ).catch((error: unknown) =>
        malformed(() => {
          throw error
        }),
      )
      const skewMs = announce.issued_at === undefined ? null : Date.parse(announce.issued_at) - room.clock.wallMs()
      return said(message, [
        textPart(taken ? `${name} is known` : `not taken: ${why}`),
        dataPart({
          type: 'ANNOUNCE_ACK',
          accepted_version: DISPATCH_PROTOCOL,
          accepted: taken,
          ...(why === null ? {} : { reason: why }),
          features: [],
          ttl_s: announce.ttl_s,
          lease_id: `${name}:${announce.instance_id}`,
          orchestrator_epoch: epoch,
          cancel,
          received_at: iso(room.clock.wallMs()),
          clock_skew_ms: skewMs,
        }),
      ])
    },
    // eslint-disable-next-line require-yield -- there is nothing to tell
    async *sendMessageStream() {
      throw new UnsupportedOperationError('announces are answered at once')
    },
    getTask: noTask,
    cancelTask: noTask,
    listTasks: () => Promise.resolve({ tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 }),
    // eslint-disable-next-line require-yield -- there is nothing to tell
    async *resubscribe({ id }) {
      throw new TaskNotFoundError(`no task ${id}`)
    },
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
  }
}

const said = ({ contextId }: Message, parts: Message['parts']): Message => ({
  messageId: randomUUID(),
  contextId,
  taskId: '',
  role: Role.ROLE_AGENT,
  parts,
  metadata: undefined,
  extensions: [EXTENSION],
  referenceTaskIds: [],
})

/** A plain peer that had only queued a task answers on the conversation that it came in; one that comes too late is evidence. */
async function takeReply(room: Coordination, from: string, message: Message): Promise<boolean> {
  const key = attemptIn(message.contextId)
  if (key === undefined) return false
  const contract = room.store.read((rows) => {
    const attempt = rows.attempts({ taskId: key.taskId }).find(({ number }) => number === key.number)
    const isTheirs = attempt?.workerId === from && attempt.remoteId !== null && isLater(attempt.remoteId)
    return isTheirs ? { ...contractOf(rows, key.taskId), attempt: key.number } : undefined
  })
  if (contract === undefined) return false
  await endAttempt(room, key, { kind: 'result', result: redacted(resultInWords(textOf(message), contract)) })
  return true
}

const noPush = (): Promise<never> => Promise.reject(new PushNotificationNotSupportedError())

function malformed<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (error instanceof HeimdallError && (error.code === 'DISPATCH_INVALID' || error.code === 'PEER_FORBIDDEN'))
      throw new RequestMalformedError(error.message)
    throw error
  }
}
