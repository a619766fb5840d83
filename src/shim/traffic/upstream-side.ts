// From upstream to client: bytes go on at once, then a look at each message tells which call has ended, and how.
import { createHash, type Hash } from 'node:crypto'
import type { EventWriter } from '../../runs/event-writer.ts'
import { PREVIEW_NONE, PREVIEW_OMITTED } from '../../events/preview.ts'
import { MAX_INSPECT_BYTES } from '../../limits.ts'
import { elementsOf } from '../messages/client-message.ts'
import type { CallOutcome, CallGate, JudgedCall } from '../call/call-gate.ts'
import { idOf } from '../messages/message-id.ts'
import { MessageScan } from '../messages/message-scan.ts'
import type { Scanned, Seen } from '../messages/scanned.ts'
import type { OpenCalls } from '../call/open-calls.ts'
import type { Exposure } from '../secrets/exposure.ts'
import type { ToolAnnotations } from '../call/tool-annotations.ts'

const NEWLINE = 0x0a

/** Where a message that is there in one piece begins. */
interface Whole {
  readonly buffer: Buffer
  readonly from: number
}

export interface UpstreamSideOptions {
  readonly gate: CallGate
  readonly open: OpenCalls
  readonly annotations: ToolAnnotations
  readonly events: EventWriter
  /** Looks for secrets that were given to the server; null where there are none. */
  readonly exposure: Exposure | null
}

/** Reads behind the bytes that the client has been sent already, in bounded memory whatever their length. */
export class UpstreamSide {
  readonly #options: UpstreamSideOptions
  readonly #scan = new MessageScan({ strict: false })
  /** A line that began in an earlier chunk: its pieces while they are few, then only their hash. */
  #parts: Buffer[] = []
  #bytes = 0
  #hash: Hash | null = null
  /** The call that the last message has answered. */
  #answered: JudgedCall | null = null

  constructor(options: UpstreamSideOptions) {
    this.#options = options
  }

  push(chunk: Buffer): void {
    this.#options.exposure?.push(chunk)
    this.#read(chunk)
    this.#options.events.endOfTurn()
  }

  #read(chunk: Buffer): void {
    let from = 0
    if (this.#bytes > 0) {
      const end = chunk.indexOf(NEWLINE)
      if (end === -1) {
        this.#continue(chunk, 0, chunk.length)
        return
      }
      this.#continue(chunk, 0, end)
      this.#endLong()
      this.#tellExposed(end)
      from = end + 1
    }
    for (let end = chunk.indexOf(NEWLINE, from); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      if (end > from && !this.#options.open.isIdle) this.#line(chunk, from, end)
      this.#tellExposed(end)
      from = end + 1
    }
    if (from < chunk.length) {
      this.#scan.reset()
      this.#continue(chunk, from, chunk.length)
    }
  }

  #line(buffer: Buffer, from: number, to: number): void {
    this.#scan.reset()
    this.#scan.push(buffer, from, to)
    this.#message(this.#scan.finish(), to - from, { buffer, from })
  }

  /** What was seen in the line that ends here. */
  #tellExposed(end: number): void {
    const { exposure, gate } = this.#options
    if (exposure === null) return
    const secrets = exposure.takeUpTo(end)
    if (secrets.length > 0) gate.exposed(secrets, this.#answered)
    this.#answered = null
  }

  #continue(chunk: Buffer, from: number, to: number): void {
    const piece = chunk.subarray(from, to)
    this.#scan.push(chunk, from, to)
    this.#bytes += piece.length
    if (this.#hash !== null) this.#hash.update(piece)
    else if (this.#bytes <= MAX_INSPECT_BYTES) this.#parts.push(piece)
    else {
      this.#hash = createHash('sha256')
      for (const part of this.#parts) this.#hash.update(part)
      this.#hash.update(piece)
      this.#parts = []
    }
  }

  #endLong(): void {
    const bytes = this.#bytes
    const parts = this.#parts
    const hash = this.#hash
    this.#bytes = 0
    this.#parts = []
    this.#hash = null
    if (this.#options.open.isIdle) return
    const scanned = this.#scan.finish()
    if (hash === null) {
      this.#message(scanned, bytes, { buffer: Buffer.concat(parts), from: 0 })
    } else this.#message(scanned, bytes, null, hash.digest('hex'))
  }

  /** `whole` is null when the message was too large to be kept. */
  #message(scanned: Scanned, bytes: number, whole: Whole | null, streamHash?: string): void {
    // With a method it is upstream's own request or notification, whatever id it uses.
    if (!scanned.valid || scanned.method.kind !== 'none') return
    if (scanned.top === 'array') {
      if (whole !== null) this.#batch(whole.buffer.subarray(whole.from, whole.from + bytes))
      return
    }
    const id = idOf(scanned.id)
    if (id === null || (scanned.result.kind === 'none' && scanned.error.kind === 'none')) return
    const { open, gate, annotations } = this.#options
    const isError = isFailed(scanned)
    const { result } = scanned
    if (annotations.isListUnder(id.key) && whole !== null && result.kind === 'object' && !isError)
      annotations.learn(whole.buffer.subarray(whole.from + result.from, whole.from + result.to))
    const answered = open.answered(id.key, id.raw, isError)
    if (answered === undefined) return
    const { call, isSure, others } = answered
    if (this.#options.exposure !== null) this.#answered = call.judged
    for (const other of others) gate.settle(other.judged, 'unknown')
    const outcome = outcomeOf(scanned, bytes, whole, streamHash)
    if (!isSure) call.perhaps = { ...outcome, result: PREVIEW_OMITTED }
    else if (call.isCancelled) gate.settle(call.judged, isError ? (call.isAlone ? 'failed' : 'unknown') : 'done')
    else gate.finish(call.judged, call.isAlone ? { ...outcome, isProven: true } : outcome)
  }

  #batch(whole: Buffer): void {
    for (const { from, to } of elementsOf(whole)) this.#line(whole, from, to)
  }
}

function outcomeOf(
  scanned: Scanned,
  bytesOut: number,
  whole: Whole | null,
  streamHash: string | undefined,
): CallOutcome {
  const shown = scanned.error.kind === 'none' ? scanned.result : scanned.error
  const rest = {
    bytesOut,
    result: whole === null ? PREVIEW_OMITTED : pieceOf(whole, shown),
    ...(streamHash === undefined ? {} : { resultStreamHash: streamHash }),
  }
  if (isErrorAnswer(scanned)) {
    const message = scanned.errorMessage.text ?? 'the server answered with an error'
    const code = codeOf(scanned.errorCode)
    return { status: 'ERROR', error: { class: 'upstream_error', message, ...code }, ...rest }
  }
  if (scanned.isError.kind === 'true')
    return { status: 'ERROR', error: { class: 'upstream_error', message: 'the tool reported an error' }, ...rest }
  return { status: 'OK', ...rest }
}

const isErrorAnswer = ({ error }: Scanned): boolean => error.kind !== 'none' && error.kind !== 'null'

const isFailed = (scanned: Scanned): boolean => isErrorAnswer(scanned) || scanned.isError.kind === 'true'

function pieceOf({ buffer, from }: Whole, { kind, from: start, to }: Seen): CallOutcome['result'] {
  return kind === 'none' ? PREVIEW_NONE : { buffer, from: from + start, to: from + to }
}

function codeOf(seen: Seen): { readonly code?: number | string } {
  if (seen.kind === 'number') return { code: Number(seen.raw ?? Number.NaN) }
  return seen.text === null ? {} : { code: seen.text }
}
