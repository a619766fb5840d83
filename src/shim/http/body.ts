// The body of a request, held until it is judged: in memory while it is small, beyond that on disk.
import type { ClientRequest, IncomingMessage } from 'node:http'
import { MAX_INSPECT_BYTES } from '../../limits.ts'
import type { Received } from '../call/client-judge.ts'
import { HeldRequest } from '../messages/held-request.ts'
import { MessageScan } from '../messages/message-scan.ts'

export interface Body {
  readonly bytes: number
  readonly received: Received
  /** Why it could not be kept; such a body cannot be sent on. */
  readonly failure: Error | null
  sendTo(upstream: ClientRequest): Promise<void>
  drop(): void
}

/** Null when the client went away before its end. */
export async function readBody(request: IncomingMessage, folder: string): Promise<Body | null> {
  let parts: Buffer[] = []
  let bytes = 0
  let held: HeldRequest | null = null
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (held === null && bytes <= MAX_INSPECT_BYTES) {
      parts.push(chunk)
      return
    }
    held ??= new HeldRequest(parts, folder)
    parts = []
    held.push(chunk)
  })
  const isWhole = await new Promise<boolean>((resolve) => {
    request.once('end', () => resolve(true))
    request.once('close', () => resolve(request.complete))
    request.once('error', () => resolve(false))
  })
  const large = held as HeldRequest | null
  if (!isWhole) {
    large?.drop()
    return null
  }
  return large === null ? smallBody(Buffer.concat(parts)) : largeBody(large)
}

function smallBody(buffer: Buffer): Body {
  const scan = new MessageScan({ strict: true })
  scan.reset()
  scan.push(buffer, 0, buffer.length)
  const scanned = scan.finish()
  return {
    bytes: buffer.length,
    received: { scanned, bytes: buffer.length, whole: { buffer, from: 0 } },
    failure: null,
    sendTo(upstream) {
      upstream.end(buffer)
      return Promise.resolve()
    },
    drop() {},
  }
}

function largeBody(held: HeldRequest): Body {
  const { scanned, streamHash } = held.finish()
  return {
    bytes: held.bytes,
    received: { scanned, streamHash, bytes: held.bytes, whole: null },
    failure: held.failure,
    async sendTo(upstream) {
      await held.replay(async (piece) => {
        if (!upstream.destroyed && !upstream.write(piece)) await drained(upstream)
      })
      upstream.end()
    },
    drop: () => held.drop(),
  }
}

/** Or gone. */
function drained(upstream: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      upstream.off('drain', done)
      upstream.off('close', done)
      resolve()
    }
    upstream.on('drain', done)
    upstream.on('close', done)
  })
}
