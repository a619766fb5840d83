// The API as one app: what it is made of, and how a refusal reads.
import { type Context, Hono } from 'hono'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import type { Env } from '../../paths.ts'
import { refusedBy } from '../door/reply.ts'
import type { CallBook } from '../facts/call-book.ts'
import type { Picture } from '../live/picture.ts'
import type { Projects, ShownProject } from '../projects.ts'
import type { Screens } from '../terminals/screens.ts'
import { actRoutes } from './act-routes.ts'
import { fleetRoutes } from './fleet-routes.ts'
import { recordRoutes } from './record-routes.ts'
import { workRoutes } from './work-routes.ts'

export interface ApiOptions {
  readonly projects: Projects
  readonly screens: Screens
  readonly book: CallBook
  readonly clock: Clock
  readonly version: string
  readonly startedAt: string
  readonly isReadOnly: boolean
  readonly person: string
  readonly env: Env
  readonly onBug: (error: unknown) => void
}

/** What routes have in hand. */
export interface ApiDesk extends ApiOptions {
  readonly nowIso: () => string
  /** The project that a request names. */
  readonly shown: (c: Context) => ShownProject
  readonly picture: (c: Context) => Promise<Picture>
}

export function api(options: ApiOptions): Hono {
  const { projects, clock } = options
  const shown = (c: Context): ShownProject => projects.find(c.req.query('project'))
  const desk: ApiDesk = {
    ...options,
    nowIso: () => new Date(clock.wallMs()).toISOString(),
    shown,
    picture: (c) => shown(c).live.now(),
  }
  const app = new Hono()
  app.onError((error, c) => {
    if (!(error instanceof HeimdallError)) options.onBug(error)
    const { status, body } = refusedBy(error, 'The other parts of the page work.')
    return c.json(body, status as 400)
  })
  app.notFound((c) => {
    const { body } = refusedBy(new HeimdallError('HUB_NOT_FOUND', 'the hub has nothing under this address'))
    return c.json(body, 404)
  })
  app.use(async (c, next) => {
    await next()
    if (c.req.method !== 'GET') for (const { live } of projects.all()) live.forget()
    c.header('Cache-Control', 'no-store')
  })
  fleetRoutes(app, desk)
  workRoutes(app, desk)
  recordRoutes(app, desk)
  actRoutes(app, desk)
  return app
}
