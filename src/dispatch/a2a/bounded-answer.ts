// How much of a peer's answer is read: all of it would be read into memory, and a peer is somebody else's program.
import { PEER_ANSWER_BYTES_MAX } from '../../limits.ts'

/** Throws, or lets the body fail, past the bound: of one that streams events the bound is for each line. What the peer has begun by then is not known. */
export async function boundedAnswer(name: string, response: Response): Promise<Response> {
  const announced = Number(response.headers.get('content-length') ?? Number.NaN)
  if (announced > PEER_ANSWER_BYTES_MAX) {
    await response.body?.cancel()
    throw tooLarge(name)
  }
  // No more is read than was announced, unless it is unpacked on the way.
  const isAsAnnounced = !Number.isNaN(announced) && !response.headers.has('content-encoding')
  if (isAsAnnounced || response.body === null) return response
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  let bytes = 0
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, out) {
      const lastLine = isStream ? chunk.lastIndexOf(0x0a) : -1
      bytes = lastLine === -1 ? bytes + chunk.length : chunk.length - lastLine - 1
      if (bytes > PEER_ANSWER_BYTES_MAX) out.error(tooLarge(name))
      else out.enqueue(chunk)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers })
}

/** In the message of an answer that is not read. */
export const TOO_LARGE = `more than ${PEER_ANSWER_BYTES_MAX} bytes`

const tooLarge = (name: string): Error => new Error(`${name} answered with ${TOO_LARGE}, the limit of an answer`)
