// A real hub on a free port, started by a person at a terminal, and a browser without a screen: its sign-in, its feed, its terminals.
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'
import { request } from 'node:http'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import {
  type FeedMessage,
  helloReply,
  type LiveEvents,
  loginReply,
  passReply,
  type TerminalFromHub,
} from '../../src/hub/contract.ts'
import { onTestFinished } from './cleanup.ts'
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
        response.on('data', (part: Buffer) => parts.push(part))
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

/** What a browser keeps of its sign-in; here the key can be read, so that tests can give it to Chromium. */
export interface Identity {
  readonly id: string
  readonly key: JsonWebKey
  /** Public key of the hub, SPKI in base64url. */
  readonly hub: string
}

export interface Browser {
  readonly identity: Identity
  readonly pass: string
  get<T>(path: string): Promise<T>
  text(path: string): Promise<string>
  post(path: string, body: unknown): Promise<Reply>
  feed(query?: string, after?: string): Feed
  terminal(path: string): Promise<BrowserTerminal>
}

/** Follows the one-time link, as the page does. */
export async function openBrowser(port: number, link: string): Promise<Browser> {
  return await comeBack(port, await signIn(port, /#key=(.+)$/.exec(link)?.[1] ?? ''))
}

const mac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('base64url')

/** As the page does it: the key of the link stays here. */
export async function signIn(port: number, key: string): Promise<Identity> {
  const host = `127.0.0.1:${port}`
  // Encoded: exporting the key objects deadlocks Node.js when it collects garbage at that moment.
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { format: 'der', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  })
  const visitor = publicKey.toString('base64url')
  const own = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' })
  const link = createHash('sha256').update(key).digest('hex')
  const proof = mac(key, `heimdall login\n${host}\n${visitor}`)
  const login = await postTo(port, '/api/login', { link, visitor, proof })
  if (login.status !== 200) throw new Error(`the link did not let anybody in: ${login.text}`)
  const reply = loginReply.parse(login.json())
  expect(reply.proof).toBe(mac(key, `heimdall welcome\n${host}\n${visitor}\n${reply.hub}`))
  const id = createHash('sha256').update(visitor).digest('hex')
  return { id, key: own.export({ format: 'jwk' }), hub: reply.hub }
}

/** The hub proves itself, then the browser does; `host` is what the browser has in its address bar. */
export async function passProof(port: number, { id, key, hub }: Identity, host = `127.0.0.1:${port}`): Promise<object> {
  const nonce = randomBytes(32).toString('base64url')
  const hello = await ask(port, `/api/hello?nonce=${nonce}`, { headers: { Host: `127.0.0.1:${port}` } })
  const { instance, proof } = helloReply.parse(hello.json())
  const hubKey = createPublicKey({ key: Buffer.from(hub, 'base64url'), format: 'der', type: 'spki' })
  const text = `heimdall hub\n127.0.0.1:${port}\n${nonce}\n${instance}`
  const isHub = verify('sha256', Buffer.from(text), { key: hubKey, ...P1363 }, Buffer.from(proof, 'base64url'))
  if (!isHub) throw new Error('this is not the hub')
  const signed = Buffer.from(`heimdall visitor\n${host}\n${instance}`)
  const signature = sign('sha256', signed, { key: createPrivateKey({ key, format: 'jwk' }), ...P1363 })
  return { visitor: id, proof: signature.toString('base64url') }
}

const P1363 = { dsaEncoding: 'ieee-p1363' } as const

const postTo = (
  port: number,
  path: string,
  body: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<Reply> => {
  const host = `127.0.0.1:${port}`
  const headers = { Host: host, Origin: `http://${host}`, 'Content-Type': 'application/json', ...more }
  return ask(port, path, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** A browser that has signed in before, also at a hub that was started since. */
export async function comeBack(port: number, identity: Identity): Promise<Browser> {
  const host = `127.0.0.1:${port}`
  const given = await postTo(port, '/api/pass', await passProof(port, identity))
  if (given.status !== 200) throw new Error(`no pass: ${given.text}`)
  const { pass } = passReply.parse(given.json())
  const shown = { 'X-Heimdall-Pass': pass }
  const got = async (path: string): Promise<Reply> => {
    const reply = await ask(port, path, { headers: { Host: host, ...shown } })
    if (reply.status !== 200) throw new Error(`GET ${path}: ${reply.status} ${reply.text}`)
    return reply
  }
  return {
    identity,
    pass,
    async get<T>(path: string) {
      return (await got(path)).json() as T
    },
    text: async (path) => (await got(path)).text,
    post: (path, body) => postTo(port, path, body, shown),
    feed(query = '', after) {
      const url = new URL(`ws://${host}/api/events${query}`)
      if (after !== undefined) url.searchParams.set('after', after)
      return new Feed(url, { Origin: `http://${host}`, ...shown })
    },
    terminal: (path) => BrowserTerminal.open(`ws://${host}${path}`, { Origin: `http://${host}`, ...shown }),
  }
}

export interface FeedEvent<Name extends keyof LiveEvents = keyof LiveEvents> {
  readonly name: Name
  readonly id: string | undefined
  readonly data: LiveEvents[Name]
}

/** A live feed that keeps everything it has received. */
export class Feed {
  readonly events: FeedEvent[] = []
  readonly #socket: WebSocket
  isOver = false

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.#socket = new WebSocket(url, { headers })
    this.#socket.on('message', (data: Buffer) => {
      const { event, id, data: content } = JSON.parse(data.toString('utf8')) as FeedMessage
      this.events.push({ name: event, id, data: content })
    })
    this.#socket.on('close', () => (this.isOver = true))
    this.#socket.on('error', () => (this.isOver = true))
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
    this.#socket.terminate()
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
