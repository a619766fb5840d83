// Who waits, and what each one is doing.
import type { Hono } from 'hono'
import { HeimdallError } from '../../errors.ts'
import type { AgentReply, FleetReply, HubReply, ScreensReply, WaitsReply } from '../contract.ts'
import { answeredWaits, NOTHING_ANSWERED } from '../facts/answered.ts'
import { programsIn } from '../facts/programs.ts'
import type { ApiDesk } from './api.ts'

export function fleetRoutes(app: Hono, desk: ApiDesk): void {
  const { projects, screens, clock } = desk
  app.get('/api/hub', async (c) => {
    const pictures = await Promise.all(projects.all().map(({ live }) => live.now()))
    return c.json<HubReply>({
      version: desk.version,
      now: desk.nowIso(),
      started_at: desk.startedAt,
      read_only: desk.isReadOnly,
      person: desk.person,
      programs: programsIn(desk.env),
      projects: projects.all().map(({ room }) => ({ project: room.id, name: room.name, root: room.root })),
      banners: pictures.flatMap(({ banners }) => banners),
    })
  })
  app.get('/api/fleet', async (c) => {
    const { at, agents, totals } = await desk.picture(c)
    return c.json<FleetReply>({ at, agents: [...agents], totals })
  })
  app.get('/api/agents/:agent', async (c) => {
    const { at, agents } = await desk.picture(c)
    const agent = agents.find(({ agent_id: id }) => id === c.req.param('agent'))
    if (agent === undefined) throw new HeimdallError('AGENT_NOT_FOUND', 'no agent of this name is known here')
    return c.json<AgentReply>({ at, agent })
  })
  app.get('/api/waits', async (c) => {
    const { at, waits } = await desk.picture(c)
    const { runs } = desk.shown(c)
    const answered = await desk.book.ask((open) => answeredWaits(open, runs, clock.wallMs()), NOTHING_ANSWERED)
    return c.json<WaitsReply>({
      at,
      waits: [...waits],
      ...answered,
      waiting_ms: waits.reduce((sum, { since }) => sum + Math.max(0, clock.wallMs() - Date.parse(since)), 0),
    })
  })
  app.get('/api/screens', async (c) => {
    const lines = Math.min(Math.max(Number(c.req.query('lines')) || 7, 1), 60)
    const wanted = c.req.query('sessions')?.split(',')
    const { fleet } = await desk.picture(c)
    const places = fleet.agents.flatMap(({ session_id: id, socket_dir: dir }) =>
      id === null || dir === null || wanted?.includes(id) === false ? [] : [{ id, dir }],
    )
    return c.json<ScreensReply>({ at: desk.nowIso(), screens: await screens.of(places, lines) })
  })
}
