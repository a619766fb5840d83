// Where a page comes to for a terminal: which session it means, and the socket that it is shown through.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { HUB_BODY_BYTES_MAX } from '../../limits.ts'
import type { FleetAgent } from '../../spine/fleet/fleet.ts'
import { pathOf } from '../door/http-door.ts'
import { shownSession } from '../facts/cards.ts'
import type { ProjectRoom } from '../project-room.ts'
import type { Projects } from '../projects.ts'
import { serveTerminal } from './terminal-socket.ts'
import { Watchers } from './watchers.ts'
import { hasSession, wayToSession } from './way-to-session.ts'

interface TerminalDoorOptions {
  readonly projects: Projects
  readonly isReadOnly: boolean
  readonly clock: Clock
  readonly onBug: (error: unknown) => void
}

interface AskedTerminal {
  readonly sessionId: string
  readonly agent: FleetAgent
  readonly room: ProjectRoom
}

export class TerminalDoor {
  readonly #options: TerminalDoorOptions
  readonly #watchers = new Watchers()
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: HUB_BODY_BYTES_MAX })

  constructor(options: TerminalDoorOptions) {
    this.#options = options
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { clock, isReadOnly, onBug } = this.#options
    const asked = await this.#asked(request).catch((error: unknown) => {
      // Whoever waits for an answer gets one.
      if (!(error instanceof HeimdallError)) onBug(error)
      return undefined
    })
    if (asked === undefined) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
      return
    }
    const { sessionId, agent, room } = asked
    this.#sockets.handleUpgrade(request, socket, head, (browser) => {
      serveTerminal(browser, {
        reach: () => wayToSession(agent, { room, clock }),
        sessionId,
        mayType: !isReadOnly,
        clock,
        watchers: this.#watchers,
      }).catch(onBug)
    })
  }

  /** They go away, as a page would. */
  close(): void {
    for (const socket of this.#sockets.clients) socket.close(1001)
  }

  /** Only sessions of agents that the project has. */
  async #asked(request: IncomingMessage): Promise<AskedTerminal | undefined> {
    const { projects } = this.#options
    const sessionId = /^\/api\/terminals\/([^/]+)$/.exec(decodeURIComponent(pathOf(request)))?.[1]
    const project = new URL(request.url ?? '', 'http://hub').searchParams.get('project') ?? undefined
    if (sessionId === undefined || (project !== undefined && !projects.has(project))) return undefined
    const { live, room } = projects.find(project)
    const { fleet } = await live.now()
    const agent = fleet.agents.find((one) => shownSession(one) === sessionId && hasSession(one))
    return agent === undefined ? undefined : { sessionId, agent, room }
  }
}
