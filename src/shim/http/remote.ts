// The remote server: one place that requests to it are made from, with what only it may see.
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https'
import type { Clock, Timer } from '../../clock.ts'
import { HTTP_CONNECT_MS, HTTP_IDLE_MS, HTTP_READ_BYTES_MAX } from '../../limits.ts'
import { type RawHeaders, replaced, toServer } from './headers.ts'

export interface RemoteOptions {
  readonly url: URL
  /** Ours, secrets among them: in place of what the client says under the same names. */
  readonly headers: Readonly<Record<string, string>>
  readonly clock: Clock
}

export class Remote {
  readonly #options: RemoteOptions
  readonly #agent: HttpAgent
  readonly #request: typeof httpRequest

  constructor(options: RemoteOptions) {
    this.#options = options
    const isSecure = options.url.protocol === 'https:'
    // A server that closes an idle connection just when a call is sent on it leaves nobody knowing whether the call was
    // done; so connections are given up before servers usually do.
    const kept = { keepAlive: true, timeout: HTTP_IDLE_MS }
    this.#agent = isSecure ? new HttpsAgent(kept) : new HttpAgent(kept)
    readIntoSameMemory(this.#agent)
    this.#request = isSecure ? httpsRequest : httpRequest
  }

  /** `bytes` is the length of the body, null where there is none. Redirects are not followed. */
  request(
    method: string,
    raw: RawHeaders,
    bytes: number | null,
    told: { readonly response: (response: IncomingMessage) => void; readonly failed: (error: Error) => void },
  ): ClientRequest {
    const { url, headers, clock } = this.#options
    const options: RequestOptions = {
      method,
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? undefined : url.port,
      path: `${url.pathname}${url.search}`,
      // As a list, which keeps names as they were written.
      headers: replaced(toServer(raw), {
        Host: url.host,
        'Accept-Encoding': 'identity',
        ...(bytes === null ? {} : { 'Content-Length': String(bytes) }),
        ...headers,
      }),
      agent: this.#agent,
      // Also where the environment says otherwise (NODE_TLS_REJECT_UNAUTHORIZED).
      ...(url.protocol === 'https:' ? { rejectUnauthorized: true } : {}),
    }
    const sent = this.#request(options)
    let timer: Timer | undefined
    sent.once('socket', (socket) => {
      if (!socket.connecting) return
      const late = new Error(`no connection within ${HTTP_CONNECT_MS} ms`)
      timer = clock.after(HTTP_CONNECT_MS, () => sent.destroy(late))
      socket.once('connect', () => timer?.cancel())
    })
    sent.once('close', () => timer?.cancel())
    sent.once('response', told.response)
    sent.on('error', told.failed)
    return sent
  }

  close(): void {
    this.#agent.destroy()
  }
}

/**
 * Each connection reads into memory of its own, again and again: the parser of HTTP copies what it tells of a body. New
 * memory for each read, as Node.js takes it, is as much garbage again, and more of it than is collected in passing: a
 * stream then has the whole heap marked for every 16 MiB.
 */
function readIntoSameMemory(agent: HttpAgent): void {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, told) => {
    const buffer = Buffer.allocUnsafeSlow(HTTP_READ_BYTES_MAX)
    const callback = (bytes: number): boolean => {
      socket?.emit('data', buffer.subarray(0, bytes))
      return true
    }
    const socket = connect({ ...options, onread: { buffer, callback } } as typeof options, told)
    return socket
  }
}
