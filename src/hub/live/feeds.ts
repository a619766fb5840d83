// The live feeds that are open: which project a page asks for, and from where on.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { HeimdallError } from '../../errors.ts'
import { HUB_SCREEN_LINES_MAX } from '../../limits.ts'
import type { Projects } from '../projects.ts'
import { type FeedOptions, serveFeed } from './feed.ts'

type FeedsOptions = Omit<FeedOptions, 'live' | 'runs'> & { readonly projects: Projects }

export class Feeds {
  readonly #options: FeedsOptions
  /** Of pages that look: they never end by themselves. */
  readonly #open = new Set<ServerResponse>()

  constructor(options: FeedsOptions) {
    this.#options = options
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const { searchParams } = new URL(request.url ?? '', 'http://hub')
    let found: ReturnType<Projects['find']>
    try {
      found = this.#options.projects.find(searchParams.get('project') ?? undefined)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      response.writeHead(404).end()
      return
    }
    this.#open.add(response)
    response.once('close', () => this.#open.delete(response))
    const last = request.headers['last-event-id']
    const after = (typeof last === 'string' ? last : undefined) ?? searchParams.get('after') ?? undefined
    const screenLines = Math.min(Math.max(Number(searchParams.get('screens')) || 0, 0), HUB_SCREEN_LINES_MAX)
    const { live, runs } = found
    void serveFeed(request, response, { after, screenLines }, { ...this.#options, live, runs })
  }

  end(): void {
    for (const response of this.#open) response.end()
  }
}
