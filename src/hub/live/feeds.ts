// The live feeds that are open: which project a page asks for, and from where on.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { HeimdallError } from '../../errors.ts'
import { HUB_SCREEN_LINES_MAX } from '../../limits.ts'
import type { Projects } from '../projects.ts'
import { type FeedOptions, serveFeed } from './feed.ts'

type FeedsOptions = Omit<FeedOptions, 'live' | 'runs'> & { readonly projects: Projects }

/** A page sends nothing on this socket. */
const MESSAGE_BYTES_MAX = 1_024

export class Feeds {
  readonly #options: FeedsOptions
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MESSAGE_BYTES_MAX })

  constructor(options: FeedsOptions) {
    this.#options = options
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { searchParams } = new URL(request.url ?? '', 'http://hub')
    let found: ReturnType<Projects['find']>
    try {
      found = this.#options.projects.find(searchParams.get('project') ?? undefined)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
      return
    }
    const after = searchParams.get('after') ?? undefined
    const screenLines = Math.min(Math.max(Number(searchParams.get('screens')) || 0, 0), HUB_SCREEN_LINES_MAX)
    const { live, runs } = found
    this.#sockets.handleUpgrade(request, socket, head, (browser) => {
      void serveFeed(browser, { after, screenLines }, { ...this.#options, live, runs })
    })
  }

  end(): void {
    for (const socket of this.#sockets.clients) socket.close(1001)
  }
}
