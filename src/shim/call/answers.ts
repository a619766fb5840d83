// What upstream says, message by message: which call has ended, and how. Read behind the bytes that the client has been sent already.
import { createHash, type Hash } from 'node:crypto'
import { childrenOf } from '../../canonical/children.ts'
import { PREVIEW_NONE, PREVIEW_OMITTED } from '../../events/preview.ts'
import { MAX_INSPECT_BYTES } from '../../limits.ts'
import { idOf, readingsOf, scopedKey } from '../messages/message-id.ts'
import { MessageScan } from '../messages/message-scan.ts'
import type { Scanned, Seen, Whole } from '../messages/scanned.ts'
import type { CallGate } from './call-gate.ts'
import type { CallOutcome, JudgedCall } from './judged-call.ts'
import type { OpenCalls } from './open-calls.ts'
import type { ToolLists } from './tool-lists.ts'

export interface AnswersOptions {
  readonly gate: CallGate
  readonly open: OpenCalls
  readonly lists: ToolLists
  /** In which the ids that are answered were given. */
  readonly scope: string
}

/** How an array begins. */
const ARRAY = 0x5b

/** Takes messages whole or in pieces, in bounded memory whatever their length. */
export class Answers {
  readonly #options: AnswersOptions
  readonly #scan = new MessageScan({ strict: false })
  /** A message that came in pieces: these while they are few, then only their hash. */
  #parts: Buffer[] = []
  #bytes = 0
  #hash: Hash | null = null
  /** The call that was answered last. */
  answered: JudgedCall | null = null

  constructor(options: AnswersOptions) {
    this.#options = options
  }

  /** A message has begun whose end has not come. */
  get isWithin(): boolean {
    return this.#bytes > 0
  }

  /** Nobody waits for an answer. A list may still come when its request was given up, on a stream that is taken up again. */
  get #isIdle(): boolean {
    const { open, lists } = this.#options
    return open.isIdle && !lists.isAwaited
  }

  whole(buffer: Buffer, from: number, to: number): void {
    if (this.#isIdle) return
    this.#scan.reset()
    this.#scan.push(buffer, from, to)
    this.#message(this.#scan.finish(), to - from, { buffer, from })
  }

  piece(chunk: Buffer, from: number, to: number): void {
    if (this.#bytes === 0) this.#scan.reset()
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

  /** The message that came in pieces is complete. */
  end(): void {
    const bytes = this.#bytes
    const parts = this.#parts
    const hash = this.#hash
    this.drop()
    if (bytes === 0 || this.#isIdle) return
    const scanned = this.#scan.finish()
    // Upstream's own word: most of a stream, and not worth a copy.
    if (scanned.method.kind !== 'none' && !this.#options.lists.isAwaited) return
    if (hash === null) {
      const [first] = parts
      const buffer = first !== undefined && parts.length === 1 ? first : Buffer.concat(parts)
      this.#message(scanned, bytes, { buffer, from: 0 })
    } else this.#message(scanned, bytes, null, hash.digest('hex'))
  }

  /** What came in pieces was no message. */
  drop(): void {
    this.#bytes = 0
    this.#parts = []
    this.#hash = null
  }

  /** `whole` is null when the message was too large to be kept. */
  #message(scanned: Scanned, bytes: number, whole: Whole | null, streamHash?: string): void {
    const { open, gate, lists, scope } = this.#options
    const id = idOf(scanned.id)
    if (lists.isAwaited) {
      const keys = id === null ? [] : readingsOf(id.key).map((key) => scopedKey(scope, key))
      lists.heard(scanned, whole, keys, !keys.some((key) => open.has(key)))
    }
    // With a method it is upstream's own request or notification, whatever id it uses.
    if (!scanned.valid || scanned.method.kind !== 'none') return
    if (scanned.top === 'array') {
      if (whole !== null) this.#batch(whole.buffer.subarray(whole.from, whole.from + bytes))
      return
    }
    if (id === null || (scanned.result.kind === 'none' && scanned.error.kind === 'none')) return
    const key = scopedKey(scope, id.key)
    const isError = isFailed(scanned)
    const answered = open.answered(key, id.raw, isError)
    if (answered === undefined) return
    const { call, isSure, others } = answered
    this.answered = call.judged
    for (const other of others) gate.settle(other.judged, 'unknown')
    if (!isSure) call.perhaps = outcomeOf(scanned, bytes, null, streamHash, false)
    else if (call.isCancelled) gate.settle(call.judged, isError ? (call.isAlone ? 'failed' : 'unknown') : 'done')
    else gate.finish(call.judged, outcomeOf(scanned, bytes, whole, streamHash, call.isAlone))
  }

  #batch(whole: Buffer): void {
    for (const { from, to } of childrenOf(whole)) {
      // A batch inside a batch is none. Whoever went in would go as deep as a server likes, until the stack is full.
      if (whole[from] !== ARRAY) this.whole(whole, from, to)
    }
  }
}

/** One shape and nothing copied over: this is done for every call. */
function outcomeOf(
  scanned: Scanned,
  bytesOut: number,
  whole: Whole | null,
  resultStreamHash: string | undefined,
  isProven: boolean,
): CallOutcome {
  const shown = scanned.error.kind === 'none' ? scanned.result : scanned.error
  const error = errorOf(scanned)
  return {
    status: error === undefined ? 'OK' : 'ERROR',
    bytesOut,
    error,
    isProven,
    result: whole === null ? PREVIEW_OMITTED : pieceOf(whole, shown),
    resultStreamHash,
  }
}

function errorOf(scanned: Scanned): CallOutcome['error'] {
  if (isErrorAnswer(scanned)) {
    const message = scanned.errorMessage.text ?? 'the server answered with an error'
    return { class: 'upstream_error', message, ...codeOf(scanned.errorCode) }
  }
  if (scanned.isError.kind === 'true') return { class: 'upstream_error', message: 'the tool reported an error' }
  return undefined
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
