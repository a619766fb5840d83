// The one way in: a server on the loopback address that asks the gate about every request and every upgrade before anything else sees it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../clock.ts'
import { within } from '../../clock.ts'
import { HeimdallError, isErrno } from '../../errors.ts'
import { HUB_CLOSE_MS, HUB_CONNECTIONS_MAX, HUB_REQUEST_MS } from '../../limits.ts'
import { type Area, type RequestFacts, type House, judge } from './gate.ts'
import { HEADERS, type Refused, refused } from './reply.ts'

export interface Doorway {
  readonly house: (request: IncomingMessage) => House
  readonly answer: (area: Area, request: IncomingMessage, response: ServerResponse) => void
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  readonly clock: Clock
}

export interface OpenDoor {
  readonly port: number
  close(): Promise<void>
}

const BROWSER_HEADERS = Object.entries(HEADERS)

/** 0 takes a free port. */
export async function openDoor(port: number, doorway: (port: number) => Doorway): Promise<OpenDoor> {
  const server = createServer({
    headersTimeout: HUB_REQUEST_MS,
    requestTimeout: HUB_REQUEST_MS,
    maxHeaderSize: 16 << 10,
    // Looked at below, where every refusal is made.
    requireHostHeader: false,
  })
  server.maxConnections = HUB_CONNECTIONS_MAX
  const taken = await listen(server, port)
  const { house, answer, upgrade, clock } = doorway(taken)
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('request', (request, response) => {
    const verdict = judge(askedBy(request, false), house(request))
    // They tell a browser what it may do. No browser sees the answer to a hook: the gate has refused those.
    if (!verdict.passes || verdict.area !== 'hook')
      for (const [name, value] of BROWSER_HEADERS) response.setHeader(name, value)
    if (verdict.passes) answer(verdict.area, request, response)
    else if ('movedTo' in verdict)
      response.writeHead(307, { Location: verdict.movedTo, 'Cache-Control': 'no-store' }).end()
    else refuse(response, refused(verdict.code, verdict.why, verdict.hint))
  })
  server.on('upgrade', (request, socket, head) => {
    // Whoever goes away in the middle of it is gone.
    socket.on('error', () => socket.destroy())
    const verdict = judge(askedBy(request, true), house(request))
    if (verdict.passes) upgrade(request, socket, head)
    else if ('movedTo' in verdict) socket.destroy()
    else refuseUpgrade(socket, refused(verdict.code, verdict.why, verdict.hint))
  })
  return {
    port: taken,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      await within(clock, HUB_CLOSE_MS, closed)
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        isErrno(error, 'EADDRINUSE', 'EACCES')
          ? new HeimdallError('HUB_PORT_TAKEN', `nothing can listen at 127.0.0.1:${port}: ${error.code}`, {
              hint: 'name another with --port, or 0 for one that is free',
              cause: error,
            })
          : error,
      ),
    )
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** From the raw headers: Node.js drops what came twice, and that is what gives a forger away. */
function askedBy(request: IncomingMessage, isUpgrade: boolean): RequestFacts {
  const all = (name: string): string[] =>
    request.rawHeaders.flatMap((_, i, raw) => (i % 2 === 0 && raw[i]?.toLowerCase() === name ? [raw[i + 1] ?? ''] : []))
  const length = request.headers['content-length']
  return {
    method: request.method ?? '',
    path: pathOf(request),
    isUpgrade,
    hosts: all('host'),
    origins: all('origin'),
    fetchSite: request.headers['sec-fetch-site'],
    contentType: request.headers['content-type'],
    hasBody: request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0'),
  }
}

/** As it was sent. A whole address in place of a path is for proxies, and this is none: it fits no area and finds nothing. */
export const pathOf = ({ url = '' }: IncomingMessage): string => url.split(/[?#]/)[0] ?? ''

/** The pass of a request: in a header, or in the address of what a browser opens without headers of a page. */
export function passIn({ headers, url }: Pick<IncomingMessage, 'headers' | 'url'>): string | undefined {
  const shown = headers['x-heimdall-pass']
  if (shown !== undefined) return typeof shown === 'string' ? shown : undefined
  const [first, ...more] = new URLSearchParams(/\?(.*)$/s.exec(url ?? '')?.[1]).getAll('pass')
  return more.length === 0 ? first : undefined
}

function refuse(response: ServerResponse, { status, body }: Refused): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', Connection: 'close' })
  response.end(JSON.stringify(body))
}

function refuseUpgrade(socket: Duplex, { status, body }: Refused): void {
  const text = JSON.stringify(body)
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  )
}
