// The HTTP adapter: clients on loopback, a remote server, Streamable HTTP between them.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { within } from '../../clock.ts'
import { refuseOtherUsers } from '../../connection-owner.ts'
import { EXIT } from '../../errors.ts'
import {
  HTTP_BODY_MS,
  HTTP_CONNECTIONS_MAX,
  HTTP_HEADERS_MS,
  HTTP_KEPT_MS,
  HTTP_LAST_ANSWERS_MS,
  HTTP_RESUME_MS,
} from '../../limits.ts'
import type { Adapter, CallCore, Traffic, TrafficEnd } from '../call/adapter.ts'
import { endUnanswered, INTERNAL_ERROR } from '../call/unanswered.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { RemoteServer, ShimOptions } from '../shim.ts'
import { watchForEnd } from '../traffic/watch-for-end.ts'
import { secretPath } from './address.ts'
import { ProxyDoor } from './door.ts'
import { type CutReason, Exchange, type ExchangeOptions, type SentCall } from './exchange.ts'
import { headersOf } from './injected.ts'
import { isPrivate } from './remote-server.ts'
import { Remote } from './remote.ts'
import { passOn, sayProblem } from './standing.ts'

export interface ProxyOptions {
  readonly shim: ShimOptions
  readonly server: RemoteServer
  readonly secrets: Secrets | null
  readonly note: (line: string) => void
}

export const overHttp =
  (options: ProxyOptions): Adapter =>
  (core) => {
    const why = whyNotUsed(options)
    if (why === null) return new Proxied(options, core)
    options.note(why)
    return { ended: Promise.resolve({ exitCode: EXIT.notRunnable, status: 'FAILED' }), terminate() {} }
  }

function whyNotUsed({ server, secrets }: ProxyOptions): string | null {
  if (secrets === null) return null
  if (secrets.problems.length > 0) return 'the server is not used: not all of its secrets are there'
  return Object.keys(secrets.values).length > 0 && !isPrivate(server.url)
    ? 'the server is not used: its secrets would go over the network in the clear; it needs https'
    : null
}

class Proxied implements Traffic {
  readonly ended: Promise<TrafficEnd>
  readonly #options: ProxyOptions
  readonly #core: CallCore
  readonly #remote: Remote
  readonly #server: Server
  readonly #holdFolder: string
  readonly #path: string
  readonly #exchanges = new Set<Exchange>()
  /** How to end what stands open beside them. */
  readonly #standing = new Set<() => void>()
  readonly #stopWatching: () => void
  #door: ProxyDoor | null = null
  #exchangesSoFar = 0
  #isTerminated = false
  #isEnding = false
  #resolveEnded: (end: TrafficEnd) => void = () => {}

  constructor(options: ProxyOptions, core: CallCore) {
    this.#options = options
    this.#core = core
    const { shim, server, secrets, note } = options
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    this.#remote = new Remote({ url: server.url, headers: headersOf(server.headers, secrets), clock: core.clock })
    this.#holdFolder = shim.env['TMPDIR'] ?? tmpdir()
    this.#path = secretPath(shim.env, shim.serverName, server.url, note)
    this.#server = createServer(
      {
        headersTimeout: HTTP_HEADERS_MS,
        requestTimeout: HTTP_BODY_MS,
        keepAliveTimeout: HTTP_KEPT_MS,
        // Looked at this often, or the time would be up to twice as long.
        connectionsCheckingInterval: HTTP_HEADERS_MS / 5,
      },
      (request, response) => this.#request(request, response),
    )
    this.#server.maxConnections = HTTP_CONNECTIONS_MAX
    // The path alone does not keep other users out: while the proxy is stopped, clients send it to any program on the port.
    refuseOtherUsers(this.#server, note)
    this.#server.once('error', (error) => {
      note(`cannot listen on ${server.listen.host}:${server.listen.port}: ${error.message}`)
      void this.#end({ exitCode: EXIT.unavailable, status: 'FAILED' })
    })
    this.#server.listen({ ...server.listen, exclusive: true }, () => this.#listening())
    // The usual way for a proxy to end.
    this.#stopWatching = watchForEnd(shim)(
      () =>
        void this.#end({
          exitCode: this.#isTerminated ? EXIT.denied : EXIT.ok,
          status: core.open.size === 0 ? 'SUCCEEDED' : 'CANCELLED',
        }),
    )
  }

  #listening(): void {
    const { address, port, family } = this.#server.address() as AddressInfo
    this.#door = new ProxyDoor(this.#path, port)
    const host = family === 'IPv6' ? `[${address}]` : address
    this.#options.shim.stdout.write(`http://${host}:${port}${this.#path}\n`)
  }

  #request(request: IncomingMessage, response: ServerResponse): void {
    // Whoever went away is told by the close of the response.
    request.on('error', () => {})
    response.on('error', () => {})
    const turned = this.#door?.turnsAway(request) ?? null
    if (turned !== null || this.#isEnding) {
      // Its body is not read.
      response.setHeader('Connection', 'close')
      if (turned?.status === 405) response.setHeader('Allow', 'POST, GET, DELETE')
      sayProblem(response, turned?.status ?? 503, turned?.why ?? 'the proxy is ending')
      return
    }
    const options = this.#exchangeOptions(request)
    if (request.method === 'POST') this.#post(new Exchange(options, request, response), response)
    else if (this.#core.run.isCutOff) sayProblem(response, 403, 'the run was ended by policy')
    else this.#stand(passOn(options, request, response), response)
  }

  #exchangeOptions({ headers }: IncomingMessage): ExchangeOptions {
    const named = headers['mcp-session-id']
    const session = typeof named === 'string' && named !== '' ? named : null
    this.#exchangesSoFar += 1
    return {
      core: this.#core,
      remote: this.#remote,
      holdFolder: this.#holdFolder,
      session,
      // Without a session each exchange has ids of its own: the answer comes in the same one.
      scope: session === null ? `x${this.#exchangesSoFar}` : `s${session}`,
      adrift: (call) => this.#adrift(call),
    }
  }

  #post(exchange: Exchange, response: ServerResponse): void {
    this.#exchanges.add(exchange)
    void exchange
      .run()
      .catch((error: unknown) => {
        this.#options.note(`a request failed: ${error instanceof Error ? error.message : String(error)}`)
        response.destroy()
      })
      .finally(() => this.#exchanges.delete(exchange))
  }

  #stand(end: () => void, response: ServerResponse): void {
    this.#standing.add(end)
    response.once('close', () => this.#standing.delete(end))
  }

  /** The stream of a call has ended before its answer, which the client may ask for on another one. */
  #adrift({ judged, key }: SentCall): void {
    const { clock, open, gate } = this.#core
    const giveUp = (): void => {
      const call = open.remove(key, judged)
      if (call !== undefined && !call.isCancelled)
        endUnanswered(gate, call, INTERNAL_ERROR, 'nobody came back for the answer')
    }
    clock.after(HTTP_RESUME_MS, giveUp, { background: true })
  }

  terminate(decision: Parameters<Traffic['terminate']>[0]): void {
    if (this.#isTerminated) return
    this.#isTerminated = true
    // After the message in which it happened.
    queueMicrotask(() => {
      this.#core.cutOff()
      this.#cut({ isTerminated: true, why: decision.summary })
    })
  }

  #cut(reason: CutReason): void {
    for (const exchange of this.#exchanges) exchange.cut(reason)
    for (const end of this.#standing) end()
  }

  async #end(end: TrafficEnd): Promise<void> {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#stopWatching()
    const why = 'the shim was told to end'
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()))
    this.#cut({ isTerminated: false, why })
    this.#server.closeIdleConnections()
    const { clock, open, gate } = this.#core
    await within(clock, HTTP_LAST_ANSWERS_MS, closed)
    this.#server.closeAllConnections()
    await closed
    for (const call of open.takeAll().calls) endUnanswered(gate, call, INTERNAL_ERROR, why)
    this.#remote.close()
    this.#resolveEnded(this.#isTerminated ? { ...end, status: 'TERMINATED' } : end)
  }
}
