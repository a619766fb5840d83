// The hub: one process that shows projects and passes on what a person does. It is never in the path of a call and never the only copy of anything: stopping it stops nothing else.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { WebSocketServer } from 'ws'
import type { Endpoint } from '../client/endpoint.ts'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { HUB_BODY_BYTES_MAX } from '../limits.ts'
import { type Env, runsDirOf, stateDir } from '../paths.ts'
import type { FleetAgent } from '../spine/fleet/fleet.ts'
import { passIn, tokenIn } from './door/cookies.ts'
import type { Area } from './door/gate.ts'
import { type OpenDoor, openDoor, pathOf } from './door/http-door.ts'
import { type HubFile, type HubPlace, visitorsPath } from './door/hub-file.ts'
import { servePage } from './door/page-files.ts'
import { Visitors } from './door/visitors.ts'
import { CallBook } from './facts/call-book.ts'
import { shownSession } from './facts/cards.ts'
import { serveFeed } from './live/feed.ts'
import type { ProjectOptions, ProjectRoom } from './project-room.ts'
import { Projects } from './projects.ts'
import { api } from './routes/api.ts'
import { Hooks } from './routes/hook.ts'
import { loginRoutes } from './routes/login.ts'
import { programRoutes } from './routes/program.ts'
import { Screens } from './terminals/screens.ts'
import { serveTerminal } from './terminals/terminal-socket.ts'
import { Watchers } from './terminals/watchers.ts'
import { hasSession, wayToSession } from './terminals/way-to-session.ts'

export interface HubOptions {
  readonly place: HubPlace
  readonly port: number
  readonly allowedHosts: readonly string[]
  readonly isReadOnly: boolean
  readonly projects: readonly ProjectOptions['fleet'][]
  /** The project of a folder, for those that are taken in later. */
  readonly projectAt: (folder: string) => Promise<ProjectOptions['fleet']>
  /** Where the built dashboard is. */
  readonly pageDir: string
  readonly person: string
  readonly env: Env
  readonly clock: Clock
  readonly version: string
  readonly note: (line: string) => void
}

export interface RunningHub {
  readonly port: number
  readonly url: string
  /** A new one-time link. */
  link(): string
  close(): Promise<void>
}

export async function startHub(options: HubOptions): Promise<RunningHub> {
  const hub = new Hub(options)
  await hub.open()
  return hub
}

class Hub implements RunningHub {
  readonly #options: HubOptions
  readonly #projects: Projects
  readonly #visitors: Visitors
  readonly #screens: Screens
  readonly #watchers = new Watchers()
  readonly #book: CallBook
  readonly #hooks: Hooks
  readonly #secret = randomBytes(32).toString('base64url')
  readonly #secretHash = hashOf(`Bearer ${this.#secret}`)
  readonly #startedAt: string
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: HUB_BODY_BYTES_MAX })
  /** Of pages that look: they never end by themselves. */
  readonly #feeds = new Set<ServerResponse>()
  #door: OpenDoor | undefined

  constructor(options: HubOptions) {
    const { clock, env, note, person } = options
    this.#options = options
    this.#startedAt = new Date(clock.wallMs()).toISOString()
    this.#screens = new Screens(clock)
    this.#projects = new Projects(person, options.version, this.#screens)
    for (const fleet of options.projects) this.#projects.add({ fleet, note })
    this.#visitors = new Visitors({ path: visitorsPath(stateDir(env)), clock, randomBytes })
    this.#book = new CallBook({ runsDir: runsDirOf(env), clock, note })
    this.#hooks = new Hooks({ port: () => this.port, env, clock, note, onBug: this.#onBug })
  }

  get port(): number {
    return this.#door?.port ?? this.#options.port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  link(): string {
    return `${this.url}/#key=${this.#visitors.link()}`
  }

  async open(): Promise<void> {
    const { allowedHosts, isReadOnly, clock, version, person, env } = this.#options
    const app = api({
      projects: this.#projects,
      screens: this.#screens,
      book: this.#book,
      clock,
      version,
      startedAt: this.#startedAt,
      isReadOnly,
      person,
      env,
      onBug: this.#onBug,
    })
    loginRoutes(app, this.#visitors, () => this.port)
    const program = programRoutes({
      port: () => this.port,
      link: () => this.#visitors.link(),
      add: (folder) => this.#add(folder),
      onBug: this.#onBug,
    })
    const answers = { api: getRequestListener(app.fetch), program: getRequestListener(program.fetch) }
    this.#door = await openDoor(this.#options.port, (port) => ({
      clock,
      house: (request) => ({
        port,
        allowedHosts,
        isReadOnly,
        hasToken: () =>
          this.#visitors.knows({ token: tokenIn(request.headers.cookie, port) ?? '', pass: passIn(request) ?? '' }),
        // In the same time whatever differs.
        hasProgramSecret: () => timingSafeEqual(hashOf(request.headers.authorization ?? ''), this.#secretHash),
      }),
      answer: (area, request, response) => this.#answer(answers, area, request, response),
      upgrade: (request, socket, head) => this.#upgrade(request, socket, head),
    }))
    this.#writeFile()
  }

  async close(): Promise<void> {
    this.#options.place.leave()
    for (const feed of this.#feeds) feed.end()
    for (const socket of this.#sockets.clients) socket.close(1001)
    this.#screens.close()
    await this.#projects.close()
    await this.#door?.close()
  }

  readonly #onBug = (error: unknown): void => {
    this.#options.note(`bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  }

  #writeFile(): void {
    const { place, isReadOnly } = this.#options
    const file: HubFile = {
      v: 1,
      pid: process.pid,
      port: this.port,
      url: this.url,
      started_at: this.#startedAt,
      read_only: isReadOnly,
      projects: this.#projects.all().map(({ room }) => room.root),
      secret: this.#secret,
    }
    place.write(file)
  }

  async #add(folder: string): Promise<{ readonly name: string; readonly isNew: boolean }> {
    const { note, projectAt } = this.#options
    const before = this.#projects.all().length
    const { room } = this.#projects.add({ fleet: await projectAt(folder), note })
    const isNew = this.#projects.all().length > before
    if (isNew) this.#writeFile()
    return { name: room.name, isNew }
  }

  #answer(
    answers: Readonly<Record<'api' | 'program', ReturnType<typeof getRequestListener>>>,
    area: Area,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (area === 'page') servePage(this.#options.pageDir, request, response)
    else if (pathOf(request).startsWith('/hook/')) void this.#hooks.serve(request, response)
    else if (area === 'program') void answers.program(request, response)
    else if (area === 'api' && pathOf(request) === '/api/events') this.#feed(request, response)
    else void answers.api(request, response)
  }

  #feed(request: IncomingMessage, response: ServerResponse): void {
    const { searchParams } = new URL(request.url ?? '', this.url)
    const id = searchParams.get('project') ?? undefined
    const last = request.headers['last-event-id']
    let found: ReturnType<Projects['find']>
    try {
      found = this.#projects.find(id)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      response.writeHead(404).end()
      return
    }
    this.#feeds.add(response)
    response.once('close', () => this.#feeds.delete(response))
    const screenLines = Math.min(Math.max(Number(searchParams.get('screens')) || 0, 0), 60)
    const after = (typeof last === 'string' ? last : undefined) ?? searchParams.get('after') ?? undefined
    const { live, runs } = found
    void serveFeed(
      request,
      response,
      { after, screenLines },
      {
        live,
        runs,
        book: this.#book,
        screens: this.#screens,
        clock: this.#options.clock,
        version: this.#options.version,
        onBug: this.#onBug,
      },
    )
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { searchParams } = new URL(request.url ?? '', this.url)
    const sessionId = /^\/api\/terminals\/([^/]+)$/.exec(decodeURIComponent(pathOf(request)))?.[1]
    const agent = this.#agentOf(sessionId, searchParams.get('project') ?? undefined).catch((error: unknown) => {
      // Whoever waits for an answer gets one.
      if (!(error instanceof HeimdallError)) this.#onBug(error)
      return undefined
    })
    void agent.then((found) => {
      if (sessionId === undefined || found === undefined) {
        socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
        return
      }
      const { clock, isReadOnly } = this.#options
      const reach = (): Promise<Endpoint> => wayToSession(found.agent, { room: found.room, clock })
      this.#sockets.handleUpgrade(request, socket, head, (browser) => {
        serveTerminal(browser, { reach, sessionId, mayType: !isReadOnly, clock, watchers: this.#watchers }).catch(
          this.#onBug,
        )
      })
    })
  }

  /** Only sessions of agents that the project has. */
  async #agentOf(
    sessionId: string | undefined,
    project: string | undefined,
  ): Promise<{ readonly agent: FleetAgent; readonly room: ProjectRoom } | undefined> {
    if (sessionId === undefined || (project !== undefined && !this.#projects.has(project))) return undefined
    const { live, room } = this.#projects.find(project)
    const { fleet } = await live.now()
    const agent = fleet.agents.find((one) => shownSession(one) === sessionId && hasSession(one))
    return agent === undefined ? undefined : { agent, room }
  }
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
