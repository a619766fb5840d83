// One A2A server over node:http: the card, JSON-RPC of 1.0 and 0.3, and HTTP+JSON. What the methods do is the request handler's.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { A2A_CONTENT_TYPE, AgentCard, Extensions, formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk'
import { LEGACY_HTTP_EXTENSION_HEADER } from '@a2a-js/sdk/compat/v0_3'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import type { A2ARequestHandler as Methods } from '@a2a-js/sdk/server'
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server'
import { systemClock, within } from '../../clock.ts'
import { refuseOtherUsers } from '../../connection-owner.ts'
import { HeimdallError, isErrno } from '../../errors.ts'
import { A2A_BODY_BYTES_MAX, A2A_CONNECTIONS_MAX, A2A_LAST_ANSWERS_MS, A2A_REQUEST_MS } from '../../limits.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { isObject } from '../../plain-object.ts'
import { EXTENSION } from './extension.ts'
import { hashText } from '../short-hash.ts'
import { restAnswer, restError, type RestStream } from './rest.ts'

/** Where a server listens. */
export interface Listen {
  readonly host: string
  /** 0 takes any that is free. */
  readonly port: number
  /** Accepts connections of other users and machines; otherwise only those of our own user. */
  readonly isOpen?: boolean
}

export interface A2aServerOptions extends Listen {
  /** Made once the address is known: the card names it. */
  readonly methods: (url: string) => Methods
  /** The 0.3 form of the card. */
  readonly legacyCard: (url: string) => object
  /** Who shows this token; nobody for a wrong one. */
  readonly authenticate: (token: string) => string | undefined
  /** A reply of a task of this principal that was too large for its result. */
  readonly reply?: (id: string, principal: string) => { readonly file: string; readonly mediaType: string } | undefined
  readonly note: (line: string) => void
}

export interface A2aServer {
  readonly url: string
  close(): Promise<void>
}

export async function serveA2a(options: A2aServerOptions): Promise<A2aServer> {
  const server = createServer({ requestTimeout: A2A_REQUEST_MS })
  server.maxConnections = A2A_CONNECTIONS_MAX
  if (options.isOpen !== true) refuseOtherUsers(server, options.note)
  await listen(server, options)
  const { port, family } = server.address() as AddressInfo
  const host = family === 'IPv6' ? `[${options.host}]` : options.host
  const url = `http://${host}:${port}`
  const desk = new Desk(options, url)
  const answering = new Set<ServerResponse>()
  server.on('request', (request, response) => {
    answering.add(response)
    response.once('close', () => answering.delete(response))
    desk.answer(request, response).catch((error: unknown) => {
      options.note(`a2a: ${error instanceof Error ? error.message : String(error)}`)
      response.destroy()
    })
  })
  return {
    url,
    // Whoever follows a task hears its end, which may be the last thing that happens here.
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      const answered = Promise.all([...answering].map((response) => once(response, 'close')))
      await within(systemClock, A2A_LAST_ANSWERS_MS, answered)
      server.closeAllConnections()
      await closed
    },
  }
}

/** From the flags of a command: another address than the loopback needs `--open`. */
export function listenAt({
  host,
  port,
  open = false,
}: {
  host: string
  port: number
  open?: boolean | undefined
}): Listen {
  if (open || ['127.0.0.1', '::1', 'localhost'].includes(host)) return { host, port, isOpen: open }
  throw new HeimdallError('ADDRESS_REFUSED', `${host} is reachable from other machines`, {
    hint: 'tasks and briefs would be sent unencrypted: put TLS in front of it, and pass --open',
  })
}

function listen(server: Server, { host, port }: Listen): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        isErrno(error, 'EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES')
          ? new HeimdallError('ADDRESS_REFUSED', `cannot listen on ${host}:${port}: ${error.message}`, { cause: error })
          : error,
      ),
    )
    server.listen(port, host, () => resolve())
  })
}

const CARD_PATHS: readonly string[] = ['/.well-known/agent-card.json', '/.well-known/agent.json']
const LEGACY = '0.3'

class Desk {
  readonly #options: A2aServerOptions
  readonly #handler: Methods
  readonly #rpc: JsonRpcTransportHandler
  readonly #legacyRpc: LegacyJsonRpcTransportHandler
  readonly #url: string
  /** How it may be called. */
  readonly #hosts: readonly string[]

  constructor(options: A2aServerOptions, url: string) {
    this.#options = options
    this.#url = url
    const { host, port } = new URL(url)
    this.#hosts = [host, `localhost:${port}`]
    this.#handler = options.methods(url)
    this.#rpc = new JsonRpcTransportHandler(this.#handler)
    this.#legacyRpc = new LegacyJsonRpcTransportHandler(this.#handler)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.#url)
    // A page in a browser must not be able to send tasks, whatever name it was served under.
    if (!this.#hosts.includes(headerOf(request, 'host') ?? ''))
      return send(response, 403, { error: 'another host was asked for' })
    const version = headerOf(request, 'a2a-version') ?? LEGACY
    if (request.method === 'GET' && CARD_PATHS.includes(url.pathname)) {
      return await this.#card(request, response)
    }
    const principal = this.#principal(request)
    if (principal === undefined) {
      response.setHeader('WWW-Authenticate', 'Bearer')
      return send(response, 401, { error: 'a bearer token of a known peer is needed' })
    }
    const replyOf = /^\/replies\/([^/]+)$/.exec(url.pathname)?.[1]
    if (request.method === 'GET' && replyOf !== undefined) return this.#reply(response, replyOf, principal)
    const body = request.method === 'GET' ? '' : await bodyOf(request)
    if (body === undefined) return send(response, 413, { error: `more than ${A2A_BODY_BYTES_MAX} bytes` })
    const asked = Extensions.parseServiceParameter(
      headerOf(request, 'a2a-extensions') ?? headerOf(request, 'x-a2a-extensions'),
    )
    const context = new ServerCallContext({
      requestedExtensions: asked,
      requestedVersion: version,
      user: { isAuthenticated: true, userName: principal },
    })
    // Before anything is streamed: the SDK's own servers set it when the headers are gone already.
    if (asked.includes(EXTENSION)) {
      context.addActivatedExtension(EXTENSION)
      response.setHeader(version === LEGACY ? LEGACY_HTTP_EXTENSION_HEADER : 'A2A-Extensions', EXTENSION)
    }
    if (request.method === 'POST' && url.pathname === '/')
      return await this.#rpcAnswer(version, body, context, response)
    const rest = await restAnswer(this.#handler, { method: request.method ?? 'GET', url, body }, context)
    if ('stream' in rest) return await stream(response, rest.stream, restError)
    response.setHeader('Content-Type', A2A_CONTENT_TYPE)
    send(response, rest.status, rest.body)
  }

  /** Without a version one card that clients of both can read: discovery comes before a client knows what we speak. */
  async #card(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const version = headerOf(request, 'a2a-version')
    const current = AgentCard.toJSON(await this.#handler.getAgentCard()) as Record<string, unknown>
    const legacy = this.#options.legacyCard(this.#url) as Record<string, unknown>
    const card = version === undefined ? bothCards(legacy, current) : version === LEGACY ? legacy : current
    const text = JSON.stringify(card)
    const tag = `"${hashText(text).slice(0, 32)}"`
    response.setHeader('Vary', 'A2A-Version')
    response.setHeader('Cache-Control', 'public, max-age=3600')
    response.setHeader('ETag', tag)
    response.setHeader('Content-Type', 'application/json')
    const isKnown = headerOf(request, 'if-none-match')?.includes(tag) === true
    response.statusCode = isKnown ? 304 : 200
    response.end(isKnown ? undefined : text)
  }

  #reply(response: ServerResponse, id: string, principal: string): void {
    const found = this.#options.reply?.(id, principal)
    const bytes = found === undefined ? undefined : readFileIfThere(found.file)
    if (found === undefined || bytes === undefined) return send(response, 404, { error: 'no such reply' })
    response.setHeader('Content-Type', found.mediaType)
    response.end(bytes)
  }

  #principal(request: IncomingMessage): string | undefined {
    const token = /^Bearer ([^\s]+)$/i.exec(headerOf(request, 'authorization') ?? '')?.[1]
    return token === undefined ? undefined : this.#options.authenticate(token)
  }

  async #rpcAnswer(version: string, body: string, context: ServerCallContext, response: ServerResponse): Promise<void> {
    const rpc = version === LEGACY ? this.#legacyRpc : this.#rpc
    const request = parsed(body)
    if (request === undefined)
      return send(response, 200, { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'not JSON' } })
    try {
      validateVersion(version, await this.#handler.getAgentCard(), 'JSONRPC')
    } catch (error) {
      const mapped = JsonRpcTransportHandler.mapToJSONRPCError(error)
      return send(response, 200, { jsonrpc: '2.0', id: request['id'] ?? null, error: mapped })
    }
    const answer = await rpc.handle(request, context)
    if (Symbol.asyncIterator in answer) return await stream(response, answer, rpcError(version, request))
    send(response, 200, answer)
  }
}

/** Names that both have hold what either needs. */
function bothCards(legacy: Record<string, unknown>, current: Record<string, unknown>): object {
  const [old, now] = [legacy['securitySchemes'], current['securitySchemes']] as Record<string, object>[]
  const securitySchemes = Object.fromEntries(
    Object.entries(now ?? {}).map(([name, scheme]) => [name, { ...old?.[name], ...scheme }]),
  )
  return { ...legacy, ...current, securitySchemes }
}

interface StreamError {
  readonly status: number
  readonly body: object
}

/** An error of JSON-RPC is an answer like any other. */
const rpcError =
  (version: string, request: Record<string, unknown>) =>
  (error: unknown): StreamError => ({
    status: 200,
    body: {
      jsonrpc: '2.0',
      id: request['id'] ?? null,
      error:
        version === LEGACY
          ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
          : JsonRpcTransportHandler.mapToJSONRPCError(error),
    },
  })

/** An error before the first event is an answer of its own; later ones are an event. */
async function stream(
  response: ServerResponse,
  events: RestStream,
  errorOf: (error: unknown) => StreamError,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]()
  response.on('close', () => void iterator.return(undefined))
  try {
    for (;;) {
      const { done, value } = await iterator.next()
      if (done === true) break
      if (!response.headersSent) response.writeHead(200, SSE_HEADERS)
      if (!response.write(formatSSEEvent(value)) && !response.destroyed)
        await new Promise<void>((resolve) => {
          response.once('drain', resolve)
          response.once('close', resolve)
        })
    }
    response.end()
  } catch (error) {
    const { status, body } = errorOf(error)
    if (!response.headersSent) return send(response, status, body)
    response.end(formatSSEErrorEvent(body))
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json')
  response.statusCode = status
  response.end(JSON.stringify(body))
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  const text = Array.isArray(value) ? value[0] : value
  return text === '' ? undefined : text
}

function parsed(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Nothing for one that is too large: what is past the bound is read and thrown away, so that its sender hears the answer. */
function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > A2A_BODY_BYTES_MAX) chunks = []
      else chunks.push(chunk)
    })
    request.on('end', () => resolve(bytes > A2A_BODY_BYTES_MAX ? undefined : Buffer.concat(chunks).toString('utf8')))
    request.on('error', reject)
  })
}
