// A worker reached over A2A, 1.0 or 0.3, with the extension or without.
import { type AgentCard, type Task, TaskState } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
  withA2AVersion,
} from '@a2a-js/sdk/client'
import { TaskNotFoundError } from '@a2a-js/sdk/errors'
import { type Clock, pause } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { PEER_ANSWER_MS, PEER_POLL_MS, PEER_WORK_MS } from '../../limits.ts'
import { type Announce, DISPATCH_PROTOCOL, parseAnnounce, resultOf, type TaskDispatch } from '../messages.ts'
import { type At, isAt, type Peer, type PeerReply } from '../peer.ts'
import { boundedAnswer } from './bounded-answer.ts'
import { answerMessage, configurationFor, dispatchMessage } from './dispatch-message.ts'
import { EXTENSION, textOf } from './extension.ts'
import { announceIn, announceOf } from './first-reply.ts'
import { failureOf, Unheard } from './peer-failure.ts'
import { peerFetch } from './peer-fetch.ts'
import { isLater, replyInWords } from './plain-reply.ts'
import { isEnded, isInterrupted, resultFrom, stoppedOf } from './task-view.ts'

export interface A2aPeerOptions {
  readonly name: string
  readonly url: string
  /** Read at each request: a token may be replaced while we run. */
  readonly token: () => string | undefined
  readonly clock: Clock
  readonly note: (line: string) => void
  /** What it announces with a reply. */
  readonly onAnnounce?: (announce: Announce, speaks: 'extension' | 'plain') => Promise<void>
}

export class A2aPeer implements Peer {
  readonly #options: A2aPeerOptions
  #client: Promise<{ readonly client: Client; readonly card: AgentCard }> | undefined
  /** The same, once it is there. */
  #there: { readonly client: Client; readonly card: AgentCard } | undefined
  /** It showed the extension in its card and did not answer under it: then it is none. */
  #isDowngraded = false
  #echoed = false
  /** What a plain peer has said of itself in its prose. */
  #learned: Announce | undefined

  constructor(options: A2aPeerOptions) {
    this.#options = options
  }

  async send(contract: TaskDispatch, earlier: readonly string[], signal: AbortSignal): Promise<PeerReply> {
    return await this.#asked(signal, async (client, card, within) => {
      const isExtended = this.#isExtended(card)
      // One without the extension may do all of it before it answers, and must not be asked twice.
      const patient = isExtended ? within : AbortSignal.any([signal, AbortSignal.timeout(PEER_WORK_MS)])
      this.#echoed = false
      const sentAt = new Date(this.#options.clock.wallMs()).toISOString()
      const answer = await client.sendMessage(
        {
          tenant: '',
          message: dispatchMessage({ ...contract, sent_at: sentAt }, earlier, isExtended),
          configuration: configurationFor(contract),
          metadata: undefined,
        },
        { signal: patient, ...(isExtended ? EXTENDED : {}) },
      )
      if ('messageId' in answer) {
        if (isExtended && !this.#isEcho() && this.#isDowngradedBy(contract))
          return withoutExtension(contract, answer.taskId)
        await this.#hear(announceIn(answer), 'plain')
        return replyInWords(textOf(answer), contract)
      }
      if (isExtended && !this.#isEcho(answer)) return await this.#downgrade(client, answer, contract, within)
      await this.#hear(announceOf(answer), isExtended ? 'extension' : 'plain')
      return this.#replyOf(answer, contract)
    })
  }

  /** Phase 2 of the seed: it may say what it is in its first reply. Who it is, its token has said. */
  async #hear(announce: Announce | undefined, speaks: 'extension' | 'plain'): Promise<void> {
    if (announce === undefined) return
    const own = { ...announce, worker: { ...announce.worker, agent_id: this.#options.name } }
    if (speaks === 'plain') this.#learned = { ...own, seq: 0 }
    await this.#options.onAnnounce?.(own, speaks)
  }

  async follow(
    remoteId: string,
    contract: TaskDispatch,
    at: At,
    onProgress: (line: string) => void,
    signal: AbortSignal,
  ): Promise<PeerReply> {
    const { clock } = this.#options
    if (isLater(remoteId)) return { kind: 'later', remoteId }
    for (;;) {
      const reply = await this.#asked(signal, async (client, _card, within) =>
        this.#replyOf(
          await client.getTask({ id: remoteId, tenant: '', historyLength: undefined }, { signal: within }),
          contract,
        ),
      )
      if (!isAt(reply, at) || signal.aborted) return reply
      // The stream says when to look; the look is what counts. One that asks may have ended its stream with the question.
      const isTold = at === 'working' && (await this.#listen(remoteId, onProgress, signal))
      if (!isTold) await pause(clock, PEER_POLL_MS, signal)
    }
  }

  async answer(
    remoteId: string,
    contract: TaskDispatch,
    { text, id }: { readonly text: string; readonly id: string },
    signal: AbortSignal,
  ): Promise<PeerReply> {
    return await this.#asked(signal, async (client, card, within) => {
      const isExtended = this.#isExtended(card)
      const answer = await client.sendMessage(
        {
          tenant: '',
          message: answerMessage(contract, remoteId, id, text, isExtended),
          configuration: configurationFor(contract),
          metadata: undefined,
        },
        { signal: within, ...(isExtended ? EXTENDED : {}) },
      )
      // What it says of itself is not asked for: how the task stands is looked up.
      return 'messageId' in answer ? { kind: 'working', remoteId } : this.#replyOf(answer, contract)
    })
  }

  async cancel(remoteId: string, signal: AbortSignal): Promise<void> {
    await this.#asked(signal, async (client, card, within) => {
      await client.cancelTask(
        { id: remoteId, tenant: '', metadata: undefined },
        { signal: within, ...(this.#isExtended(card) ? EXTENDED : {}) },
      )
      return { kind: 'working', remoteId }
    })
  }

  async pull(signal: AbortSignal): Promise<{ announce: Announce; speaks: 'extension' | 'plain' } | undefined> {
    let pulled: { announce: Announce; speaks: 'extension' | 'plain' } | undefined
    await this.#asked(signal, async (client, card, within) => {
      if (!this.#isExtended(card))
        pulled = { announce: this.#learned ?? plainAnnounce(this.#options.name, card), speaks: 'plain' }
      else {
        const live = await liveCardOf(client, within)
        const params = extensionsOf(live).find(({ uri }) => uri === EXTENSION)?.params
        pulled = { announce: parseAnnounce(params?.['session_announce']), speaks: 'extension' }
      }
      return { kind: 'working', remoteId: '' }
    })
    return pulled
  }

  /** What the peer shows of itself, or why it does not. */
  async check(
    signal: AbortSignal,
  ): Promise<{ card?: AgentCard; protocol?: string; isExtended?: boolean; why?: string }> {
    let shown: { card: AgentCard; protocol: string; isExtended: boolean } | undefined
    const reply = await this.#asked(signal, async (client, card, within) => {
      if (this.#isExtended(card)) await liveCardOf(client, within)
      shown = { card, protocol: client.protocolVersion, isExtended: this.#isExtended(card) }
      return { kind: 'working', remoteId: '' }
    })
    if (shown !== undefined) return shown
    return { why: 'why' in reply ? reply.why : reply.kind }
  }

  #isExtended(card: AgentCard): boolean {
    return !this.#isDowngraded && extensionsOf(card).some(({ uri }) => uri === EXTENSION)
  }

  #isEcho(task?: Task): boolean {
    return this.#echoed || task?.metadata?.[EXTENSION] !== undefined
  }

  /** The card alone proves nothing. What requires something must not run at a peer that did not hear of it. */
  async #downgrade(client: Client, task: Task, contract: TaskDispatch, signal: AbortSignal): Promise<PeerReply> {
    if (!this.#isDowngradedBy(contract)) return this.#replyOf(task, contract)
    if (!isEnded(task.status?.state)) await this.#withdraw(client, task.id, signal)
    return withoutExtension(contract, task.id)
  }

  /** Plain from now on. True where the task requires something that a plain peer cannot promise. */
  #isDowngradedBy({ requirements }: TaskDispatch): boolean {
    this.#isDowngraded = true
    this.#options.note(`${this.#options.name} shows the extension and does not answer under it: taken as plain`)
    return requirements.required_mcp.length + requirements.required_capabilities.length > 0
  }

  /** It may have ended meanwhile, or know nothing of cancelling: its result does not count either way. */
  async #withdraw(client: Client, id: string, signal: AbortSignal): Promise<void> {
    try {
      await client.cancelTask({ id, tenant: '', metadata: undefined }, { signal })
    } catch (error) {
      if (!(error instanceof Error)) throw error
      this.#options.note(`${this.#options.name} does not take it back: ${error.message}`)
    }
  }

  #replyOf(task: Task, contract: TaskDispatch): PeerReply {
    const state = task.status?.state
    const isOurs = task.metadata?.[EXTENSION] !== undefined
    if (isEnded(state)) return { kind: 'ended', remoteId: task.id, ...resultFrom(task, contract, isOurs) }
    if (isInterrupted(state)) {
      const isAuth = state === TaskState.TASK_STATE_AUTH_REQUIRED
      const partial = stoppedOf(task)
      const words = task.status?.message === undefined ? '' : textOf(task.status.message).trim()
      return {
        kind: 'asks',
        remoteId: task.id,
        question: words === '' ? `the worker asks for ${isAuth ? 'authorisation' : 'input'}` : words,
        isAuth,
        ...(partial === undefined ? {} : { partial }),
      }
    }
    return { kind: 'working', remoteId: task.id }
  }

  /** True when it told of an end or a question; false where it cannot stream, or broke off. */
  async #listen(remoteId: string, onProgress: (line: string) => void, signal: AbortSignal): Promise<boolean> {
    try {
      const { client, card } = await this.#connected()
      if (card.capabilities?.streaming !== true) return false
      for await (const { payload } of client.resubscribeTask({ id: remoteId, tenant: '' }, { signal })) {
        if (payload?.$case !== 'statusUpdate') continue
        const { status } = payload.value
        // An end and a question are looked at, and told by whoever waits for them.
        if (isEnded(status?.state) || isInterrupted(status?.state)) return true
        if (status?.message !== undefined) onProgress(textOf(status.message))
      }
      return false
    } catch (error) {
      if (!(error instanceof Error)) throw error
      return false
    }
  }

  /** Every way a peer can fail to answer, as a reply. */
  async #asked(
    signal: AbortSignal,
    act: (client: Client, card: AgentCard, signal: AbortSignal) => Promise<PeerReply>,
  ): Promise<PeerReply> {
    const over = new AbortController()
    const end = (): void => over.abort(new Error('no answer in time'))
    const timer = this.#options.clock.after(PEER_ANSWER_MS, end)
    // By hand: a signal that is made of others takes longer than all the rest of a request on our side.
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
    let isConnected = false
    try {
      const { client, card } = this.#there ?? (await Promise.race([this.#connected(), rejectedAt(over.signal)]))
      isConnected = true
      return await act(client, card, over.signal)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      // Its card may be another when it is there again.
      this.#client = undefined
      this.#there = undefined
      if (error instanceof TaskNotFoundError) return { kind: 'unknown', why: error.message }
      return failureOf(error, isConnected)
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', end)
    }
  }

  #connected(): Promise<{ readonly client: Client; readonly card: AgentCard }> {
    this.#client ??= this.#connect()
    return this.#client
  }

  async #connect(): Promise<{ readonly client: Client; readonly card: AgentCard }> {
    const shown: typeof fetch = async (input, init) => {
      const token = this.#options.token()
      const shows = token === undefined ? {} : { Authorization: `Bearer ${token}` }
      const response = await peerFetch(input, { ...init, headers: { ...plainHeaders(init?.headers), ...shows } })
      if (response.headers.get('a2a-extensions')?.includes(EXTENSION) === true) this.#echoed = true
      if (response.headers.get('x-a2a-extensions')?.includes(EXTENSION) === true) this.#echoed = true
      if (response.status === 413 || response.status === 429) throw new Unheard(this.#options.name, response.status)
      if (response.status === 401 || response.status === 403)
        throw new HeimdallError('PEER_FORBIDDEN', `${this.#options.name} rejects our token (${response.status})`)
      return await boundedAnswer(this.#options.name, response)
    }
    const legacyCompat = { enabled: true }
    const timed: typeof fetch = (input, init) => shown(input, { signal: AbortSignal.timeout(PEER_ANSWER_MS), ...init })
    const resolver = new DefaultAgentCardResolver({ fetchImpl: timed, legacyCompat })
    const factory = new ClientFactory({
      transports: [
        new JsonRpcTransportFactory({ fetchImpl: shown, legacyCompat }),
        new RestTransportFactory({ fetchImpl: shown, legacyCompat }),
      ],
      cardResolver: resolver,
    })
    const card = await resolver.resolve(this.#options.url)
    this.#there = { client: await factory.createFromAgentCard(card), card }
    return this.#there
  }
}

/** A card is as its server has written it: whoever has no extensions need not say so. */
const extensionsOf = (card: AgentCard): NonNullable<AgentCard['capabilities']>['extensions'] =>
  (card.capabilities as Partial<NonNullable<AgentCard['capabilities']>> | undefined)?.extensions ?? []

/** Asked of the transport, which asks each time; what the client asks for is kept. The version goes with it by hand. */
const liveCardOf = (client: Client, signal: AbortSignal): Promise<AgentCard> =>
  client.transport.getExtendedAgentCard(
    { tenant: '' },
    { signal, serviceParameters: ServiceParameters.create(withA2AVersion(client.protocolVersion)) },
  )

const EXTENDED = { serviceParameters: ServiceParameters.create(withA2AExtensions(EXTENSION)) }

const withoutExtension = (contract: TaskDispatch, remoteId: string): PeerReply => ({
  kind: 'ended',
  remoteId,
  result: resultOf({
    task_id: contract.task.task_id,
    attempt: contract.attempt,
    status: 'blocked',
    tokens_spent: null,
    usage: { source: 'unknown' },
    blocked_reason: 'the worker did not answer under the extension that it shows',
    blocked: { class: 'capability', code: 'tool_missing', missing: [EXTENSION] },
  }),
})

/** What the SDK gives is plain already, and stays so: each making of `Headers` is a copy. */
const plainHeaders = (headers: RequestInit['headers']): Record<string, string> =>
  headers instanceof Headers || Array.isArray(headers)
    ? Object.fromEntries(new Headers(headers))
    : { ...(headers as Record<string, string> | undefined) }

const rejectedAt = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const give = (): void => reject(new Error('no answer in time'))
    if (signal.aborted) give()
    else signal.addEventListener('abort', give, { once: true })
  })

/** What is known of a peer that announces nothing. */
function plainAnnounce(name: string, card: AgentCard): Announce {
  return parseAnnounce({
    type: 'SESSION_ANNOUNCE',
    protocol_version: DISPATCH_PROTOCOL,
    worker: { agent_id: name, model: '', model_tier: 'unknown', context_window: 0 },
    capabilities: { tools: [], mcp_servers: [] },
    mcp_health: {},
    session: { context_id: '', active_tasks: 0, repo_state: { branch: null, clean: true }, session_fresh: true },
    instance_id: card.version,
  })
}
