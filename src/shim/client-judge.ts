// Each message of the client meets the gate here: may its bytes go on, who is told if not, and what the record says of it.
import { PREVIEW_NONE } from '../events/preview.ts'
import { CALLS_IN_FLIGHT_MAX } from '../limits.ts'
import type { AgentOut } from './agent-out.ts'
import { type Answering, denial, ERROR_CODES, protocolError } from './answers.ts'
import {
  type CallMessage,
  type ClientMessage,
  clientMessage,
  elementsOf,
  INVALID_REQUEST,
  type MalformedMessage,
} from './client-message.ts'
import type { Gate, JudgedCall, ToolCall } from './gate.ts'
import type { IdKey, MessageId } from './message-id.ts'
import { MessageScan } from './message-scan.ts'
import type { Scanned } from './scanned.ts'
import type { OpenCalls } from './open-calls.ts'

const NO_BYTES = Buffer.alloc(0)
const BATCH_REFUSED =
  'a batch that is empty, holds tool calls or holds anything but messages is refused; send each message on a line of its own'
const NESTED = 'a batch inside a batch'
const CUT_OFF = 'the run was ended by policy; the server is not there any more'

/** A call that waits for upstream, and the id that its answer will have. */
export interface OpenCall {
  readonly judged: JudgedCall
  readonly idRaw: string
}

export interface ClientJudgeOptions {
  readonly gate: Gate
  readonly answering: Answering
  readonly open: OpenCalls<OpenCall>
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

/** What is to be written into the record once the bytes of a chunk are on their way. */
interface Noted {
  readonly judged: JudgedCall
  /** For a call that was not let through: the length of its answer, and its code. */
  readonly refusal: { readonly bytesOut: number; readonly code: number } | null
  /** For a call that nobody will answer. */
  readonly isUnanswered: boolean
}

export class ClientJudge {
  readonly #options: ClientJudgeOptions
  readonly #elementScan = new MessageScan({ strict: true })
  #noted: Noted[] = []
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
  }

  /** True when the bytes of the message may go on. */
  passes(received: Received): boolean {
    const message = clientMessage(received.scanned, received.isUtf8)
    switch (message.kind) {
      case 'call':
        return this.#call(message, callOf(message, received))
      case 'malformed':
        return this.#malformed(message, received)
      case 'batch':
        return received.whole === null ? this.#largeBatch(received) : this.#batch(received.whole, received.bytes)
      case 'request':
        if (this.#isCutOff) this.#answer(received.scanned.id.raw, ERROR_CODES.TERMINATE_RUN, CUT_OFF)
        else this.#options.open.addOther(message.key)
        return !this.#isCutOff
      case 'cancel':
        this.#cancel(message.key)
        return !this.#isCutOff
      case 'other':
        return !this.#isCutOff
    }
  }

  /** A request that could not be kept until it was judged. */
  refuseUnheld(received: Received, why: string): void {
    this.#answer(received.scanned.id.raw, -32_603, why)
  }

  #call(message: CallMessage, call: ToolCall): boolean {
    const { gate, open } = this.#options
    const judged =
      open.size >= CALLS_IN_FLIGHT_MAX
        ? gate.refuse(call, 'TOO_MANY_CALLS', `${open.size} calls are waiting for their answers already`)
        : gate.judge(call)
    if (judged.isForwarded && !this.#isCutOff) {
      this.#forwarded(judged, message.id)
      return true
    }
    const { action } = judged.decision
    const code = ERROR_CODES[action === 'ALLOW' ? 'TERMINATE_RUN' : action]
    const line = message.id === null ? '' : denial(judged, message.id.raw, this.#options.answering)
    this.#refused(judged, line, code)
    return false
  }

  #forwarded(judged: JudgedCall, id: MessageId | null): void {
    if (id !== null) this.#options.open.add(id.key, { judged, idRaw: id.raw })
    this.#noted.push({ judged, refusal: null, isUnanswered: id === null })
  }

  #refused(judged: JudgedCall, line: string, code: number): void {
    if (line !== '') this.#options.out.answer(line)
    this.#noted.push({ judged, refusal: { bytesOut: Buffer.byteLength(line), code }, isUnanswered: line === '' })
  }

  #answer(idRaw: string | null, code: number, why: string): void {
    this.#options.out.answer(protocolError(idRaw ?? 'null', code, why))
  }

  #malformed(message: MalformedMessage, { bytes, streamHash }: Received): boolean {
    const { gate, answering } = this.#options
    const judged = gate.refuse(unreadable(message.toolName, bytes, streamHash), 'MALFORMED_CALL', message.why)
    if (judged.isForwarded && !this.#isCutOff) {
      this.#forwarded(judged, message.id)
      return true
    }
    const { code } = message
    const why = gate.shown(judged).summary
    this.#refused(judged, protocolError(message.id?.raw ?? 'null', code, why, { judged, answering }), code)
    return false
  }

  /** Batches are of one old revision of MCP only. One of other messages passes; one with a call or anything unreadable is refused whole. */
  #batch({ buffer, from: start }: NonNullable<Received['whole']>, length: number): boolean {
    const whole = buffer.subarray(start, start + length)
    const messages = elementsOf(whole).map(({ from, to }) => {
      this.#elementScan.reset()
      this.#elementScan.push(whole, from, to)
      const scanned = this.#elementScan.finish()
      return { message: clientMessage(scanned, true), idRaw: scanned.id.raw, bytes: to - from }
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
    if (message.kind === 'request' && passes) this.#options.open.addOther(message.key)
    if (!isRefusedInBatch(message)) return
    const call = unreadable(message.kind === 'batch' ? '' : message.toolName, bytes, undefined)
    const why = message.kind === 'call' ? 'the call came in a batch' : message.kind === 'batch' ? NESTED : message.why
    this.#noteRefused(call, why, message.kind === 'batch' ? null : message.id, passes)
  }

  #noteRefused(call: ToolCall, why: string, id: MessageId | null, passes: boolean): void {
    const judged = this.#options.gate.refuse(call, 'BATCH_REFUSED', why)
    if (passes) this.#forwarded(judged, id)
    else this.#refused(judged, '', INVALID_REQUEST)
  }

  #largeBatch({ bytes, streamHash }: Received): boolean {
    const call = unreadable('', bytes, streamHash)
    const judged = this.#options.gate.refuse(call, 'BATCH_REFUSED', 'a batch too large to look into')
    if (judged.isForwarded && !this.#isCutOff) {
      this.#forwarded(judged, null)
      return true
    }
    this.#refused(judged, protocolError('null', INVALID_REQUEST, BATCH_REFUSED), INVALID_REQUEST)
    return false
  }

  #cancel(key: IdKey): void {
    const call = this.#options.open.take(key)
    if (call === undefined) return
    this.writeNotes()
    this.#options.gate.finish(call.judged, { status: 'CANCELLED', bytesOut: 0, result: PREVIEW_NONE })
  }

  /** Writes into the record what was judged since the last time; called when the bytes are on their way. */
  writeNotes(): void {
    if (this.#noted.length === 0) return
    const { gate } = this.#options
    const noted = this.#noted
    this.#noted = []
    for (const { judged, refusal, isUnanswered } of noted) {
      gate.announce(judged)
      if (refusal !== null) {
        const { summary, action } = judged.decision
        const retryable = action !== 'TERMINATE_RUN'
        const error = { class: 'policy_block', message: summary, code: refusal.code, retryable } as const
        gate.finish(judged, { status: 'ERROR', bytesOut: refusal.bytesOut, error, result: PREVIEW_NONE })
      } else if (isUnanswered) gate.finish(judged, { status: 'OK', bytesOut: 0, result: PREVIEW_NONE })
    }
  }
}

function isRefusedInBatch(
  message: ClientMessage,
): message is Extract<ClientMessage, { readonly kind: 'call' | 'malformed' | 'batch' }> {
  return message.kind === 'call' || message.kind === 'malformed' || message.kind === 'batch'
}

function callOf({ toolName, args }: CallMessage, { whole, bytes, streamHash }: Received): ToolCall {
  if (whole === null) return unreadable(toolName, bytes, streamHash)
  const argsBytes = args === null ? NO_BYTES : whole.buffer.subarray(whole.from + args.from, whole.from + args.to)
  return { toolName, argsBytes, bytesIn: bytes, transport: 'mcp_stdio' }
}

function unreadable(toolName: string, bytesIn: number, streamHash: string | undefined): ToolCall {
  const call = { toolName, argsBytes: null, bytesIn, transport: 'mcp_stdio' } as const
  return streamHash === undefined ? call : { ...call, argsStreamHash: streamHash }
}
