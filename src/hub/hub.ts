// The hub: one process that shows projects and passes on what a person does. It is never in the path of a call and never the only copy of anything: stopping it stops nothing else.
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Clock } from '../clock.ts'
import { type Env, runsDirOf, stateDir } from '../paths.ts'
import { openControl, type ControlSocket } from './door/control-socket.ts'
import type { Area } from './door/gate.ts'
import { HookSecret } from './door/hook-secret.ts'
import { type OpenDoor, openDoor, passIn, pathOf } from './door/http-door.ts'
import { controlPath, type HubFile, hubFilePath, type HubPlace, visitorsPath } from './door/hub-file.ts'
import { servePage } from './door/page-files.ts'
import { Visitors } from './door/visitors.ts'
import { CallBook } from './facts/call-book.ts'
import { Feeds } from './live/feeds.ts'
import type { ProjectOptions } from './project-room.ts'
import { Projects } from './projects.ts'
import { api } from './routes/api.ts'
import { controlRoutes } from './routes/control.ts'
import { Hooks } from './routes/hook.ts'
import { loginRoutes } from './routes/login.ts'
import { Screens } from './terminals/screens.ts'
import { TerminalDoor } from './terminals/terminal-door.ts'

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
  try {
    await hub.open()
  } catch (error) {
    // It may listen already, and a process that listens never ends by itself.
    await hub.close()
    throw error
  }
  return hub
}

class Hub implements RunningHub {
  readonly #options: HubOptions
  readonly #projects: Projects
  readonly #visitors: Visitors
  readonly #screens: Screens
  readonly #book: CallBook
  readonly #hooks: Hooks
  readonly #secret = new HookSecret()
  readonly #startedAt: string
  readonly #feeds: Feeds
  readonly #terminals: TerminalDoor
  #door: OpenDoor | undefined
  #control: ControlSocket | undefined

  constructor(options: HubOptions) {
    const { clock, env, note, person, version, isReadOnly } = options
    const onBug = this.#onBug
    this.#options = options
    this.#startedAt = new Date(clock.wallMs()).toISOString()
    this.#screens = new Screens(clock)
    this.#projects = new Projects(person, version, this.#screens)
    for (const fleet of options.projects) this.#projects.add({ fleet, note })
    this.#visitors = new Visitors({ path: visitorsPath(stateDir(env)), clock, randomBytes })
    this.#book = new CallBook({ runsDir: runsDirOf(env), clock, note })
    this.#hooks = new Hooks({ env, clock, note, onBug })
    const [projects, screens, book] = [this.#projects, this.#screens, this.#book]
    this.#feeds = new Feeds({ projects, screens, book, clock, version, onBug })
    this.#terminals = new TerminalDoor({ projects, isReadOnly, clock, onBug })
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
    loginRoutes(app, this.#visitors)
    const answerApi = getRequestListener(app.fetch)
    this.#door = await openDoor(this.#options.port, (port) => ({
      clock,
      house: (request) => ({
        port,
        allowedHosts,
        isReadOnly,
        hasPass: () => this.#visitors.knows(passIn(request) ?? ''),
        hasHookSecret: () => this.#secret.isIn(request.headers.authorization),
      }),
      answer: (area, request, response) => this.#answer(answerApi, area, request, response),
      upgrade: (request, socket, head) => {
        if (pathOf(request) === '/api/events') this.#feeds.upgrade(request, socket, head)
        else void this.#terminals.upgrade(request, socket, head).catch(this.#onBug)
      },
    }))
    const control = controlRoutes({
      hubFile: hubFilePath(stateDir(env)),
      link: () => this.link(),
      add: (folder) => this.#add(folder),
      onBug: this.#onBug,
    })
    const answerControl = getRequestListener(control.fetch)
    this.#control = await openControl(
      controlPath(stateDir(env)),
      (request, response) => void answerControl(request, response),
    )
    this.#writeFile()
  }

  async close(): Promise<void> {
    this.#visitors.end()
    await this.#control?.close()
    this.#options.place.leave()
    this.#feeds.end()
    this.#terminals.close()
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
      secret: this.#secret.text,
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
    answerApi: ReturnType<typeof getRequestListener>,
    area: Area,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (area === 'page') servePage(this.#options.pageDir, request, response)
    else if (area === 'hook') void this.#hooks.serve(request, response)
    else void answerApi(request, response)
  }
}
