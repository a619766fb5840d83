// The claim tools: see what is held, hold something, let go, and ask without touching anything (seed 000 T-4).
import { checkParsed, contextFor } from '../../coordination/claims/check-scopes.ts'
import { claimScopes, type Grant, listClaims } from '../../coordination/claims/claims.ts'
import { releaseClaims } from '../../coordination/claims/held.ts'
import type { Conflict, Standing } from '../../coordination/claims/conflicts.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { findAgent, unknownAgent } from '../../coordination/change.ts'
import { resolutionHint } from '../../coordination/claims/incursions.ts'
import { claimRecord, taskRef } from '../../coordination/records.ts'
import { LEDGER_LEASE_MINUTES_DEFAULT } from '../../limits.ts'
import type { Claim } from '../../coordination/store.ts'
import { label } from '../../fence.ts'
import { page } from '../page.ts'
import { type ToolCaller, type ToolOutcome, tool } from '../tool.ts'

export const readClaims = tool({
  name: 'read_claims',
  about: 'List active claims: who holds which paths, for which task, until when. Pages: cursor, max_tokens.',
  readOnly: true,
  args: { cursor: 'text', max_tokens: 'count' },
  async run({ desk, haid }, { cursor, max_tokens }) {
    const room = await desk.room()
    const claims = listClaims(room)
      .filter(({ lease, liveness }) => lease === 'live' || liveness === 'active')
      .map((standing) => ({ key: standing.claim.claimId, claim: shownClaim(standing) }))
    const { items, next } = page(claims, { cursor, maxTokens: max_tokens, keyOf: ({ key }) => key })
    if (items.length > 0) desk.planning.log('mcp', 'read-claims', `${haid} ${items.length} claims`)
    return { data: { haid, count: claims.length, ...next, active_claims: items.map(({ claim }) => claim) } }
  },
})

/** Scopes, tasks and intents are other agents' words. */
function shownClaim(standing: Standing): object {
  const { task, intent, scopes } = standing.claim
  const { shown, more } = surfaceList(scopes)
  return {
    ...claimRecord(standing),
    claimed_surfaces: shown,
    ...more,
    task_ref: label(taskRef(task, standing.via), 240),
    ...(intent === null ? {} : { intent: label(intent) }),
  }
}

/** One claim must not fill a page; whether a path is held is a question for `check_claim`. */
const SURFACES_SHOWN = 24
const SURFACE_CHARS_MAX = 240

function surfaceList(scopes: Claim['scopes']): { shown: string[]; more: { more_surfaces?: number } } {
  const shown = scopes.slice(0, SURFACES_SHOWN).map(({ raw }) => surface(raw))
  const more = scopes.length - shown.length
  return { shown, more: more > 0 ? { more_surfaces: more } : {} }
}

const surface = (raw: string): string => label(raw, SURFACE_CHARS_MAX)

export const makeClaim = tool({
  name: 'make_claim',
  about:
    'Hold paths or globs before editing. On collision you hold nothing and see the holders; takeover_stale takes from silent ones.',
  args: { surfaces: 'texts', task: 'text', ttl_minutes: 'count', takeover_stale: 'flag' },
  required: ['surfaces', 'task'],
  async run(caller, { surfaces, task, ttl_minutes, takeover_stale }) {
    const room = await caller.desk.room()
    const result = await claimScopes(room, caller.actor, {
      scopes: surfaces,
      cwd: room.project.root,
      task,
      ttlMinutes: ttl_minutes ?? LEDGER_LEASE_MINUTES_DEFAULT,
      takeover: takeover_stale === true ? 'stale' : undefined,
      archivesLapsed: true,
      replacesTask: true,
    })
    return result.granted ? granted(room, caller, result, task) : collision(caller, result.conflicts)
  },
})

function granted(room: Coordination, caller: ToolCaller, grant: Grant, task: string): ToolOutcome {
  const client = room.store.read((rows) => rows.agent(caller.haid)?.runtime.client ?? null)
  const { claim, renewed, displaced, dirty, warnings } = grant
  const { shown, more } = surfaceList(claim.scopes)
  return {
    data: {
      result: `${renewed ? 'renewed' : 'claimed'} ${claim.scopes.length} surface(s) for ${claim.ttlMinutes} min`,
      haid: caller.haid,
      client_haid: caller.haid,
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(displaced.length === 0
        ? {}
        : {
            displaced: displaced.map(({ haid, held }) => ({ haid, surface: surface(held) })),
            dirty_paths: dirty.map(surface),
          }),
      claim_id: claim.claimId,
      epoch: claim.epoch,
      task_ref: taskRef(claim.task, client === null ? null : caller.haid),
      surfaces: shown,
      ...more,
      task,
    },
  }
}

function collision({ haid }: ToolCaller, conflicts: readonly Conflict[]): ToolOutcome {
  const [first] = conflicts
  return {
    refused: true,
    data: {
      error: 'collision',
      detail:
        first === undefined
          ? 'held by others'
          : `${surface(first.wanted)} collides with ${surface(first.held)}, held by ${first.haid}`,
      haid,
      ...conflictList(conflicts),
    },
  }
}

/** Enough to decide on; more than this many holders is a reason to claim less, not to read on. */
const CONFLICTS_SHOWN = 8

function conflictList(conflicts: readonly Conflict[]): { conflicts: object[]; more_conflicts?: number } {
  const shown = conflicts.slice(0, CONFLICTS_SHOWN).map((conflict) => ({
    haid: conflict.haid,
    agent_id: conflict.agentId,
    liveness: conflict.liveness,
    kind: conflict.kind,
    held: surface(conflict.held),
    wanted: surface(conflict.wanted),
    witness: surface(conflict.witness),
    task: conflict.task === null ? null : label(conflict.task),
    expires_at: conflict.expiresAt,
    hint: resolutionHint(conflict, 'takeover_stale'),
  }))
  const more = conflicts.length - shown.length
  return { conflicts: shown, ...(more > 0 ? { more_conflicts: more } : {}) }
}

export const releaseClaim = tool({
  name: 'release_claim',
  about: 'Release your claims: all, one claim_id, or those of a haid you had. Claims of others are refused.',
  args: { haid: 'text', claim_id: 'text' },
  async run(caller, { haid, claim_id }) {
    const room = await caller.desk.room()
    const { actor } = caller
    const cwd = room.project.root
    if (claim_id !== undefined)
      return released(caller, (await releaseClaims(room, actor, { claimId: claim_id, cwd })).length)
    if (haid === undefined || haid === caller.haid)
      return released(caller, (await releaseClaims(room, actor, { cwd })).length)
    const own = await caller.desk.ownIdentity(caller.client, haid)
    if (own !== undefined) return released(caller, (await releaseClaims(room, own.actor, { cwd })).length)
    // Somebody else's: the engine refuses it claim by claim, and keeps the attempt on record.
    const other = room.store.read((rows) => findAgent(rows, haid))
    if (other === undefined) throw unknownAgent(haid)
    const [held] = listClaims(room, { holder: other.haid })
    if (held !== undefined) await releaseClaims(room, actor, { claimId: held.claim.claimId, cwd })
    return { data: { result: `${other.haid} holds no active claim`, haid: caller.haid } }
  },
})

function released({ haid }: ToolCaller, count: number): ToolOutcome {
  return { data: { result: count === 0 ? 'no active claim' : `released ${count} claim(s)`, haid, released: count } }
}

export const checkClaim = tool({
  name: 'check_claim',
  about: 'Would these paths or globs collide with what others hold? Changes nothing.',
  readOnly: true,
  args: { surfaces: 'texts' },
  required: ['surfaces'],
  async run({ desk, haid, actor }, { surfaces }) {
    const room = await desk.room()
    const scopes = desk.scopes.parse(surfaces, contextFor(room, room.project.root))
    const conflicts = checkParsed(room, scopes, actor)
    return { data: { haid, clear: conflicts.length === 0, ...conflictList(conflicts) } }
  },
})
