// One POST of the client: its body is judged, goes on in the bytes in which it came or is answered by us, and the answer is passed back.
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { PREVIEW_NONE } from '../../events/preview.ts'
import type { JudgedCall } from '../call/judged-call.ts'
import type { ClientInfo } from '../call/client-info.ts'
import { ClientJudge, type Passage } from '../call/client-judge.ts'
import type { OpenCall } from '../call/open-calls.ts'
import { ERROR_CODES, protocolError } from '../call/refusals.ts'
import { endUnanswered, INTERNAL_ERROR } from '../call/unanswered.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../messages/client-message.ts'
import { type IdKey, idOf, scopedKey } from '../messages/message-id.ts'
import { type Body, readBody } from './body.ts'
import { faultOf, HEADER_MISMATCH } from './header-claims.ts'
import { Relay, type RelayOptions } from './relay.ts'
import type { Remote } from './remote.ts'

export interface ExchangeOptions extends RelayOptions {
  readonly remote: Remote
  readonly holdFolder: string
  /** The session that the client names; null where it names none. */
  readonly session: string | null
  /** A call whose answer the client may come back for. */
  readonly adrift: (call: SentCall) => void
}

/** A call that was sent on. */
export interface SentCall {
  readonly judged: JudgedCall
  readonly key: IdKey
}

/** Why calls will not be answered by the server. */
export interface CutReason {
  /** Policy has ended the run. */
  readonly isTerminated: boolean
  readonly why: string
}

/** Codes of messages that are none, or that are not to be trusted; MCP wants them said by HTTP as well. */
const BAD_REQUEST: ReadonlySet<unknown> = new Set([PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH])

export class Exchange {
  readonly #options: ExchangeOptions
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #client: ClientInfo
  readonly #judge: ClientJudge
  readonly #answers: string[] = []
  #calls: SentCall[] = []
  #body: Body | null = null
  #upstream: ClientRequest | null = null
  #relay: Relay | null = null
  #isRecording = false
  #cutReason: CutReason | null = null
  #isGone = false
  /** The client has been answered, or nobody is left to be. */
  #isDone = false
  #settled: () => void = () => {}

  constructor(options: ExchangeOptions, request: IncomingMessage, response: ServerResponse) {
    this.#options = options
    this.#request = request
    this.#response = response
    const { core, scope } = options
    const version = request.headers['mcp-protocol-version']
    const client = core.answering.client.speaking(typeof version === 'string' ? version : undefined)
    this.#client = client
    this.#judge = new ClientJudge({
      ...core,
      answering: { ...core.answering, client },
      out: { answer: (line) => void this.#answers.push(line) },
      transport: 'mcp_http',
      scope,
      onSent: (judged, { key }) => void this.#calls.push({ judged, key }),
    })
  }

  /** Resolves when the client has its answer, or is gone. */
  async run(): Promise<void> {
    this.#response.once('close', () => this.#closed())
    const body = await readBody(this.#request, this.#options.holdFolder)
    if (body === null) return
    this.#body = body
    const settled = new Promise<void>((resolve) => {
      this.#settled = resolve
    })
    try {
      if (this.#isGone) return
      this.#judge.onRelease = () => {
        this.#judge.isReleasing = true
        void this.#judged(body).catch((error: unknown) => this.#response.destroy(error as Error))
      }
      await this.#judged(body)
      await settled
    } finally {
      body.drop()
    }
  }

  async #judged(body: Body): Promise<void> {
    const { core } = this.#options
    const fault = faultOf(this.#request.rawHeaders, body.received)
    let passes: Passage | boolean = false
    if (body.failure === null) passes = this.#judge.passes({ ...body.received, fault })
    else this.#judge.refuseUnheld(body.received, `the request cannot be held: ${body.failure.message}`)
    this.#isRecording = true
    await this.#judge.record(core.events)
    // Back-pressure: a record that is behind is waited for.
    if (core.events.isBehind) await core.events.caughtUp()
    this.#isRecording = false
    if (this.#isGone) this.#abandon()
    else if (this.#cutReason !== null) this.cut(this.#cutReason)
    if (this.#isDone || this.#judge.isHolding) return
    if (passes === false || (passes !== true && !passes.isSent)) this.#refuse()
    else if (this.#cutReason === null) await this.#forward(body)
    else this.#fail(this.#cutReason.why)
  }

  #refuse(): void {
    const [line] = this.#answers
    // Of a notification nobody is told in JSON-RPC, but HTTP has to say something.
    if (line === undefined) this.#answer(403, protocolError('null', INVALID_REQUEST, 'the message was not sent on'))
    else this.#answer(statusOf(line), line)
  }

  async #forward(body: Body): Promise<void> {
    const { remote } = this.#options
    this.#upstream = remote.request('POST', this.#request.rawHeaders, body.bytes, {
      response: (response) => void this.#passBack(response).catch((error: unknown) => this.#failed(error as Error)),
      failed: (error) => this.#failed(error),
    })
    await body.sendTo(this.#upstream)
  }

  #failed({ message }: Error): void {
    if (this.#isDone || this.#relay !== null) return
    this.#fail(`the server cannot be reached: ${message}`)
  }

  async #passBack(response: IncomingMessage): Promise<void> {
    if (this.#isDone) {
      response.destroy()
      return
    }
    const why = whyNotPassed(response)
    if (why !== null) {
      response.destroy()
      this.#fail(why)
      return
    }
    const { session } = this.#options
    const relay = new Relay(this.#options, response, this.#response)
    this.#relay = relay
    const isWhole = await relay.run()
    if (this.#wasEnded()) return
    const status = response.statusCode ?? 0
    if (relay.isResumable && session !== null) {
      for (const call of this.#calls) this.#options.adrift(call)
      this.#calls = []
    }
    const told =
      status >= 400 ? `the server answered with HTTP ${status}` : 'the server ended its answer without a result'
    this.#addAnswers(this.#endCalls(status >= 400 ? status : INTERNAL_ERROR, isWhole ? told : 'the server hung up'))
    this.#end(isWhole)
  }

  /** Meanwhile. */
  #wasEnded(): boolean {
    return this.#isDone
  }

  /** Nothing has come from the server, and nothing will. */
  #fail(why: string): void {
    const { gate } = this.#options.core
    const [line] = this.#endCalls(INTERNAL_ERROR, why)
    const id = this.#requestId()
    if (line !== undefined) this.#answer(200, line)
    else if (id !== null) this.#answer(200, protocolError(id, INTERNAL_ERROR, gate.words.clean(why)))
    else this.#answer(502, protocolError('null', INTERNAL_ERROR, gate.words.clean(why)))
  }

  #requestId(): string | null {
    const scanned = this.#body?.received.scanned
    return scanned === undefined || scanned.method.kind === 'none' ? null : (idOf(scanned.id)?.raw ?? null)
  }

  /** The run or the shim ends: calls of this exchange are answered so. */
  cut(reason: CutReason): void {
    if (this.#isDone) return
    if (this.#isRecording) {
      this.#cutReason = reason
      return
    }
    const { isTerminated, why } = reason
    const codeOf = ({ call }: JudgedCall): number =>
      isTerminated ? ERROR_CODES[this.#client.generationOf(call.meta)].TERMINATE_RUN : INTERNAL_ERROR
    const lines = this.#calls
      .map((call) => this.#endCall(call, codeOf(call.judged), why))
      .filter((line) => line !== null)
    this.#calls = []
    const [line] = lines
    this.#upstream?.destroy()
    if (this.#relay !== null) {
      this.#addAnswers(lines)
      this.#end(false)
    } else if (line !== undefined) this.#answer(200, line)
    else if (this.#upstream !== null) this.#fail(why)
  }

  #endCalls(code: number, why: string): string[] {
    const lines = this.#calls.map((call) => this.#endCall(call, code, why)).filter((line) => line !== null)
    this.#calls = []
    this.#forgetRequest()
    return lines
  }

  #endCall({ judged, key }: SentCall, code: number, why: string): string | null {
    const { gate, open } = this.#options.core
    const call = open.remove(key, judged)
    return call === undefined || call.isCancelled ? null : endUnanswered(gate, call, code, why)
  }

  /** A request that is no call, and that was not answered here, will not be. */
  #forgetRequest(): void {
    const { core, scope } = this.#options
    const scanned = this.#body?.received.scanned
    const id = scanned === undefined ? null : idOf(scanned.id)
    if (id !== null) core.open.forget(scopedKey(scope, id.key))
  }

  #addAnswers(lines: readonly string[]): void {
    this.#relay?.passOn()
    if (lines.length === 0 || this.#relay?.mayAdd !== true || this.#response.destroyed) return
    for (const line of lines) this.#response.write(`event: message\ndata: ${line}\n\n`)
    this.#response.end()
  }

  #end(isWhole: boolean): void {
    this.#isDone = true
    if (isWhole || this.#response.writableEnded) this.#response.end()
    // Half an answer must not look like a whole one.
    else this.#response.destroy()
    this.#settled()
  }

  #answer(status: number, line: string): void {
    this.#isDone = true
    if (!this.#response.destroyed) {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(line) }
      this.#response.writeHead(status, headers).end(line)
    }
    this.#settled()
  }

  #closed(): void {
    if (this.#response.writableFinished || this.#isDone) return
    this.#isGone = true
    if (!this.#isRecording) this.#abandon()
  }

  /** The client went away: the server is told by the same sign, and nobody will see the answer. */
  #abandon(): void {
    this.#isDone = true
    this.#upstream?.destroy()
    const { core, scope } = this.#options
    const { gate, open } = core
    const scanned = this.#body?.received.scanned
    const id = this.#judge.isHolding && scanned !== undefined ? idOf(scanned.id) : null
    if (id !== null) {
      this.#judge.cancel(scopedKey(scope, id.key))
      void this.#judge.record(core.events)
    }
    for (const { judged, key } of this.#calls) {
      const call: OpenCall | undefined = open.remove(key, judged)
      if (call === undefined || call.isCancelled) continue
      gate.finish(judged, { status: 'CANCELLED', bytesOut: 0, result: PREVIEW_NONE })
      // How it ends will not be seen, so it counts as what a canceller might want to hide.
      gate.settle(judged, 'unknown')
    }
    this.#calls = []
    this.#forgetRequest()
    this.#settled()
  }
}

/** Of our own line: what HTTP says of it. */
function statusOf(line: string): number {
  const answer = JSON.parse(line) as { readonly error?: { readonly code?: unknown } } | readonly unknown[]
  return Array.isArray(answer) || BAD_REQUEST.has((answer as { error?: { code?: unknown } }).error?.code) ? 400 : 200
}

/** A client that followed a redirect would pass by us; we would carry credentials elsewhere. */
export function whyNotPassed(response: IncomingMessage): string | null {
  const { statusCode = 0, headers } = response
  if (statusCode >= 300 && statusCode < 400 && statusCode !== 304 && headers.location !== undefined)
    return `the server redirects (HTTP ${statusCode}), which is not followed: give the address that it redirects to`
  const encoding = Relay.unreadable(response)
  return encoding === null ? null : `the server answers in the encoding ${encoding}, which was not asked for`
}
