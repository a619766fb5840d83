// What was recorded: decisions, one call, runs and their timelines.
import type { Context, Hono } from 'hono'
import { HeimdallError } from '../../errors.ts'
import { runsDirOf } from '../../paths.ts'
import { unbookedWaits } from '../../spine/fleet/unbooked-waits.ts'
import {
  type CallReply,
  type DecisionsReply,
  decisionsQuery,
  decisionWord,
  type ReplayReply,
  replayRequest,
  type RunChangesReply,
  type RunsReply,
  type TimelineReply,
} from '../contract.ts'
import type { OpenBook } from '../facts/call-book.ts'
import { decisions, oneCall } from '../facts/decisions.ts'
import { folderOf, recordingOf, replayed } from '../facts/recorded-run.ts'
import { changesOfRun, notedChanges } from '../facts/run-changes.ts'
import { runsOf, type BesideRuns, timeline } from '../facts/runs.ts'
import type { ApiDesk } from './api.ts'
import { bodyOf, queryOf } from './body.ts'

export function recordRoutes(app: Hono, { shown, picture, nowIso, clock, book }: ApiDesk): void {
  /** What is told of runs, from their records and with what coordination knows beside them, where it can be read. */
  const around = async <T>(c: Context, tell: (open: OpenBook, beside: BesideRuns) => T): Promise<T | undefined> => {
    const { collisions } = (await picture(c)).fleet
    const nowMs = clock.wallMs()
    return book.ask(
      (open) =>
        shown(c).room.read(
          (room) => tell(open, { nowMs, room, unbooked: unbookedWaits(room, collisions) }),
          () => tell(open, { nowMs, room: undefined, unbooked: [] }),
        ),
      undefined,
    )
  }
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
    const told = await around(c, (open, beside) => runsOf(open, runsDir, runs, { limit, ...beside }))
    return c.json<RunsReply>({ at: nowIso(), runs: told ?? [] })
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
  app.get('/api/runs/:run/changes', async (c) => {
    const run = c.req.param('run')
    const { room } = shown(c)
    const { env } = room.fleetOptions
    folderOf(runsDirOf(env), run)
    const noted = await book.ask((open) => notedChanges(open, run), undefined)
    const told =
      noted === undefined
        ? { noted: null, diff: null, cut: false }
        : await changesOfRun(noted, room.root, c.req.query('path'), env)
    return c.json<RunChangesReply>({ at: nowIso(), run_id: run, ...told })
  })
  app.get('/api/runs/:run/timeline', async (c) => {
    const { room } = shown(c)
    const ms = (name: string): number | undefined => {
      const at = Date.parse(c.req.query(name) ?? '')
      return Number.isNaN(at) ? undefined : at
    }
    const range = { fromMs: ms('from'), toMs: ms('to') }
    const runsDir = runsDirOf(room.fleetOptions.env)
    const told = await around(c, (open, beside) => timeline(open, runsDir, c.req.param('run'), range, beside))
    if (told === undefined) throw new HeimdallError('RUN_NOT_FOUND', 'no run of this id is on record')
    return c.json<TimelineReply>({ at: nowIso(), ...told })
  })
}
