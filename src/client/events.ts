// Frames of a subscription as events, each with its place in the session's stream where that is known.
import { decodeAck, decodeExit, decodeGap, decodeReplayEnd, decodeSnapshot } from '../wire/decode.ts'
import type { FrameNameFrom } from '../wire/frames.ts'
import { parseErrorMessage, parseState, type Size, type StateEvent, type SubscribeOptions } from '../wire/payloads.ts'

export type SessionEvent =
  /** `offset` of the first byte in the whole stream; unknown until the session has told it. */
  | { readonly type: 'output'; readonly bytes: Buffer; readonly offset: number | undefined }
  | {
      readonly type: 'snapshot'
      readonly bytes: Buffer
      readonly isLast: boolean
      /** False: cells may be missing that were drawn in the middle of a flood. */
      readonly isWhole: boolean
      readonly offset: number
      readonly size: Size
    }
  | { readonly type: 'gap'; readonly droppedBytes: number; readonly nextOffset: number }
  | { readonly type: 'replay-end'; readonly offset: number }
  | { readonly type: 'state'; readonly state: StateEvent }
  /** To a keeper: there was output or input. */
  | { readonly type: 'activity' }
  | { readonly type: 'ack'; readonly writtenBytes: number }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  | { readonly type: 'exit'; readonly code: number }

type EventFrame = Exclude<FrameNameFrom<'supervisor'>, 'statusResp' | 'infoResp'>

/** Counts the bytes of one subscription, so that a client that lost its connection can ask for the next one. */
export class StreamPosition {
  #next: number | undefined

  /** Undefined until the session has told it. */
  get next(): number | undefined {
    return this.#next
  }

  start(options: Partial<SubscribeOptions> | undefined): void {
    this.#next = typeof options?.from === 'number' ? options.from : undefined
  }

  event(name: EventFrame, payload: Buffer): SessionEvent {
    switch (name) {
      case 'output':
        return this.#output(payload)
      case 'snapshot': {
        const part = decodeSnapshot(payload)
        this.#next = part.offset
        return { type: 'snapshot', ...part }
      }
      case 'gap': {
        const gap = decodeGap(payload)
        this.#next = gap.nextOffset
        return { type: 'gap', ...gap }
      }
      case 'replayEnd':
        this.#next = decodeReplayEnd(payload)
        return { type: 'replay-end', offset: this.#next }
      case 'state':
        return { type: 'state', state: parseState(payload) }
      case 'activity':
        return { type: 'activity' }
      case 'ack':
        return { type: 'ack', writtenBytes: decodeAck(payload) }
      case 'error':
        return { type: 'error', ...parseErrorMessage(payload) }
      case 'exit':
      default:
        return { type: 'exit', code: decodeExit(payload) }
    }
  }

  #output(bytes: Buffer): SessionEvent {
    const offset = this.#next
    if (offset !== undefined) this.#next = offset + bytes.length
    return { type: 'output', bytes, offset }
  }
}
