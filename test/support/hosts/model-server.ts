// A model on a loopback port that plays a script to real hosts, in the wire format that each of them speaks, and keeps what it was asked.
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { contentEvents, readContents } from './gemini-wire.ts'
import { messageEvents, readMessages } from './messages-wire.ts'
import { readResponses, responseEvents } from './responses-wire.ts'
import { type Asked, type Reply, type Script, say, tokens, type Tokens } from './script.ts'
import { eventText, type ServerEvent } from './sse.ts'
import { until } from './../wait.ts'

export interface Exchange {
  readonly asked: Asked
  /** Nothing: the script had no answer, and the host was told 400. */
  readonly reply: Reply | undefined
}

export interface ModelServer {
  readonly url: string
  readonly exchanges: readonly Exchange[]
  /** Requests that are no request to a model, such as telemetry: `METHOD path`. */
  readonly strayRequests: readonly string[]
  /** The sum of all replies. */
  said(): Tokens
  /** The first request of which this is true, as soon as it is there. */
  asked(what: string, isIt: (asked: Asked) => boolean): Promise<Asked>
}

interface Wire {
  readonly read: (body: unknown, path: string) => Asked
  readonly events: (reply: Reply, asked: Asked, number: number) => ServerEvent[]
}

const WIRES: readonly { readonly path: RegExp; readonly wire: Wire }[] = [
  { path: /^\/v1\/messages(\?|$)/, wire: { read: readMessages, events: messageEvents } },
  { path: /^\/v1\/responses(\?|$)/, wire: { read: readResponses, events: responseEvents } },
  {
    path: /^\/v1beta\/models\/([^:]+):(streamGenerateContent|generateContent)/,
    wire: {
      read: (body, path) => readContents(body, /models\/([^:]+):/.exec(path)?.[1] ?? ''),
      events: contentEvents,
    },
  },
]

/** Titles and suggestions that a host asks for beside the talk; they cost nothing, so that sums stay those of the script. */
const aside: Script = ({ wantsJson }) =>
  wantsJson
    ? say('{"title":"a test","isNewTopic":true,"complexity_reasoning":"-","complexity_score":50}', {})
    : undefined

/** `before` lets a test hold back a reply until something has happened: what the host does next is then later than that. */
export async function modelServer(
  script: Script,
  before: (asked: Asked) => Promise<void> | undefined = () => undefined,
): Promise<ModelServer> {
  const exchanges: Exchange[] = []
  const strayRequests: string[] = []
  const answer = async (request: IncomingMessage): Promise<{ status: number; type: string; text: string }> => {
    const path = request.url ?? '/'
    const wire = WIRES.find((row) => row.path.test(path))?.wire
    if (request.method !== 'POST' || wire === undefined) {
      strayRequests.push(`${request.method} ${path}`)
      return { status: 404, type: 'application/json', text: '{"error":{"message":"not here"}}' }
    }
    const asked = wire.read(await json(request), path)
    const reply = script(asked) ?? aside(asked)
    exchanges.push({ asked, reply })
    await before(asked)
    if (reply === undefined)
      return { status: 400, type: 'application/json', text: '{"error":{"code":400,"message":"nothing scripted"}}' }
    const events = wire.events(reply, asked, exchanges.length)
    if (path.includes(':generateContent'))
      return { status: 200, type: 'application/json', text: JSON.stringify(events[0]?.data) }
    return { status: 200, type: 'text/event-stream', text: events.map(eventText).join('') }
  }
  const server = createServer((request, response) => {
    void answer(request).then(({ status, type, text }) => {
      response.writeHead(status, { 'content-type': type }).end(text)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    strayRequests,
    said: () => exchanges.reduce((sum, { reply }) => (reply === undefined ? sum : plus(sum, reply.tokens)), tokens({})),
    asked: (what, isIt) =>
      until(`the model to be asked ${what}`, () => exchanges.find(({ asked }) => isIt(asked))?.asked, {
        context: () => exchanges.map(({ asked }) => JSON.stringify(asked.turns).slice(-2000)).join('\n'),
      }),
  }
}

const plus = (a: Tokens, b: Tokens): Tokens => ({
  input: a.input + b.input,
  cached: a.cached + b.cached,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
})
