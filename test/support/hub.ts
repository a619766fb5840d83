// A real hub on a free port, started by a person at a terminal, and a browser without a screen: its cookie, its feed, its terminals.
import { request } from 'node:http'
import { onTestFinished } from './cleanup.ts'
import { WebSocket } from 'ws'
import { type LiveEvents, loginReply, type TerminalFromHub } from '../../src/hub/contract.ts'
import { type OwnTerminal, ownTerminal } from './own-terminal.ts'
import { launcher } from './programs.ts'
import type { TemporaryProject } from './project.ts'
import { until } from './wait.ts'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  json(): unknown
}

export interface Ask {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string
}

/** One request with exactly these headers: nothing is added but what HTTP needs. */
export function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asking = request(
      { host: '127.0.0.1', port, path, method, agent: false, setHost: false, headers: { ...headers } },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => {
          parts.push(part)
          // A feed never ends: whoever was let in to one is seen by its first bytes, and leaves.
          if (response.headers['content-type']?.startsWith('text/event-stream') === true) response.destroy()
        })
        response.once('close', () => {
          const text = Buffer.concat(parts).toString('utf8')
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: () => JSON.parse(text) as unknown,
          })
        })
      },
    )
    asking.on('error', reject)
    asking.end(body)
  })
}

export interface HubUnderTest {
  readonly port: number
  readonly origin: string
  readonly terminal: OwnTerminal
  /** The link that it has printed. */
  readonly link: string
  browser(): Promise<Browser>
  stop(): Promise<number>
}

/** In a terminal below init, as a person's: only there the hub prints its link. */
export async function startHub(project: TemporaryProject, args: readonly string[] = []): Promise<HubUnderTest> {
  const terminal = ownTerminal([...launcher('heimdall'), 'up', '--json', '--port', '0', ...args], {
    cwd: project.root,
    env: project.env,
  })
  const line = await until(
    'the hub to say where it is',
    () => {
      const match = /\{"ok":true.*?"error":null\}/s.exec(terminal.written().replaceAll(/\r?\n/g, ''))
      return match?.[0]
    },
    { context: () => terminal.written() },
  )
  const { port, link } = (JSON.parse(line) as { data: { port: number; link: string } }).data
  const origin = `http://127.0.0.1:${port}`
  return {
    port,
    origin,
    terminal,
    link,
    browser: () => openBrowser(port, link),
    async stop() {
      terminal.type('\u0003')
      return await terminal.ended
    },
  }
}

export interface Browser {
  readonly cookie: string
  /** What the page keeps in its storage beside the cookie. */
  readonly pass: string
  get<T>(path: string): Promise<T>
  text(path: string): Promise<string>
  post(path: string, body: unknown): Promise<Reply>
  feed(query?: string, lastEventId?: string): Feed
  terminal(path: string): Promise<BrowserTerminal>
}

/** Follows the one-time link, as the page does. */
export async function openBrowser(port: number, link: string): Promise<Browser> {
  const origin = `http://127.0.0.1:${port}`
  const host = `127.0.0.1:${port}`
  const key = /#key=(.+)$/.exec(link)?.[1] ?? ''
  const json = { Host: host, Origin: origin, 'Content-Type': 'application/json' }
  const login = await ask(port, '/api/login', { method: 'POST', headers: json, body: JSON.stringify({ key }) })
  if (login.status !== 200) throw new Error(`the link did not let anybody in: ${login.text}`)
  const cookie = String(login.headers['set-cookie']).split(';')[0] ?? ''
  const { pass } = loginReply.parse(login.json())
  const shown = { Cookie: cookie, 'X-Heimdall-Pass': pass }
  const got = async (path: string): Promise<Reply> => {
    const reply = await ask(port, path, { headers: { Host: host, ...shown } })
    if (reply.status !== 200) throw new Error(`GET ${path}: ${reply.status} ${reply.text}`)
    return reply
  }
  return {
    cookie,
    pass,
    async get<T>(path: string) {
      return (await got(path)).json() as T
    },
    text: async (path) => (await got(path)).text,
    post: (path, body) =>
      ask(port, path, { method: 'POST', headers: { ...json, ...shown }, body: JSON.stringify(body) }),
    feed: (query = '', lastEventId) =>
      new Feed(port, `/api/events${query}`, {
        Host: host,
        ...shown,
        ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
      }),
    terminal: (path) => BrowserTerminal.open(`ws://${host}${path}`, { Origin: origin, ...shown }),
  }
}

export interface FeedEvent<Name extends keyof LiveEvents = keyof LiveEvents> {
  readonly name: Name
  readonly id: string | undefined
  readonly data: LiveEvents[Name]
}

/** An EventSource that keeps everything it was told. */
export class Feed {
  readonly events: FeedEvent[] = []
  #rest = ''
  readonly #asking: ReturnType<typeof request>
  isOver = false

  constructor(port: number, path: string, headers: Readonly<Record<string, string>>) {
    this.#asking = request({ host: '127.0.0.1', port, path, agent: false, setHost: false, headers }, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => this.#take(text))
      response.on('close', () => (this.isOver = true))
    })
    this.#asking.on('error', () => (this.isOver = true))
    this.#asking.end()
    onTestFinished(() => this.close())
  }

  get lastId(): string | undefined {
    return this.events.findLast(({ id }) => id !== undefined)?.id
  }

  of<Name extends keyof LiveEvents>(name: Name): LiveEvents[Name][] {
    return this.events.filter((event) => event.name === name).map(({ data }) => data as LiveEvents[Name])
  }

  /** Resolves with the first message, of those that came or will come, of which `wanted` holds. */
  see<Name extends keyof LiveEvents>(
    name: Name,
    wanted: (data: LiveEvents[Name]) => boolean = () => true,
  ): Promise<LiveEvents[Name]> {
    return until(`${name} in the feed`, () => this.of(name).find(wanted), {
      context: () => this.events.map((event) => JSON.stringify(event)).join('\n'),
    })
  }

  close(): void {
    this.#asking.destroy()
  }

  #take(text: string): void {
    const messages = (this.#rest + text).split('\n\n')
    this.#rest = messages.pop() ?? ''
    for (const message of messages) {
      const field = (name: string): string | undefined =>
        message
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2)
      const name = field('event')
      if (name !== undefined)
        this.events.push({
          name: name as keyof LiveEvents,
          id: field('id'),
          data: JSON.parse(field('data') ?? '') as FeedEvent['data'],
        })
    }
  }
}

export class BrowserTerminal {
  readonly messages: TerminalFromHub[] = []
  readonly #socket: WebSocket
  bytes = Buffer.alloc(0)

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.bytes = Buffer.concat([this.bytes, data])
      else this.messages.push(JSON.parse(data.toString('utf8')) as TerminalFromHub)
    })
    onTestFinished(() => socket.terminate())
  }

  static open(url: string, headers: Readonly<Record<string, string>>): Promise<BrowserTerminal> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, { headers })
      const terminal = new BrowserTerminal(socket)
      socket.once('open', () => resolve(terminal))
      socket.once('error', reject)
    })
  }

  say(message: unknown): void {
    this.#socket.send(JSON.stringify(message))
  }

  type(text: string): void {
    this.#socket.send(Buffer.from(text))
  }

  shows(text: string): Promise<true> {
    return until(`the terminal to show ${text}`, () => this.bytes.includes(text), {
      context: () => JSON.stringify(this.bytes.toString('utf8')),
    })
  }

  hears(type: TerminalFromHub['type']): Promise<TerminalFromHub> {
    return until(`a message ${type}`, () => this.messages.findLast((message) => message.type === type), {
      context: () => JSON.stringify(this.messages),
    })
  }
}
