// fetch for peers: on this machine, nothing is sent on a connection before the kernel has said that the program at its other end is our own user's.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, type NetConnectOpts } from 'node:net'
import { Readable } from 'node:stream'
import { isOnThisMachine, whyNotOurs } from '../../connection-owner.ts'
import { HeimdallError } from '../../errors.ts'
import { HTTP_IDLE_MS, PEER_ANSWER_MS } from '../../limits.ts'

/** Verifies each new connection; those that are kept alive were verified when they were made. */
class VerifyingAgent extends Agent {
  override createConnection(...[options, done]: Parameters<Agent['createConnection']>): undefined {
    const socket = connect(options as NetConnectOpts)
    const fail = (error: Error): void => {
      socket.destroy()
      // The type requires a stream, which nothing takes with an error.
      done?.(error, socket)
    }
    const late = (): void => fail(new Error(`no connection within ${PEER_ANSWER_MS} ms`))
    socket.setTimeout(PEER_ANSWER_MS, late).once('error', fail)
    socket.once('connect', () => {
      socket.off('timeout', late).off('error', fail)
      const why = isOnThisMachine(socket) ? whyNotOurs(socket) : undefined
      const { remoteAddress, remotePort } = socket
      if (why === undefined) done?.(null, socket)
      else fail(new HeimdallError('PEER_UNREACHABLE', `the program at ${remoteAddress}:${remotePort} ${why}`))
    })
  }
}

// Closed before servers usually close an idle connection, so that a message is not sent on one that is about to end.
const agent = new VerifyingAgent({ keepAlive: true, timeout: HTTP_IDLE_MS })

/** The platform's own fetch gives no access to its connections. Over https the certificate says who answers. Redirects are not followed over http. */
export const peerFetch: typeof fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input)
  if (url.protocol === 'https:') return await fetch(input, init)
  const signal = init?.signal ?? undefined
  const sent = request(url, {
    method: init?.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init?.headers)),
    agent,
    ...(signal === undefined ? {} : { signal }),
  })
  // After the response has begun, an error reaches the reader of its body.
  sent.on('error', () => undefined)
  sent.end(init?.body)
  let response: IncomingMessage
  try {
    ;[response] = (await once(sent, 'response')) as [IncomingMessage]
  } catch (error) {
    if (error instanceof HeimdallError) throw error
    throw signal?.aborted === true ? signal.reason : new TypeError('fetch failed', { cause: error })
  }
  const { statusCode: status = 0, statusMessage: statusText = '' } = response
  const hasBody = ![204, 205, 304].includes(status)
  if (!hasBody) response.resume()
  const body = hasBody ? (Readable.toWeb(response) as ReadableStream) : null
  return new Response(body, { status, statusText, headers: new Headers(response.headers as Record<string, string>) })
}
