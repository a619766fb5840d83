// What the claim commands do, and how a grant, a refusal or a list of claims is printed.
import { existsSync } from 'node:fs'
import { findAgent, unknownAgent } from '../../coordination/change.ts'
import { checkScopes } from '../../coordination/claims/check-scopes.ts'
import {
  type ClaimRequest,
  type ClaimResult,
  claimScopes,
  listClaims,
  reap as reapClaims,
} from '../../coordination/claims/claims.ts'
import { type Asker, type Conflict, type Standing, standingNow } from '../../coordination/claims/conflicts.ts'
import { type ClaimChoice, releaseClaims, renewClaims } from '../../coordination/claims/held.ts'
import { waitForClaim } from '../../coordination/claims/queue.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import type { Bringer } from '../../coordination/ledger/brought-by.ts'
import { REPORTED } from '../../coordination/ledger/reported.ts'
import { oldCopyText } from '../../coordination/membership.ts'
import { type Envelope, EVENT_TYPES, listEvents, NO_TASK } from '../../coordination/protocol.ts'
import { claimRecord, conflictHint, conflictRecord, taskRef } from '../../coordination/records.ts'
import { askingHere } from '../../coordination/who/caller.ts'
import { readHaid } from '../../coordination/who/haid.ts'
import { processRef } from '../../coordination/who/process-ref.ts'
import { heartbeat as beat } from '../../coordination/who/registration.ts'
import { EXIT, HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { FLEET_CHECK_OLD_MS } from '../../limits.ts'
import { nearest } from '../../suggest.ts'
import type { Answer, Context } from '../command.ts'
import { callerOf, ledgerActor, personIn, renewingActor, withStore, withStoreToRead } from '../coordination-store.ts'
import { renderTable } from '../render/style.ts'
import { usageError } from '../usage-error.ts'

/** Seed 000's exit code for a collision. */
const COLLISION = 3

interface ClaimFlags extends Pick<ClaimRequest, 'archivesLapsed' | 'replacesTask'> {
  readonly agent: string | undefined
  readonly task: string | undefined
  readonly intent: string | undefined
  readonly ttl: number
}

interface ChoiceFlags {
  readonly agent: string | undefined
  readonly claim: string | undefined
  readonly epoch: number | undefined
}

function requestOf({ cwd }: Context, scopes: readonly string[], flags: ClaimFlags): ClaimRequest {
  const { task, intent, ttl: ttlMinutes, archivesLapsed, replacesTask } = flags
  const forTask = task === undefined || task === NO_TASK ? null : task
  return { scopes, cwd, task: forTask, intent, ttlMinutes, archivesLapsed, replacesTask }
}

export const take = (context: Context, scopes: readonly string[], flags: ClaimFlags): Promise<Answer> => {
  if (!context.isSeedName) refuseMistyped(context, scopes)
  return withStore(context, async (db) => {
    const request = requestOf(context, scopes, flags)
    return answer(context, db, await claimScopes(db, await ledgerActor(context, db, flags.agent), request))
  })
}

const SUBCOMMANDS = ['check', 'list', 'release', 'takeover', 'renew', 'wait', 'reap', 'history']

/** `heimdall claim relase src` would claim two paths. */
function refuseMistyped(context: Context, [first = '']: readonly string[]): void {
  const close = /^[a-z]+$/.test(first) ? nearest(first, SUBCOMMANDS) : undefined
  if (close !== undefined && !existsSync(context.resolve(first)))
    throw usageError(
      `unknown command: heimdall claim ${first}`,
      `did you mean heimdall claim ${close}? A path is written ./${first}`,
    )
}

export const takeOver = (
  context: Context,
  scopes: readonly string[],
  flags: ClaimFlags & { readonly force: boolean | undefined; readonly reason: string | undefined },
): Promise<Answer> =>
  withStore(context, async (db) => {
    const force = flags.force === true ? (await personIn(context, db, '--force', null)).name : undefined
    if (force !== undefined && flags.reason === undefined) throw usageError('--force needs --reason')
    const takeover = force === undefined ? ('stale' as const) : { force, reason: flags.reason ?? '' }
    const actor = await ledgerActor(context, db, flags.agent)
    return answer(context, db, await claimScopes(db, actor, { ...requestOf(context, scopes, flags), takeover }))
  })

export const wait = (
  context: Context,
  scopes: readonly string[],
  flags: ClaimFlags & { readonly timeout: number },
): Promise<Answer> =>
  withStore(context, async (db) => {
    const stop = new AbortController()
    const onSignal = (): void => stop.abort()
    process.once('SIGINT', onSignal)
    try {
      const actor = await ledgerActor(context, db, flags.agent)
      const result = await waitForClaim(db, actor, requestOf(context, scopes, flags), {
        timeoutMs: flags.timeout,
        process: processRef(process.pid),
        signal: stop.signal,
        onQueued: ({ conflicts, ahead }) =>
          context.note(
            conflicts.length > 0
              ? `waiting for ${[...new Set(conflicts.map(({ agentId }) => agentId))].join(', ')}; Ctrl-C stops waiting`
              : `waiting for ${ahead} earlier ${ahead === 1 ? 'request' : 'requests'}; Ctrl-C stops waiting`,
          ),
      })
      if (result.granted) return answer(context, db, result)
      if (stop.signal.aborted) throw new HeimdallError('INTERRUPTED', 'stopped waiting')
      throw new HeimdallError('WAIT_TIMEOUT', `still held after ${flags.timeout} ms: ${scopes.join(' ')}`, {
        hint: ['wait longer', ...new Set(result.conflicts.map(conflictHint))].join('; '),
        details: { conflicts: result.conflicts.map(conflictRecord), ahead: result.ahead },
      })
    } finally {
      process.removeListener('SIGINT', onSignal)
    }
  })

export const check = (
  context: Context,
  scopes: readonly string[],
  agent: string | undefined,
  clear: (scopes: readonly string[], asOf?: string) => Answer,
): Promise<Answer> =>
  withStoreToRead(
    context,
    (db) => {
      const asker = askerOf(context, db, agent)
      const { conflicts, contests } = checkScopes(db, { scopes, cwd: context.cwd, asker })
      for (const { holder, later } of contests)
        context.note(
          `note: ${later.agentId} also claimed ${later.witness}, through ${later.held}; ${holder.agentId} was first and holds it`,
        )
      const asOf = oldCopyText(db.store, db.now(), FLEET_CHECK_OLD_MS)
      return conflicts.length === 0 ? clear(scopes, asOf) : refusal(context, conflicts)
    },
    () => clear(scopes),
  )

export const release = (
  context: Context,
  scopes: readonly string[],
  flags: ChoiceFlags & { readonly haid: string | undefined },
): Promise<Answer> =>
  withStore(context, async (db) => {
    const actor = await ledgerActor(context, db, flags.haid ?? flags.agent)
    const released = await releaseClaims(db, actor, choiceOf(context, db, scopes, flags))
    const surfaces = released.flatMap((claim) => claim.scopes.map(({ raw }) => raw))
    const data = { haid: actor.haid, released: released.map(({ claimId }) => claimId), surfaces }
    const text = released.length === 0 ? `no active claim for ${actor.haid}` : `released: ${surfaces.join(' ')}`
    return { data, text, seedJson: data }
  })

export const renew = (
  context: Context,
  scopes: readonly string[],
  flags: ChoiceFlags & { readonly ttl: number | undefined },
): Promise<Answer> =>
  withStore(context, async (db) => {
    const choice = { ...choiceOf(context, db, scopes, flags), ttlMinutes: flags.ttl }
    const renewed = await renewClaims(db, await renewingActor(context, db, flags.agent), choice)
    const records = renewed.map((claim) => claimRecord(standingNow(db, claim)))
    const lines = records.map((one) => `renewed until ${String(one['expires_at'])}: ${String(one['claim_id'])}`)
    return { data: records, text: lines.join('\n') }
  })

export const reap = (context: Context): Promise<Answer> =>
  withStore(context, async (db) => {
    const { reaped, active } = await reapClaims(db)
    return {
      data: { reaped: reaped.map(({ claimId }) => claimId), active },
      text: `reaped ${reaped.length} expired claim(s); ${active} active claim(s) remain`,
    }
  })

export const list = (context: Context, task: string | undefined, all: boolean): Promise<Answer> =>
  withStoreToRead(
    context,
    (db) => {
      const found = listClaims(db, task === undefined ? {} : { task })
      // Seed 000 lists live claims; a lapsed lease whose owner is silent is shown with `--all`.
      const shown = found.filter(({ lease, liveness }) => all || lease === 'live' || liveness === 'active')
      return listAnswer(context, shown, task)
    },
    () => listAnswer(context, [], task),
  )

function listAnswer(context: Context, found: readonly Standing[], task: string | undefined): Answer {
  const records = found.map(claimRecord)
  const rows = found.map(({ claim, agentId, liveness, expiresAt, via }) => [
    claim.scopes.map(({ raw }) => raw).join(' '),
    context.isSeedName ? claim.holder : agentId,
    liveness,
    expiresAt,
    context.isSeedName ? taskRef(claim.task, via) : (claim.task ?? NO_TASK),
  ])
  const heads = ['SCOPES', 'HOLDER', 'LIVENESS', 'EXPIRES', context.isSeedName ? 'TASK_REF' : 'TASK']
  const table = renderTable(context.style, heads, rows)
  const text = context.isSeedName
    ? [`ACTIVE CLAIMS (${records.length})`, ...(rows.length === 0 ? [] : [table])].join('\n')
    : rows.length === 0
      ? `no claims${task === undefined ? '' : ` for ${printable(task)}`}`
      : table
  return { data: records, text, seedJson: records }
}

export const show = (context: Context, named: string | undefined): Promise<Answer> =>
  withStoreToRead(
    context,
    (db) => {
      const haid = haidOf(context, db, named)
      const records = listClaims(db, { holder: haid }).map(claimRecord)
      const text = records.length === 0 ? `no active claim for ${haid}` : JSON.stringify(records, null, 2)
      return { data: records, text, seedJson: newest(records) }
    },
    () => ({ data: [], text: 'no active claim', seedJson: null }),
  )

/** Seed 000 has one claim per HAID: of several the newest, with all of them next to it. */
function newest(records: readonly Record<string, unknown>[]): Record<string, unknown> | null {
  const last = records.at(-1)
  return last === undefined ? null : { ...last, claims: records }
}

export const heartbeat = (context: Context, named: string | undefined): Promise<Answer> =>
  withStore(context, async (db) => {
    const agent = await beat(db, await ledgerActor(context, db, named))
    const claims = listClaims(db, { holder: agent.haid })
    // Seed 000: a heartbeat without a claim is an error of the caller.
    if (claims.length === 0)
      throw new HeimdallError('RESERVATION_NOT_FOUND', `${agent.haid} holds no claim`, {
        hint: 'heimdall claim PATH makes one',
      })
    return { data: claims.map(claimRecord), text: `heartbeat: ${agent.haid}, ${claims.length} claim(s) live` }
  })

export const history = (
  context: Context,
  flags: Omit<ChoiceFlags, 'epoch'> & {
    readonly task: string | undefined
    readonly type: readonly string[]
    readonly last: number
  },
): Promise<Answer> => {
  const unknown = flags.type.find((type) => !EVENT_TYPES.includes(type) && !type.startsWith('TASK_'))
  if (unknown !== undefined)
    throw usageError(`unknown event type ${printable(unknown)}`, `known: ${EVENT_TYPES.join(', ')} and TASK_…`)
  return withStoreToRead(
    context,
    (db) => {
      const named = flags.agent
      const agent = named === undefined ? undefined : db.store.read((rows) => findAgent(rows, named))
      if (named !== undefined && agent === undefined) throw db.store.read((rows) => unknownAgent(named, rows))
      const events = listEvents(db, {
        last: flags.last,
        ...(flags.type.length === 0 ? {} : { types: flags.type }),
        ...(flags.claim === undefined ? {} : { claimId: flags.claim }),
        ...(flags.task === undefined ? {} : { task: flags.task }),
        ...(agent === undefined ? {} : { agent: agent.agentId }),
      })
      const rows = events.map((event) => [
        String(event.seq),
        event.created_at,
        ...eventCells(event),
        // An event that concerns no other agent is addressed to its actor on the wire.
        event.to_agent === event.from_agent ? '' : (event.to_agent ?? ''),
        event.scope ?? '',
        event.bead_id,
      ])
      const table = renderTable(context.style, ['SEQ', 'TIME', 'EVENT', 'FROM', 'TO', 'SCOPE', 'TASK'], rows)
      return { data: events, text: rows.length === 0 ? 'no events' : table }
    },
    () => ({ data: [], text: 'no events' }),
  )
}

/** Type and actor; an event that arrived by git is shown as reported, with the commit that brought it. */
function eventCells({ event_type, from_agent, actor_kind, payload }: Envelope): [string, string] {
  if (event_type !== REPORTED) return [event_type, from_agent ?? actor_kind]
  const { event, reported_by } = payload as { event: { event_type: string }; reported_by: Bringer }
  const { commit } = reported_by
  return [`${REPORTED} ${event.event_type}`, commit === null ? 'no commit' : `commit ${commit.slice(0, 10)}`]
}

function answer(context: Context, db: Coordination, result: ClaimResult): Answer {
  if (result.setApart !== undefined) {
    const { agent, from } = result.setApart
    context.note(
      `note: another process tree already works as ${from.haid}, so this one is ${agent.haid} (${agent.agentId}) from now on`,
    )
  }
  if (!result.granted) return refusal(context, result.conflicts)
  for (const warning of result.warnings) context.note(`warning: ${warning}`)
  const record = claimRecord(standingNow(db, result.claim))
  const released = result.replaced.map(({ claimId, task, scopes }) => ({
    claim_id: claimId,
    task,
    scopes: scopes.map(({ raw }) => raw),
  }))
  const scopes = result.claim.scopes.map(({ raw }) => raw).join(' ')
  const lines = [
    `${result.renewed ? 'renewed' : 'claimed'}: ${scopes} until ${String(record['expires_at'])} (epoch ${result.claim.epoch})`,
    ...released.map((was) => `released: ${was.scopes.join(' ')}, your earlier claim for ${was.task ?? 'no task'}`),
    ...result.displaced.map(({ agentId, held }) => `taken over: ${held} from ${agentId}`),
    ...result.dirty.map((path) => `uncommitted: ${path}`),
  ]
  const displaced = result.displaced.map(conflictRecord)
  return {
    data: { granted: true, claim: record, renewed: result.renewed, released, displaced, dirty_paths: result.dirty },
    text: lines.join('\n'),
    seedJson: record,
  }
}

/** Seed 000 writes collisions on stderr and exits 3; ours are data and exit 5. */
function refusal(context: Context, conflicts: readonly Conflict[]): Answer {
  const data = { granted: false, conflicts: conflicts.map(conflictRecord) }
  const exit = context.isSeedName ? COLLISION : EXIT.conflict
  if (context.json) return { data, text: '', exit, seedJson: data }
  const hints = new Set(conflicts.map((conflict) => `hint: ${conflictHint(conflict)}`))
  for (const line of [...conflicts.map(collisionLine), ...hints]) context.note(line)
  return { data, text: '', exit }
}

function collisionLine(conflict: Conflict): string {
  const human = readHaid(conflict.haid)?.human ?? 'unknown'
  return `COLLISION: ${conflict.wanted} overlaps ${conflict.held} at ${conflict.witness}, held by ${conflict.haid} (${conflict.agentId}, ${human}, ${conflict.liveness}) for ${conflict.task ?? NO_TASK} until ${conflict.expiresAt}`
}

/** `claim list --json` shows ids: a single argument that is the id of a claim names that claim. */
function choiceOf(
  { cwd }: Context,
  db: Coordination,
  words: readonly string[],
  { claim, epoch }: Pick<ChoiceFlags, 'claim' | 'epoch'>,
): ClaimChoice & { readonly cwd: string } {
  const [word, ...more] = words
  if (word === undefined || claim !== undefined)
    return { claimId: claim, scopes: word === undefined ? undefined : words, cwd, epoch }
  const isId = more.length === 0 && db.store.read((rows) => rows.claim(word)) !== undefined
  return { ...(isId ? { claimId: word } : { scopes: words }), cwd, epoch }
}

function haidOf(context: Context, db: Coordination, named: string | undefined): string {
  if (named === undefined) return callerOf(context, db).haid
  return db.store.read((rows) => findAgent(rows, named)?.haid) ?? named
}

/** Claims under a name that another session holds are that session's, whatever name the caller was started with. */
export function askerOf(context: Context, db: Coordination, named: string | undefined): Asker | null {
  if (named === undefined && callerOf(context, db).refused?.error.code === 'IDENTITY_HELD') return null
  return { haid: haidOf(context, db, named), tree: askingHere(context.env).place?.tree }
}
