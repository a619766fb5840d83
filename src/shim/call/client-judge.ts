// Each message of the client meets the gate here: may its bytes go on, who is told if not, and what the record says of it.
import { childrenOf } from '../../canonical/children.ts'
import { CALLS_IN_FLIGHT_MAX } from '../../limits.ts'
import { CALL_METHOD } from '../../policy/decide/plan.ts'
import { type Piece, PREVIEW_NONE } from '../../events/preview.ts'
import type { Transport } from '../../events/types.ts'
import type { EventWriter } from '../../runs/event-writer.ts'
import type { Asking, HeldCall, Release } from './asking.ts'
import { type Answering, denial, ERROR_CODES, protocolError, refusalCode } from './refusals.ts'
import {
  type CallMessage,
  type ClientMessage,
  clientMessage,
  governedMessage,
  INVALID_REQUEST,
  type MalformedMessage,
  type RequestMessage,
  variantMessage,
} from '../messages/client-message.ts'
import type { CallGate } from './call-gate.ts'
import type { JudgedCall, ResolvedCall, ToolCall } from './judged-call.ts'
import { type IdKey, idOf, inScope, type MessageId, scopedKey } from '../messages/message-id.ts'
import { MessageScan } from '../messages/message-scan.ts'
import type { Scanned } from '../messages/scanned.ts'
import type { OpenCalls } from './open-calls.ts'
import type { ToolLists } from './tool-lists.ts'
import { Turn } from './turn.ts'

const NO_BYTES = Buffer.alloc(0)
const BATCH_REFUSED =
  'a batch that is empty, holds tool calls or holds anything but messages is refused; send each message on a line of its own'
const NESTED = 'a batch inside a batch'
const CUT_OFF = 'the run was ended by policy; the server was stopped'

export interface ClientJudgeOptions {
  readonly gate: CallGate
  readonly answering: Answering
  readonly open: OpenCalls
  readonly lists: ToolLists
  readonly asking: Asking
  /** Takes lines of our own, without their newlines. */
  readonly out: { readonly answer: (line: string) => void }
  readonly transport: Transport
  /** In which the client's ids are its own. */
  readonly scope: string
  readonly run: CutOff
  /** Told of calls that are to be sent on and will be answered. */
  readonly onSent?: (judged: JudgedCall, id: MessageId) => void
}

/** A line with a call: whether its bytes may go on is known once its turn has been decided. */
export interface Passage {
  isSent: boolean
}

/** Set when the run was ended by policy and upstream with it: nothing is sent on any more. One for all judges of a shim. */
export interface CutOff {
  isCutOff: boolean
}

/** A message as it came: in one piece, or too large for that. */
export interface Received {
  readonly scanned: Scanned
  readonly bytes: number
  /** Where the whole message begins; null when it is too large to be kept in memory. */
  readonly whole: { readonly buffer: Buffer; readonly from: number } | null
  readonly streamHash?: string
  /** What is wrong with it beside its bytes: what came with them says something else than they do. */
  readonly fault?: { readonly code: number; readonly why: string } | undefined
}

export class ClientJudge {
  readonly #options: ClientJudgeOptions
  readonly #elementScan = new MessageScan({ strict: true })
  readonly #turn: Turn
  #isHolding = false

  constructor(options: ClientJudgeOptions) {
    this.#options = options
    this.#turn = new Turn(options.gate)
  }

  get isCutOff(): boolean {
    return this.#options.run.isCutOff
  }

  /** The next message has waited for a person long enough: it is not held again. */
  isReleasing = false

  /** Gets calls that were held back, to give them in once more. */
  onRelease: Release = () => {}

  /** The last message waits for a person. */
  get isHolding(): boolean {
    return this.#isHolding
  }

  /** The passage of a call that this turn decides, or whether the bytes of something else may go on. */
  passes(received: Received): Passage | boolean {
    const message = this.#message(received)
    this.#isHolding = false
    switch (message.kind) {
      case 'call':
        this.#hear(message.method ?? CALL_METHOD, received)
        return this.#call(message, this.#callOf(message, received), received)
      case 'malformed':
        return this.#malformed(message, received)
      case 'batch':
        return received.whole === null ? this.#largeBatch(received) : this.#batch(received.whole, received.bytes)
      case 'request':
        this.#hear(message.method, received)
        if (this.isCutOff) {
          if (received.scanned.id.kind !== 'none') this.#cutOffAnswer(received)
        } else this.#turn.after(() => this.#sentOn(message, paramsOf(received)))
        return !this.isCutOff
      case 'cancel':
        this.cancel(message.key)
        return !this.isCutOff
      case 'other':
        return !this.isCutOff
    }
  }

  #message({ scanned, fault }: Received): ClientMessage {
    const message = this.#read(scanned)
    if (fault === undefined || message.kind === 'malformed') return message
    const id = idOf(scanned.id)
    const toolName = scanned.name.text ?? ''
    return { kind: 'malformed', ...fault, id: id === null ? null : inScope(this.#options.scope, id), toolName }
  }

  /** What the message is, with requests that rules name among the calls. */
  #read(scanned: Scanned): ClientMessage {
    return scopedMessage(this.#options.scope, this.#ownMessage(scanned))
  }

  #ownMessage(scanned: Scanned): ClientMessage {
    const message = clientMessage(scanned)
    if (message.kind !== 'request') return message
    const isGoverned = this.#options.gate.policy.governs(message.method)
    if (isGoverned === false) return message
    return isGoverned === true ? governedMessage(message, scanned) : variantMessage(message)
  }

  #sentOn({ id, method }: RequestMessage, params: Buffer | null): void {
    if (id === null) return
    const { open, lists } = this.#options
    lists.requested(id.key, method, open.has(id.key), params)
    open.addOther(id.key, id.raw)
  }

  /** The client may say who it is. */
  #hear(method: string, { scanned, whole }: Received): void {
    const { client } = this.#options.answering
    if (whole === null) return
    if (method === 'initialize' && scanned.params.kind === 'object')
      client.hearHandshake(bytesOf(whole, scanned.params))
    if (client.isUnnamed && scanned.meta.kind === 'object') client.hearMeta(bytesOf(whole, scanned.meta))
  }

  #cutOffAnswer({ scanned, whole }: Received): void {
    const meta = whole !== null && scanned.meta.kind === 'object' ? pieceOf(whole, scanned.meta) : undefined
    const generation = this.#options.answering.client.generationOf(meta)
    this.#answer(scanned.id.raw, ERROR_CODES[generation].TERMINATE_RUN, CUT_OFF)
  }

  /** A request that could not be kept until it was judged. */
  refuseUnheld(received: Received, why: string): void {
    this.#answer(received.scanned.id.raw, -32_603, why)
  }

  #call({ id }: CallMessage, call: ToolCall, { whole, bytes }: Received): Passage {
    const { gate, open, asking } = this.#options
    const waiting = open.size + this.#turn.pending
    const mayAsk = !this.isReleasing && !this.isCutOff
    const resolved =
      waiting >= CALLS_IN_FLIGHT_MAX
        ? gate.malformed(call, 'TOO_MANY_CALLS', `${waiting} calls are waiting for their answers already`)
        : gate.resolve(call, { mayAsk, mayHold: mayAsk && id !== null && whole !== null })
    return this.#decided(resolved, id, (judged) => {
      if (!judged.isHeld || id === null || whole === null) return this.#denied(judged, id)
      const line = whole.buffer.subarray(whole.from, whole.from + bytes)
      asking.hold(judged, id, line, (held) => this.onRelease(held))
      this.#isHolding = true
    })
  }

  /** With its turn the call is sent on, or `stopped`. */
  #decided(resolved: ResolvedCall, id: MessageId | null, stopped: (judged: JudgedCall) => void): Passage {
    const passage: Passage = { isSent: false }
    this.#turn.add({
      resolved,
      decided: (judged) => {
        if (judged.isForwarded && !this.isCutOff) {
          passage.isSent = true
          this.#forwarded(judged, id)
        } else stopped(judged)
      },
      abandoned: () => {
        if (id !== null) this.#answer(id.raw, -32_603, 'the shim ends before the call was decided')
      },
    })
    return passage
  }

  #forwarded(judged: JudgedCall, id: MessageId | null): void {
    const { gate, open, lists } = this.#options
    gate.sent(judged)
    if (id === null) {
      gate.finish(judged, { status: 'OK', bytesOut: 0, result: PREVIEW_NONE })
      return
    }
    const { method = CALL_METHOD, argsBytes } = judged.call
    lists.requested(id.key, method, open.has(id.key), argsBytes)
    open.add(id.key, judged, id.raw)
    this.#options.onSent?.(judged, id)
  }

  #denied(judged: JudgedCall, id: MessageId | null): void {
    const code = refusalCode(judged, this.#options.answering)
    this.#refused(judged, id === null ? '' : denial(judged, id.raw, this.#options.answering), code)
  }

  /** Without a line when there is no request to answer. */
  #refused(judged: JudgedCall, line: string, code: number): void {
    if (line !== '') this.#options.out.answer(line)
    const { summary, action } = judged.decision
    // As the answer says it: a block stays one, the others name what would help.
    const retryable = action === 'THROTTLE' || action === 'REJECT_WITH_HINT'
    const error = { class: 'policy_block', message: summary, code, retryable } as const
    const bytesOut = Buffer.byteLength(line)
    this.#options.gate.finish(judged, { status: 'ERROR', bytesOut, error, result: PREVIEW_NONE })
  }

  #answer(idRaw: string | null, code: number, why: string): void {
    this.#options.out.answer(protocolError(idRaw ?? 'null', code, why))
  }

  #malformed({ toolName, why, code, id }: MalformedMessage, { bytes, streamHash }: Received): Passage {
    const { gate, answering } = this.#options
    const resolved = gate.malformed(this.#unreadable(toolName, bytes, streamHash), 'MALFORMED_CALL', why)
    return this.#decided(resolved, id, (judged) => {
      const { summary } = gate.words.shown(judged)
      this.#refused(judged, protocolError(id?.raw ?? 'null', code, summary, { judged, answering }), code)
    })
  }

  /** Batches are of one old revision of MCP only. One of other messages passes; one with a call or anything unreadable is refused whole. */
  #batch({ buffer, from: start }: NonNullable<Received['whole']>, length: number): boolean {
    const whole = buffer.subarray(start, start + length)
    const messages = childrenOf(whole).map(({ from, to }) => {
      this.#elementScan.reset()
      this.#elementScan.push(whole, from, to)
      const scanned = this.#elementScan.finish()
      return { message: this.#read(scanned), idRaw: scanned.id.raw, bytes: to - from }
    })
    const isHarmless = messages.length > 0 && messages.every(({ message }) => !isRefusedInBatch(message))
    const passes = (isHarmless || this.#options.gate.isObserving) && !this.isCutOff
    if (messages.length === 0)
      this.#noteRefused(this.#unreadable('', length, undefined), 'the batch is empty', null, passes)
    for (const { message, bytes } of messages) this.#noteInBatch(message, bytes, passes)
    if (passes) return true
    const answers = messages
      .filter(({ message, idRaw }) => idRaw !== null && message.kind !== 'other')
      .map(({ idRaw }) => protocolError(idRaw ?? 'null', INVALID_REQUEST, BATCH_REFUSED))
    if (answers.length === 0) this.#answer(null, INVALID_REQUEST, BATCH_REFUSED)
    else this.#options.out.answer(`[${answers.join(',')}]`)
    return false
  }

  #noteInBatch(message: ClientMessage, bytes: number, passes: boolean): void {
    if (message.kind === 'request' && passes) this.#sentOn(message, null)
    if (!isRefusedInBatch(message)) return
    const call = this.#unreadable(message.kind === 'batch' ? '' : message.toolName, bytes, undefined)
    const why = message.kind === 'call' ? 'the call came in a batch' : message.kind === 'batch' ? NESTED : message.why
    this.#noteRefused(call, why, message.kind === 'batch' ? null : message.id, passes)
  }

  #noteRefused(call: ToolCall, why: string, id: MessageId | null, passes: boolean): void {
    const resolved = this.#options.gate.malformed(call, 'BATCH_REFUSED', why)
    this.#decided(resolved, passes ? id : null, (judged) => this.#refused(judged, '', INVALID_REQUEST))
  }

  #largeBatch({ bytes, streamHash }: Received): Passage {
    const call = this.#unreadable('', bytes, streamHash)
    const resolved = this.#options.gate.malformed(call, 'BATCH_REFUSED', 'a batch too large to look into')
    return this.#decided(resolved, null, (judged) =>
      this.#refused(judged, protocolError('null', INVALID_REQUEST, BATCH_REFUSED), INVALID_REQUEST),
    )
  }

  /** The client has given up a call, by a message or by going away. */
  cancel(key: IdKey): void {
    this.#turn.after(() => {
      const { asking, open, gate, answering } = this.#options
      const waiting = asking.cancelled(key)
      if (waiting !== undefined) {
        gate.heldInVain(waiting)
        this.#refused(waiting, '', refusalCode(waiting, answering))
        return
      }
      const cancelled = open.cancelled(key)
      if (cancelled === undefined) return
      const { call, isForgotten } = cancelled
      gate.finish(call.judged, { status: 'CANCELLED', bytesOut: 0, result: PREVIEW_NONE })
      // How it ends will not be seen, so it counts as what a canceller might want to hide.
      if (isForgotten) gate.settle(call.judged, 'unknown')
    })
  }

  /** The client has left: no call waits for a human's answer any more. */
  letHeldGo(): void {
    this.#options.asking.letAllGo()
  }

  /** Nothing is judged any more: calls that still wait, and those let go that were not judged again, are answered as they were judged. */
  refuseHeld(letGo: readonly HeldCall[]): void {
    this.#turn.abandon()
    for (const { judged, id } of [...letGo, ...this.#options.asking.takeAll()]) {
      this.#options.gate.heldInVain(judged)
      this.#denied(judged, id)
    }
  }

  /** Decides and records the calls of this turn. Null when they may be sent on, else when they may. */
  record(events: EventWriter): Promise<void> | null {
    return this.#turn.run(events)
  }

  #callOf({ toolName, method, args }: CallMessage, { whole, bytes, streamHash, scanned }: Received): ToolCall {
    if (whole === null) return { ...this.#unreadable(toolName, bytes, streamHash), method }
    // One shape and nothing copied over: this is done for every call.
    return {
      toolName,
      method,
      argsBytes: args === null ? NO_BYTES : bytesOf(whole, args),
      bytesIn: bytes,
      transport: this.#options.transport,
      meta: scanned.meta.kind === 'object' ? pieceOf(whole, scanned.meta) : undefined,
    }
  }

  #unreadable(toolName: string, bytesIn: number, streamHash: string | undefined): ToolCall {
    const call = { toolName, argsBytes: null, bytesIn, transport: this.#options.transport }
    return streamHash === undefined ? call : { ...call, argsStreamHash: streamHash }
  }
}

function isRefusedInBatch(
  message: ClientMessage,
): message is Extract<ClientMessage, { readonly kind: 'call' | 'malformed' | 'batch' }> {
  return message.kind === 'call' || message.kind === 'malformed' || message.kind === 'batch'
}

/** Empty where there are none, null where they are not at hand. */
function paramsOf({ whole, scanned: { params } }: Received): Buffer | null {
  if (whole === null) return null
  return params.kind === 'object' ? bytesOf(whole, params) : NO_BYTES
}

/** A part of a message that is at hand. */
function bytesOf(whole: NonNullable<Received['whole']>, part: { readonly from: number; readonly to: number }): Buffer {
  return whole.buffer.subarray(whole.from + part.from, whole.from + part.to)
}

function pieceOf(
  { buffer, from }: NonNullable<Received['whole']>,
  part: { readonly from: number; readonly to: number },
): Piece {
  return { buffer, from: from + part.from, to: from + part.to }
}

function scopedMessage(scope: string, message: ClientMessage): ClientMessage {
  if (scope === '' || message.kind === 'batch' || message.kind === 'other') return message
  if (message.kind === 'cancel') return { kind: 'cancel', key: scopedKey(scope, message.key) }
  return message.id === null ? message : { ...message, id: inScope(scope, message.id) }
}
