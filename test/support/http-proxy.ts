// A proxy in front of a server that the test itself plays, and raw words to it.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { launcher, type Program, startProgram } from './programs.ts'
import { temporaryFolder } from './project.ts'
import { type Json, parseLines } from './shim-client.ts'
import { until } from './wait.ts'

export interface Seen {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
}

export interface PlayedServer {
  readonly url: string
  readonly server: Server
  /** Every request that has arrived whole. */
  readonly seen: Seen[]
}

/** `play` is given each request when its body is there. */
export async function playServer(play: (seen: Seen) => void): Promise<PlayedServer> {
  const seen: Seen[] = []
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => parts.push(chunk))
    incoming.on('error', () => {})
    incoming.once('end', () => {
      const one = { request: incoming, response, body: Buffer.concat(parts) }
      seen.push(one)
      play(one)
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, server, seen }
}

/** Answers every request with its own arguments, in one piece. */
export function echo({ response, body }: Seen): void {
  const { id, params } = JSON.parse(body.toString()) as Json
  if (id === undefined) response.writeHead(202).end()
  else sendJson(response, { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: JSON.stringify(params) }] } })
}

export function sendJson(response: ServerResponse, message: object): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(message))
}

export interface ProxySetup {
  readonly policy?: object
  readonly env?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  readonly home?: string
  /** Any port that is free, unless given. */
  readonly listen?: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  readonly json: Json
}

export interface ProxyClient {
  readonly program: Program
  readonly address: string
  readonly port: number
  readonly path: string
  post(message: object | string | Buffer, headers?: Readonly<Record<string, string | string[]>>): Promise<Answer>
  /** An answer as it comes, for tests that look at its pieces. */
  open(
    method: string,
    message: object | null,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly response: IncomingMessage; readonly text: () => string; close(): void }>
  /** Sends raw bytes on a connection of their own. */
  raw(bytes: string | Buffer): Socket & { readonly text: () => string }
  events(): Json[]
  end(): Promise<{ readonly code: number | null; readonly events: Json[]; readonly stderr: string }>
}

export async function startProxy(url: string, setup: ProxySetup = {}): Promise<ProxyClient> {
  const folder = temporaryFolder()
  const policyPath = join(folder, 'policy.json')
  if (setup.policy !== undefined) writeFileSync(policyPath, JSON.stringify(setup.policy))
  const program = startProgram(
    [
      ...launcher('sub'),
      'shim',
      '--server-name=far',
      `--url=${url}`,
      `--listen=${setup.listen ?? '0'}`,
      ...(setup.policy === undefined ? [] : [`--policy=${policyPath}`]),
      ...(setup.flags ?? []),
    ],
    {
      env: { HOME: setup.home ?? folder, HEIMDALL_RUN_QUIET_SECONDS: '0', ...setup.env },
      cwd: folder,
    },
  )
  const address = await program.waitForLine(/^http:/)
  const { port, pathname } = new URL(address)
  const begin = (
    method: string,
    body: Buffer | null,
    headers: Readonly<Record<string, string | string[]>> = {},
  ): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = request(
        address,
        {
          method,
          agent: false,
          headers: {
            ...(body === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': body.length }),
            Accept: 'application/json, text/event-stream',
            ...headers,
          },
        },
        resolve,
      )
      sent.once('error', reject)
      sent.end(body ?? undefined)
    })
  return {
    program,
    address,
    port: Number(port),
    path: pathname,
    async post(message, headers) {
      const response = await begin('POST', bytesOf(message), headers)
      const parts: Buffer[] = []
      for await (const part of response) parts.push(part as Buffer)
      const body = Buffer.concat(parts)
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        body,
        get json() {
          return JSON.parse(body.toString()) as Json
        },
      }
    },
    async open(method, message, headers) {
      const response = await begin(method, message === null ? null : bytesOf(message), headers)
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('error', () => {})
      return { response, text: () => text, close: () => response.destroy() }
    },
    raw(bytes) {
      const socket = connect(Number(port), '127.0.0.1')
      let text = ''
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
      socket.on('error', () => {})
      socket.write(bytes)
      onTestFinished(() => void socket.destroy())
      return Object.assign(socket, { text: () => text })
    },
    events: () => parseLines(program.stderr()),
    async end() {
      program.kill('SIGTERM')
      const { code, stderr } = await program.ended
      return { code, stderr, events: parseLines(stderr) }
    },
  }
}

const bytesOf = (message: object | string | Buffer): Buffer =>
  Buffer.isBuffer(message) ? message : Buffer.from(typeof message === 'string' ? message : JSON.stringify(message))

export const untilEnds = (proxy: ProxyClient, count: number): Promise<Json[]> =>
  until(
    `${count} ends of calls`,
    () => {
      const ends = proxy.events().filter((event) => event['type'] === 'tool_call_end')
      return ends.length >= count ? ends : undefined
    },
    { context: () => proxy.program.stderr().slice(-2_000) },
  )
