// What happened and what is held: conversations, claims, changes, tasks, tokens, search.
import type { Context, Hono } from 'hono'
import type { Coordination } from '../../coordination/coordination.ts'
import { dispatchDir, localPeers } from '../../dispatch/peers.ts'
import { HeimdallError } from '../../errors.ts'
import { runsDirOf } from '../../paths.ts'
import { parseScopes } from '../../scopes/scope.ts'
import { overlap } from '../../scopes/overlap.ts'
import { contextFor } from '../../coordination/claims/check-scopes.ts'
import type {
  ChangesReply,
  ClaimsReply,
  ConversationReply,
  RoutingReply,
  SearchReply,
  SessionsReply,
  TasksReply,
  TokensReply,
  TreeReply,
  WhyReply,
} from '../contract.ts'
import { claimsNow, whyHeld } from '../facts/claim-map.ts'
import { conversation, seqOfRow } from '../facts/conversation.ts'
import { claimsOn, heldFiles } from '../facts/held-files.ts'
import { changesOf } from '../facts/changes.ts'
import { agentHits, callHits, noteHits, pathHits, taskHits, wordsOf } from '../facts/search.ts'
import { beginningOf } from '../facts/recorded-run.ts'
import { routingOf, tasksNow } from '../facts/task-rows.ts'
import { taskSessions, tokensNow } from '../facts/work.ts'
import type { ApiDesk } from './api.ts'

export function workRoutes(app: Hono, desk: ApiDesk): void {
  const { shown, picture, nowIso, clock, book } = desk
  const read = <T>(c: Context, act: (room: Coordination) => T, otherwise: T): T =>
    shown(c).room.read(act, () => otherwise)
  const talk = (c: Context, subject: string, query: { task?: string; agent?: string }): Response => {
    const before = seqOfRow(c.req.query('before'))
    const { rows, more } = read(c, (room) => conversation(room, query, before), { rows: [], more: false })
    return c.json<ConversationReply>({ at: nowIso(), subject, rows, more })
  }
  app.get('/api/sessions', (c) => c.json<SessionsReply>({ at: nowIso(), sessions: read(c, taskSessions, []) }))
  app.get('/api/sessions/:task/conversation', (c) => talk(c, c.req.param('task'), { task: c.req.param('task') }))
  app.get('/api/agents/:agent/conversation', (c) => talk(c, c.req.param('agent'), { agent: c.req.param('agent') }))

  app.get('/api/claims', async (c) => {
    const { fleet } = await picture(c)
    const none = { claims: [], incursions: [], queue: [] }
    return c.json<ClaimsReply>({ at: nowIso(), ...read(c, (room) => claimsNow(room, fleet.collisions), none) })
  })
  app.get('/api/why', (c) => {
    const path = c.req.query('path') ?? ''
    if (path === '') throw new HeimdallError('HUB_REQUEST_INVALID', 'path: which one?')
    const told = read(c, (room) => whyHeld(room, path), { path, holders: [], history: [] })
    return c.json<WhyReply>({ ...told, command: `heimdall why ${path}` })
  })
  app.get('/api/tree', async (c) => {
    const { files, left_out } = await shown(c).files.tree()
    const claimsOf = read<(path: string) => string[]>(c, claimsOn, () => [])
    return c.json<TreeReply>({ at: nowIso(), files: heldFiles(files, claimsOf), left_out })
  })

  app.get('/api/agents/:agent/changes', async (c) => {
    const { fleet } = await picture(c)
    const { room, runs } = shown(c)
    const { env } = room.fleetOptions
    const agent = fleet.agents.find(({ agent_id: id }) => id === c.req.param('agent'))
    const begun = agent && beginningOf(runsDirOf(env), runs, agent.agent_id, agent.run_id)
    const cwd = agent?.cwd ?? begun?.cwd
    if (agent === undefined || cwd == null)
      throw new HeimdallError('AGENT_NOT_FOUND', 'where this agent works is not known here')
    const claimed = agent.claims.flatMap(({ scopes }) => scopes)
    const isClaimed = read<(path: string) => boolean>(
      c,
      (room) => coveredBy(room, claimed),
      () => false,
    )
    const wish = {
      agentId: agent.agent_id,
      cwd,
      runBegan: begun?.startedAt ?? agent.started_at,
      commitThen: begun?.commit ?? null,
      since: c.req.query('since'),
      path: c.req.query('path'),
      isClaimed,
      alsoHere: fleet.agents
        .filter(({ agent_id: id, cwd: its, is_over: isOver }) => id !== agent.agent_id && its === cwd && !isOver)
        .map(({ agent_id: id }) => id),
    }
    return c.json<ChangesReply>({ at: nowIso(), ...(await changesOf(wish, env)) })
  })

  app.get('/api/tasks', (c) => c.json<TasksReply>({ at: nowIso(), ...read(c, tasksNow, { tasks: [], workers: [] }) }))
  app.get('/api/tasks/:task/routing', (c) => {
    const task = c.req.param('task')
    const { env, project } = shown(c).room.fleetOptions
    const dir = dispatchDir(env, project)
    const around = {
      workers: localPeers(dir, 'worker').length,
      isOrchestrated: localPeers(dir, 'orchestrator').length > 0,
    }
    const reply = read(c, (room) => routingOf(room, task, around), undefined)
    if (reply === undefined) throw new HeimdallError('TASK_NOT_FOUND', 'no task is known here yet')
    return c.json<RoutingReply>(reply)
  })
  app.get('/api/tokens', async (c) =>
    c.json<TokensReply>({ at: nowIso(), ...tokensNow(shown(c).room.fleetOptions, await picture(c)) }),
  )

  app.get('/api/search', async (c) => {
    const startedMs = clock.monoMs()
    const q = (c.req.query('q') ?? '').slice(0, 200)
    const words = wordsOf(q)
    if (words.length === 0) return c.json<SearchReply>({ q, took_ms: 0, counts: {}, hits: [] })
    const { runs, files } = shown(c)
    const now = await picture(c)
    const hits = [
      ...agentHits(now, words),
      ...pathHits(
        await files.names(),
        now,
        words,
        read<(path: string) => string[]>(c, claimsOn, () => []),
      ),
      ...(await book.ask((open) => callHits(open, runs, q), [])),
      ...read(c, (open) => noteHits(open, words), []),
      ...read(c, (open) => taskHits(open, words), []),
    ]
    const counts: Record<string, number> = {}
    for (const { kind } of hits) counts[kind] = (counts[kind] ?? 0) + 1
    return c.json<SearchReply>({ q, took_ms: Math.round(clock.monoMs() - startedMs), counts, hits })
  })
}

/** By the same algebra that claims are decided by. */
function coveredBy(room: Coordination, claimed: readonly string[]): (path: string) => boolean {
  const context = contextFor(room, room.project.root)
  const scopes = claimed.length === 0 ? [] : parseScopes(claimed, context)
  return (path) => {
    const own = parseScopes([path], context)
    return own.some((one) => scopes.some((scope) => overlap(scope, one).kind !== 'disjoint'))
  }
}
