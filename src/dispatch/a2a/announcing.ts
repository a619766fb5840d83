// A worker announces itself: at its start, when something that routing asks for has changed, to renew its lease, and when it ends.
import { randomUUID } from 'node:crypto'
import { Role } from '@a2a-js/sdk'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client'
import type { Clock, Timer } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { ANNOUNCE_SETTLE_MS, PEER_ANSWER_MS, WORKER_TTL_S } from '../../limits.ts'
import type { Announce } from '../messages.ts'
import type { KnownPeer } from '../peers.ts'
import { boundedAnswer } from './bounded-answer.ts'
import { dataOf, dataPart, EXTENSION, textPart } from './extension.ts'
import { peerFetch } from './peer-fetch.ts'

export interface AnnouncingOptions {
  readonly announce: () => Promise<Announce>
  /** Looked up at each announce: an orchestrator may come and go. The token that we show it is ours. */
  readonly orchestrators: () => readonly Pick<KnownPeer, 'name' | 'url' | 'token'>[]
  /** For whoever hears of it in another way than over A2A; what it wants ended comes back. */
  readonly also?: ((announce: Announce) => Promise<readonly string[]>) | undefined
  /** Attempts that an orchestrator wants ended. */
  readonly onCancel: (assignmentId: string) => void
  readonly clock: Clock
  readonly note: (line: string) => void
}

export class Announcing {
  readonly #options: AnnouncingOptions
  readonly #unreachable = new Set<string>()
  #timer: Timer | undefined
  #isOver = false
  /** One is said after the other: what was said first must not be heard last. */
  #lastSaid: Promise<void> = Promise.resolve()

  constructor(options: AnnouncingOptions) {
    this.#options = options
  }

  /** Now, and again before the lease ends. */
  async start(): Promise<void> {
    await this.#tried(() => this.say())
    // Who is not heard now is heard with the next one: an engine that was away for a moment must not lose its worker.
    this.#renewIn((WORKER_TTL_S * 1_000) / 3)
  }

  /** Something has changed: together with what changes in the next moment. */
  changed(): void {
    this.#renewIn(ANNOUNCE_SETTLE_MS)
  }

  /** The last word, behind all that was under way; whoever is not reached hears it by the end of the lease. */
  async stop(): Promise<void> {
    this.#isOver = true
    this.#timer?.cancel()
    await this.#tried(() => this.#inTurn(() => true))
  }

  async #tried(saying: () => Promise<void>): Promise<void> {
    try {
      await saying()
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.#options.note(`announce: ${error.message}`)
    }
  }

  #renewIn(ms: number): void {
    this.#timer?.cancel()
    if (this.#isOver) return
    this.#timer = this.#options.clock.after(ms, () => {
      void this.start().catch((error: unknown) => this.#options.note(`announce: ${String(error)}`))
    })
  }

  /** Nothing once it is over: whoever heard it behind the last word would take the worker for one that lives. */
  async say(): Promise<void> {
    await this.#inTurn(() => !this.#isOver)
  }

  async #inTurn(isWanted: () => boolean): Promise<void> {
    const before = this.#lastSaid
    let done: () => void = () => undefined
    this.#lastSaid = new Promise((resolve) => {
      done = resolve
    })
    await before
    try {
      await this.#sayNow(isWanted)
    } finally {
      done()
    }
  }

  async #sayNow(isWanted: () => boolean): Promise<void> {
    const orchestrators = this.#options.orchestrators()
    const { also, onCancel } = this.#options
    if (!isWanted() || (orchestrators.length === 0 && also === undefined)) return
    // Servers are asked for it: meanwhile it may be over.
    const announce = await this.#options.announce()
    if (!isWanted()) return
    await Promise.all(orchestrators.map((one) => this.#tell(one, announce)))
    for (const id of (await also?.(announce)) ?? []) onCancel(id)
  }

  async #tell({ name, url, token }: Pick<KnownPeer, 'name' | 'url' | 'token'>, announce: Announce): Promise<void> {
    try {
      const cancel = await tell(url, token(), announce)
      this.#unreachable.delete(name)
      for (const id of cancel) this.#options.onCancel(id)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      // Said once: it is tried again with every renewal.
      if (!this.#unreachable.has(name)) this.#options.note(`announce: ${name} is not reached: ${error.message}`)
      this.#unreachable.add(name)
    }
  }
}

/** One announce to one orchestrator; what it wants ended comes back. */
export async function tell(url: string, token: string | undefined, announce: Announce): Promise<readonly string[]> {
  const shown: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    if (token !== undefined) headers.set('Authorization', `Bearer ${token}`)
    const signal = init?.signal ?? AbortSignal.timeout(PEER_ANSWER_MS)
    return await boundedAnswer(url, await peerFetch(input, { ...init, headers, signal }))
  }
  const legacyCompat = { enabled: true }
  const resolver = new DefaultAgentCardResolver({ fetchImpl: shown, legacyCompat })
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl: shown, legacyCompat })],
    cardResolver: resolver,
  })
  const client = await factory.createFromUrl(url)
  const answer = await client.sendMessage(
    {
      tenant: '',
      message: {
        messageId: randomUUID(),
        contextId: announce.session.context_id,
        taskId: '',
        role: Role.ROLE_USER,
        parts: [textPart(`${announce.worker.agent_id} is ${announce.state}`), dataPart(announce)],
        metadata: undefined,
        extensions: [EXTENSION],
        referenceTaskIds: [],
      },
      configuration: undefined,
      metadata: undefined,
    },
    {
      serviceParameters: ServiceParameters.create(withA2AExtensions(EXTENSION)),
      signal: AbortSignal.timeout(PEER_ANSWER_MS),
    },
  )
  const ack = 'parts' in answer ? dataOf(answer.parts, 'ANNOUNCE_ACK') : undefined
  const cancel = ack?.['cancel']
  return Array.isArray(cancel) ? cancel.map(String) : []
}
