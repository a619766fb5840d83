// What was recorded: decisions, one call, runs and their timelines.
import type { Hono } from 'hono'
import type { Coordination } from '../../coordination/coordination.ts'
import { HeimdallError } from '../../errors.ts'
import { runsDirOf } from '../../paths.ts'
import {
  type CallReply,
  type DecisionsReply,
  decisionsQuery,
  decisionWord,
  type ReplayReply,
  replayRequest,
  type RunsReply,
  type RunRow,
  type TimelineReply,
} from '../contract.ts'
import type { OpenBook } from '../facts/call-book.ts'
import { decisions, oneCall } from '../facts/decisions.ts'
import { recordingOf, replayed } from '../facts/recorded-run.ts'
import { runsOf, timeline } from '../facts/runs.ts'
import type { ApiDesk } from './api.ts'
import { bodyOf, queryOf } from './body.ts'

export function recordRoutes(app: Hono, { shown, nowIso, clock, book }: ApiDesk): void {
  app.get('/api/decisions', async (c) => {
    const query = queryOf(c, decisionsQuery)
    const counts = Object.fromEntries(decisionWord.options.map((word) => [word, 0])) as DecisionsReply['counts']
    const none = { since: query.since ?? null, counts, calls: [], next: null }
    const found = await book.ask((open) => decisions(open, shown(c).runs, query), none)
    return c.json<DecisionsReply>({ at: nowIso(), ...found })
  })
  app.get('/api/calls/:run/:call', async (c) => {
    const { run, call } = c.req.param()
    const found = await book.ask((open) => oneCall(open, shown(c).runs, run, call), undefined)
    if (found === undefined) throw new HeimdallError('CALL_NOT_FOUND', 'no call of this id is on record')
    return c.json<CallReply>(found)
  })
  app.get('/api/runs', async (c) => {
    const limit = Math.min(Math.max(Number(c.req.query('limit')) || 100, 1), 1_000)
    const { room, runs } = shown(c)
    const runsDir = runsDirOf(room.fleetOptions.env)
    const list = (open: OpenBook, store: Coordination | undefined): RunRow[] =>
      runsOf(open, runsDir, runs, { limit, nowMs: clock.wallMs(), room: store })
    const told = await book.ask(
      (open) =>
        room.read(
          (store) => list(open, store),
          () => list(open, undefined),
        ),
      [],
    )
    return c.json<RunsReply>({ at: nowIso(), runs: told })
  })
  app.get('/api/runs/:run/recording', (c) => {
    const cast = recordingOf(runsDirOf(shown(c).room.fleetOptions.env), c.req.param('run'))
    return c.body(cast, 200, { 'Content-Type': 'application/x-asciicast; charset=utf-8' })
  })
  app.post('/api/runs/:run/replay', async (c) => {
    const { policy } = await bodyOf(c, replayRequest)
    const { env } = shown(c).room.fleetOptions
    return c.json<ReplayReply>(await replayed(runsDirOf(env), c.req.param('run'), policy))
  })
  app.get('/api/runs/:run/timeline', async (c) => {
    const { room } = shown(c)
    const ms = (name: string): number | undefined => {
      const at = Date.parse(c.req.query(name) ?? '')
      return Number.isNaN(at) ? undefined : at
    }
    const range = { fromMs: ms('from'), toMs: ms('to') }
    const told = await book.ask(
      (open) =>
        room.read(
          (store) => timeline(open, runsDirOf(room.fleetOptions.env), c.req.param('run'), range, clock.wallMs(), store),
          () => timeline(open, runsDirOf(room.fleetOptions.env), c.req.param('run'), range, clock.wallMs(), undefined),
        ),
      undefined,
    )
    if (told === undefined) throw new HeimdallError('RUN_NOT_FOUND', 'no run of this id is on record')
    return c.json<TimelineReply>({ at: nowIso(), ...told })
  })
}
