// Each message of the client meets the gate here: may its bytes go on, who is told if not, and what the record says of it.
import { PREVIEW_NONE } from '../../events/preview.ts'
import { CALLS_IN_FLIGHT_MAX } from '../../limits.ts'
import { unaskedDecision } from '../../policy/decide/decisions.ts'
import { CALL_METHOD } from '../../policy/decide/plan.ts'
import type { AgentOut } from '../messages/agent-out.ts'
import type { Asking, HeldCall } from './asking.ts'
import { type Answering, denial, ERROR_CODES, protocolError, refusalCode } from './refusals.ts'
import {
  type CallMessage,
  type ClientMessage,
  clientMessage,
  elementsOf,
  governedMessage,
  INVALID_REQUEST,
  type MalformedMessage,
  type RequestMessage,
  variantMessage,
} from '../messages/client-message.ts'
import type { CallGate, JudgedCall, ToolCall } from './call-gate.ts'
import type { IdKey, MessageId } from '../messages/message-id.ts'
import { MessageScan } from '../messages/message-scan.ts'
import type { Scanned } from '../messages/scanned.ts'
import type { OpenCalls } from './open-calls.ts'
import type { ToolAnnotations } from './tool-annotations.ts'

const NO_BYTES = Buffer.alloc(0)
const BATCH_REFUSED =
  'a batch that is empty, holds tool calls or holds anything but messages is refused; send each message on a line of its own'
const NESTED = 'a batch inside a batch'
const CUT_OFF = 'the run was ended by policy; the server is not there any more'

export interface ClientJudgeOptions {
  readonly gate: CallGate
  readonly answering: Answering
  readonly open: OpenCalls
  readonly annotations: ToolAnnotations
  readonly asking: Asking
  readonly out: AgentOut
}

/** A message as it came: in one piece, or too large for that. */
export interface Received {
  readonly scanned: Scanned
  readonly isUtf8: boolean
  readonly bytes: number
  /** Where the whole message begins; null when it is too large to be kept in memory. */
  readonly whole: { readonly buffer: Buffer; readonly from: number } | null
  readonly streamHash?: string
}

/** What the record is to say of a turn, in order. */
type Noted =
  | { readonly what: 'forwarded'; readonly judged: JudgedCall; readonly id: MessageId | null }
  /** Not let through: the length of its answer, and its code. */
  | { readonly what: 'refused'; readonly judged: JudgedCall; readonly bytesOut: number; readonly code: number }
  | { readonly what: 'cancelled'; readonly judged: JudgedCall }

export class ClientJudge {
  readonly #options: ClientJudgeOptions
  readonly #elementScan = new MessageScan({ strict: true })
  #noted: Noted[] = []
  /** The turn that was written last, for as long as it may have to be decided anew. */
  #written: Noted[] = []
  #hasForwarded = false
  /** The run was ended by policy and upstream with it: nothing is sent on any more. */
  #isCutOff = false

  constructor(options: ClientJudgeOptions) {
    this.#options = options
  }

  get isCutOff(): boolean {
    return this.#isCutOff
  }

  cutOff(): void {
    this.#isCutOff = true
    this.#options.asking.letAllGo()
  }

  /** The next message has waited for a person long enough: it is not held again. */
  isReleasing = false

  /** A call that is among the notes of this turn, or whether the bytes of something else may go on. */
  passes(received: Received): JudgedCall | boolean {
    const message = this.#read(received.scanned, received.isUtf8)
    switch (message.kind) {
      case 'call':
        this.#hear(message.method ?? CALL_METHOD, received)
        return this.#call(message, callOf(message, received), received)
      case 'malformed':
        return this.#malformed(message, received)
      case 'batch':
        return received.whole === null ? this.#largeBatch(received) : this.#batch(received.whole, received.bytes)
      case 'request':
        this.#hear(message.method, received)
        if (this.#isCutOff) {
          if (received.scanned.id.kind !== 'none') this.#cutOffAnswer(received)
        } else this.#sentOn(message)
        return !this.#isCutOff
      case 'cancel':
        this.#cancel(message.key)
        return !this.#isCutOff
      case 'other':
        return !this.#isCutOff
    }
  }

  /** What the message is, with requests that rules name among the calls. */
  #read(scanned: Scanned, isUtf8: boolean): ClientMessage {
    const message = clientMessage(scanned, isUtf8)
    if (message.kind !== 'request') return message
    const isGoverned = this.#options.gate.policy.governs(message.method)
    if (isGoverned === false) return message
    return isGoverned === true ? governedMessage(message, scanned) : variantMessage(message)
  }

  #sentOn({ id, method }: RequestMessage): void {
    if (id === null) return
    const { open, annotations } = this.#options
    annotations.requested(id.key, method, open.has(id.key))
    open.addOther(id.key)
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
    const meta = whole !== null && scanned.meta.kind === 'object' ? bytesOf(whole, scanned.meta) : undefined
    const generation = this.#options.answering.client.generationOf(meta)
    this.#answer(scanned.id.raw, ERROR_CODES[generation].TERMINATE_RUN, CUT_OFF)
  }

  /** A request that could not be kept until it was judged. */
  refuseUnheld(received: Received, why: string): void {
    this.#answer(received.scanned.id.raw, -32_603, why)
  }

  #call(message: CallMessage, call: ToolCall, received: Received): JudgedCall | false {
    const { gate, open } = this.#options
    const judged =
      open.size >= CALLS_IN_FLIGHT_MAX
        ? gate.refuse(call, 'TOO_MANY_CALLS', `${open.size} calls are waiting for their answers already`)
        : gate.judge(call)
    if (judged.isForwarded && !this.#isCutOff) {
      return this.#forwarded(judged, message.id)
    }
    if (!this.#isHeld(judged, message.id, received)) this.#noted.push(this.#denied(judged, message.id))
    return false
  }

  /** Of a call that a person has to allow the question is put, and the call waits a moment for the answer. */
  #isHeld(judged: JudgedCall, id: MessageId | null, { whole, bytes }: Received): boolean {
    const { decision } = judged
    if (decision.ask === undefined || !decision.enforced || this.isReleasing || this.#isCutOff) return false
    const { asking } = this.#options
    const why = asking.ask(judged)
    if (why !== null) {
      judged.decision = unaskedDecision(decision, why)
      return false
    }
    if (id === null || whole === null) return false
    return asking.hold(judged, id, whole.buffer.subarray(whole.from, whole.from + bytes))
  }

  #forwarded(judged: JudgedCall, id: MessageId | null): JudgedCall {
    if (id !== null) {
      this.#options.open.add(id.key, judged, id.raw)
      this.#options.annotations.requested(id.key, CALL_METHOD, true)
    }
    this.#noted.push({ what: 'forwarded', judged, id })
    this.#hasForwarded = true
    return judged
  }

  #denied(judged: JudgedCall, id: MessageId | null): Noted {
    const code = refusalCode(judged, this.#options.answering)
    return this.#refused(judged, id === null ? '' : denial(judged, id.raw, this.#options.answering), code)
  }

  /** Without a line when there is nobody to answer. */
  #refused(judged: JudgedCall, line: string, code: number): Noted {
    if (line !== '') this.#options.out.answer(line)
    return { what: 'refused', judged, bytesOut: Buffer.byteLength(line), code }
  }

  #answer(idRaw: string | null, code: number, why: string): void {
    this.#options.out.answer(protocolError(idRaw ?? 'null', code, why))
  }

  #malformed(message: MalformedMessage, { bytes, streamHash }: Received): JudgedCall | false {
    const { gate, answering } = this.#options
    const judged = gate.refuse(unreadable(message.toolName, bytes, streamHash), 'MALFORMED_CALL', message.why)
    if (judged.isForwarded && !this.#isCutOff) {
      return this.#forwarded(judged, message.id)
    }
    const { code } = message
    const line = protocolError(message.id?.raw ?? 'null', code, gate.shown(judged).summary, { judged, answering })
    this.#noted.push(this.#refused(judged, line, code))
    return false
  }

  /** Batches are of one old revision of MCP only. One of other messages passes; one with a call or anything unreadable is refused whole. */
  #batch({ buffer, from: start }: NonNullable<Received['whole']>, length: number): boolean {
    const whole = buffer.subarray(start, start + length)
    const messages = elementsOf(whole).map(({ from, to }) => {
      this.#elementScan.reset()
      this.#elementScan.push(whole, from, to)
      const scanned = this.#elementScan.finish()
      return { message: this.#read(scanned, true), idRaw: scanned.id.raw, bytes: to - from }
    })
    const isHarmless = messages.length > 0 && messages.every(({ message }) => !isRefusedInBatch(message))
    const passes = (isHarmless || this.#options.gate.isObserving) && !this.#isCutOff
    if (messages.length === 0) this.#noteRefused(unreadable('', length, undefined), 'the batch is empty', null, passes)
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
    if (message.kind === 'request' && passes) this.#sentOn(message)
    if (!isRefusedInBatch(message)) return
    const call = unreadable(message.kind === 'batch' ? '' : message.toolName, bytes, undefined)
    const why = message.kind === 'call' ? 'the call came in a batch' : message.kind === 'batch' ? NESTED : message.why
    this.#noteRefused(call, why, message.kind === 'batch' ? null : message.id, passes)
  }

  #noteRefused(call: ToolCall, why: string, id: MessageId | null, passes: boolean): void {
    const judged = this.#options.gate.refuse(call, 'BATCH_REFUSED', why)
    if (passes) this.#forwarded(judged, id)
    else this.#noted.push(this.#refused(judged, '', INVALID_REQUEST))
  }

  #largeBatch({ bytes, streamHash }: Received): JudgedCall | false {
    const call = unreadable('', bytes, streamHash)
    const judged = this.#options.gate.refuse(call, 'BATCH_REFUSED', 'a batch too large to look into')
    if (judged.isForwarded && !this.#isCutOff) {
      return this.#forwarded(judged, null)
    }
    this.#noted.push(this.#refused(judged, protocolError('null', INVALID_REQUEST, BATCH_REFUSED), INVALID_REQUEST))
    return false
  }

  #cancel(key: IdKey): void {
    const waiting = this.#options.asking.cancelled(key)
    if (waiting !== undefined) {
      this.#noted.push(this.#refused(waiting, '', refusalCode(waiting, this.#options.answering)))
      return
    }
    const cancelled = this.#options.open.cancelled(key)
    if (cancelled === undefined) return
    const { call, isForgotten } = cancelled
    this.#noted.push({ what: 'cancelled', judged: call.judged })
    // How it ends will not be seen, so it counts as what a canceller might want to hide.
    if (isForgotten) this.#options.gate.settle(call.judged, 'unknown')
  }

  /** The client has left: nobody waits for a person's answer any more. */
  letHeldGo(): void {
    this.#options.asking.letAllGo()
  }

  /** Nothing is judged any more: calls that still wait, and those let go that nobody came to, are answered as they were judged. */
  refuseHeld(letGo: readonly HeldCall[]): void {
    // Not among the notes of the turn: it may be unfinished for good.
    for (const { judged, id } of [...letGo, ...this.#options.asking.takeAll()]) this.#write(this.#denied(judged, id))
  }

  /** Calls of this turn are to be sent on, which their decisions have to be written for. */
  get hasForwarded(): boolean {
    return this.#hasForwarded
  }

  /** And if they cannot be written, the calls are decided anew. */
  get isRecordRequired(): boolean {
    return this.#options.gate.isRecordRequired
  }

  /** Puts on its way to the record what was judged in this turn. */
  writeNotes(): void {
    this.#written = this.#noted
    this.#noted = []
    this.#hasForwarded = false
    for (const noted of this.#written) this.#write(noted)
  }

  /**
   * The decisions of the turn that was written last could not be written down, and none of its calls has been sent on.
   * `isTakenBack` says that the record will not hear of the first decisions any more.
   */
  decideAnew(isTakenBack: boolean): void {
    const { gate, open } = this.#options
    const anew = this.#written.flatMap((noted): Noted[] => {
      if (noted.what === 'cancelled' && !noted.judged.isForwarded) return []
      if (noted.what !== 'forwarded') return isTakenBack ? [noted] : []
      const { judged, id } = noted
      gate.decideAnew(judged)
      if (judged.isForwarded) return isTakenBack ? [noted] : []
      if (id !== null) open.remove(id.key, judged)
      return [this.#denied(judged, id)]
    })
    for (const noted of anew) this.#write(noted, isTakenBack)
  }

  #write(noted: Noted, isFirst = true): void {
    const { gate } = this.#options
    const { judged } = noted
    if (isFirst && noted.what !== 'cancelled') gate.announce(judged)
    if (noted.what === 'refused') {
      const { summary, action } = judged.decision
      const retryable = action !== 'TERMINATE_RUN'
      const error = { class: 'policy_block', message: summary, code: noted.code, retryable } as const
      gate.finish(judged, { status: 'ERROR', bytesOut: noted.bytesOut, error, result: PREVIEW_NONE })
    } else if (noted.what === 'cancelled')
      gate.finish(judged, { status: 'CANCELLED', bytesOut: 0, result: PREVIEW_NONE })
    else if (noted.id === null) gate.finish(judged, { status: 'OK', bytesOut: 0, result: PREVIEW_NONE })
  }
}

function isRefusedInBatch(
  message: ClientMessage,
): message is Extract<ClientMessage, { readonly kind: 'call' | 'malformed' | 'batch' }> {
  return message.kind === 'call' || message.kind === 'malformed' || message.kind === 'batch'
}

function callOf({ toolName, method, args }: CallMessage, { whole, bytes, streamHash, scanned }: Received): ToolCall {
  if (whole === null) return { ...unreadable(toolName, bytes, streamHash), method }
  // One shape and nothing copied over: this is done for every call.
  return {
    toolName,
    method,
    argsBytes: args === null ? NO_BYTES : bytesOf(whole, args),
    bytesIn: bytes,
    transport: 'mcp_stdio',
    meta: scanned.meta.kind === 'object' ? bytesOf(whole, scanned.meta) : undefined,
  }
}

/** A part of a message that is at hand. */
function bytesOf(whole: NonNullable<Received['whole']>, part: { readonly from: number; readonly to: number }): Buffer {
  return whole.buffer.subarray(whole.from + part.from, whole.from + part.to)
}

function unreadable(toolName: string, bytesIn: number, streamHash: string | undefined): ToolCall {
  const call = { toolName, argsBytes: null, bytesIn, transport: 'mcp_stdio' } as const
  return streamHash === undefined ? call : { ...call, argsStreamHash: streamHash }
}
