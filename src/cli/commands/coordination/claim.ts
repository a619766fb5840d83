// heimdall claim …, heimdall-claim …: who holds which scopes.
import { askingHere } from '../../../coordination/caller.ts'
import {
  checkScopes,
  claimScopes,
  type ClaimRequest,
  type ClaimResult,
  listClaims,
  reap as reapClaims,
} from '../../../coordination/claims.ts'
import { type ClaimChoice, releaseClaims, renewClaims } from '../../../coordination/held.ts'
import { type Asker, type Conflict, type Standing, standingOf } from '../../../coordination/conflicts.ts'
import type { Coordination } from '../../../coordination/coordination.ts'
import { findAgent } from '../../../coordination/gate.ts'
import { readHaid } from '../../../coordination/haid.ts'
import { heartbeat as beat } from '../../../coordination/identity.ts'
import { processRef } from '../../../coordination/process-ref.ts'
import { NO_TASK } from '../../../coordination/protocol.ts'
import { waitForClaim } from '../../../coordination/queue.ts'
import { claimRecord, conflictHint, conflictRecord } from '../../../coordination/records.ts'
import type { Claim } from '../../../coordination/store.ts'
import type { SetApart } from '../../../coordination/tree-identity.ts'
import { EXIT, HeimdallError } from '../../../errors.ts'
import type { Answer, Context, Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type {
  claimCheck,
  claimHeartbeat,
  claimList,
  claimReap,
  claimRelease,
  claimRenew,
  claimShow,
  claimTake,
  claimTakeover,
  claimWait,
} from '../../table/coordination.ts'
import { clear } from './check.ts'
import { callerOf, ledgerActor, personIn, withRoom, withRoomToRead } from './room.ts'

/** Seed 000's exit code for a collision. */
const COLLISION = 3

export const take: Run<typeof claimTake> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const request = requestOf(context, args.scope, flags)
    const actor = await ledgerActor(context, room, flags.agent)
    return answer(
      context,
      room,
      await claimScopes(room, actor, { ...request, archivesLapsed: true, replacesTask: true }),
    )
  })

export const takeover: Run<typeof claimTakeover> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const force = flags.force === true ? (await personIn(context, room, '--force', null)).name : undefined
    if (force !== undefined && flags.reason === undefined) throw new HeimdallError('USAGE', '--force needs --reason')
    const result = await claimScopes(room, await ledgerActor(context, room, flags.agent), {
      ...requestOf(context, args.scope, flags),
      takeover: force === undefined ? 'stale' : { force, reason: flags.reason ?? '' },
    })
    return answer(context, room, result)
  })

export const wait: Run<typeof claimWait> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const stop = new AbortController()
    const onSignal = (): void => stop.abort()
    process.once('SIGINT', onSignal)
    try {
      const result = await waitForClaim(
        room,
        await ledgerActor(context, room, flags.agent),
        requestOf(context, args.scope, flags),
        {
          timeoutMs: flags.timeout,
          process: processRef(process.pid),
          signal: stop.signal,
          onQueued: ({ conflicts, ahead }) =>
            context.note(
              conflicts.length > 0
                ? `waiting for ${[...new Set(conflicts.map(({ agentId }) => agentId))].join(', ')}`
                : `waiting behind ${ahead} other${ahead === 1 ? '' : 's'}`,
            ),
        },
      )
      if (result.granted) return answer(context, room, result)
      if (stop.signal.aborted) throw new HeimdallError('INTERRUPTED', 'stopped waiting')
      throw new HeimdallError('WAIT_TIMEOUT', `still held after ${flags.timeout} ms: ${args.scope.join(' ')}`, {
        hint: ['wait longer', ...new Set(result.conflicts.map(conflictHint))].join('; '),
        details: { conflicts: result.conflicts.map(conflictRecord), ahead: result.ahead },
      })
    } finally {
      process.removeListener('SIGINT', onSignal)
    }
  })

interface RequestFlags {
  readonly task?: string | undefined
  readonly intent?: string | undefined
  readonly ttl: number
}

function requestOf(context: Context, scopes: readonly string[], flags: RequestFlags): ClaimRequest {
  return {
    scopes,
    cwd: context.cwd,
    task: flags.task === undefined || flags.task === NO_TASK ? null : flags.task,
    intent: flags.intent,
    ttlMinutes: flags.ttl,
  }
}

function answer(context: Context, room: Coordination, result: ClaimResult): Answer {
  if (result.setApart !== undefined) context.note(apartLine(result.setApart))
  if (!result.granted) return refusal(context, result.conflicts)
  for (const warning of result.warnings) context.note(`warning: ${warning}`)
  const record = claimRecord(standing(room, result.claim))
  const displaced = result.displaced.map(conflictRecord)
  const scopes = result.claim.scopes.map(({ raw }) => raw).join(' ')
  const lines = [
    `${result.renewed ? 'renewed' : 'claimed'}: ${scopes} until ${String(record['expires_at'])} (epoch ${result.claim.epoch})`,
  ]
  for (const { agentId, held } of result.displaced) lines.push(`taken over: ${held} from ${agentId}`)
  for (const path of result.dirty) lines.push(`uncommitted: ${path}`)
  return {
    data: { granted: true, claim: record, renewed: result.renewed, displaced, dirty_paths: result.dirty },
    text: lines.join('\n'),
    seedJson: record,
  }
}

function apartLine({ agent, from }: SetApart): string {
  return `note: another process tree of ${from.haid} is at work there, so this one is ${agent.haid} (${agent.agentId}) from now on`
}

/** Seed 000 writes collisions on stderr and exits 3; ours are data and exit 5. */
function refusal(context: Context, conflicts: readonly Conflict[]): Answer {
  const hints = [...new Set(conflicts.map((conflict) => `hint: ${conflictHint(conflict)}`))]
  const lines = [...conflicts.map(collisionLine), ...hints]
  const data = { granted: false, conflicts: conflicts.map(conflictRecord) }
  if (context.json) return { data, text: '', exit: context.isSeedName ? COLLISION : EXIT.conflict, seedJson: data }
  for (const line of lines) context.note(line)
  return { data, text: '', exit: context.isSeedName ? COLLISION : EXIT.conflict }
}

function collisionLine(conflict: Conflict): string {
  const human = readHaid(conflict.haid)?.human ?? 'unknown'
  return `COLLISION: ${conflict.wanted} overlaps ${conflict.held} at ${conflict.witness}, held by ${conflict.haid} (${conflict.agentId}, ${human}, ${conflict.liveness}) for ${conflict.task ?? NO_TASK} until ${conflict.expiresAt}`
}

export const check: Run<typeof claimCheck> = (context, { flags, args }) =>
  withRoomToRead(
    context,
    (room) => {
      const { conflicts, contests } = checkScopes(room, {
        scopes: args.scope,
        cwd: context.cwd,
        asker: askerOf(context, room, flags.agent),
      })
      for (const { holder, later } of contests)
        context.note(
          `note: ${later.agentId} has claimed ${later.witness} as well, through ${later.held}; ${holder.agentId} was first and holds it`,
        )
      return conflicts.length === 0 ? clear(args.scope) : refusal(context, conflicts)
    },
    () => clear(args.scope),
  )

/** `claim list` shows ids, so one of them in a scope's place is what it looks like: a claim, whoever holds it. */
function chosenBy(
  room: Coordination,
  words: readonly string[],
  claimId: string | undefined,
): Pick<ClaimChoice, 'claimId' | 'scopes'> {
  const [word, ...more] = words
  if (word === undefined || claimId !== undefined) return { claimId, scopes: word === undefined ? undefined : words }
  const isId = more.length === 0 && room.store.read((rows) => rows.claim(word)) !== undefined
  return isId ? { claimId: word } : { scopes: words }
}

export const renew: Run<typeof claimRenew> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const renewed = await renewClaims(room, await ledgerActor(context, room, flags.agent), {
      ...chosenBy(room, args.scope, flags.claim),
      cwd: context.cwd,
      epoch: flags.epoch,
      ttlMinutes: flags.ttl,
    })
    const records = renewed.map((claim) => claimRecord(standing(room, claim)))
    return {
      data: records,
      text: records
        .map((record) => `renewed until ${String(record['expires_at'])}: ${String(record['claim_id'])}`)
        .join('\n'),
    }
  })

export const release: Run<typeof claimRelease> = (context, { flags, args }) =>
  withRoom(context, async (room) => {
    const actor = await ledgerActor(context, room, flags.haid ?? flags.agent)
    const released = await releaseClaims(room, actor, {
      ...chosenBy(room, args.scope, flags.claim),
      cwd: context.cwd,
      epoch: flags.epoch,
    })
    const scopes = released.flatMap((claim) => claim.scopes.map(({ raw }) => raw))
    const data = { haid: actor.haid, released: released.map(({ claimId }) => claimId), surfaces: scopes }
    return {
      data,
      text: released.length === 0 ? `no active claim for ${actor.haid}` : `released: ${scopes.join(' ')}`,
      seedJson: data,
    }
  })

export const heartbeat: Run<typeof claimHeartbeat> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const actor = await ledgerActor(context, room, flags.haid)
    const agent = await beat(room, actor)
    const claims = listClaims(room, { holder: agent.haid })
    // Seed 000: a heartbeat without a claim is an error of the caller.
    if (claims.length === 0)
      throw new HeimdallError('RESERVATION_NOT_FOUND', `${agent.haid} holds no claim`, {
        hint: 'heimdall claim take makes one',
      })
    return { data: claims.map(claimRecord), text: `heartbeat: ${agent.haid}, ${claims.length} claim(s) live` }
  })

export const list: Run<typeof claimList> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const found = listClaims(room, flags.task === undefined ? {} : { task: flags.task })
        // Seed 000 lists what is live; a lapsed lease whose owner is silent is not, and `--all` shows it.
        .filter(({ lease, liveness }) => flags.all === true || lease === 'live' || liveness === 'active')
      return listAnswer(context, found)
    },
    () => listAnswer(context, []),
  )

function listAnswer(context: Context, found: readonly Standing[]): Answer {
  const records = found.map(claimRecord)
  const rows = found.map(({ claim, agentId, liveness, expiresAt }) => [
    claim.scopes.map(({ raw }) => raw).join(' '),
    context.isSeedName ? claim.holder : agentId,
    liveness,
    expiresAt,
    claim.task ?? NO_TASK,
  ])
  const table = renderTable(context.style, ['SCOPES', 'HOLDER', 'LIVENESS', 'EXPIRES', 'TASK'], rows)
  const text = context.isSeedName
    ? [`ACTIVE CLAIMS (${records.length})`, ...(rows.length === 0 ? [] : [table])].join('\n')
    : rows.length === 0
      ? 'nothing is claimed'
      : table
  return { data: records, text, seedJson: records }
}

export const show: Run<typeof claimShow> = (context, { flags }) =>
  withRoomToRead(
    context,
    (room) => {
      const haid = haidOf(context, room, flags.haid)
      const records = listClaims(room, { holder: haid }).map(claimRecord)
      return {
        data: records,
        text: records.length === 0 ? `no active claim for ${haid}` : JSON.stringify(records, null, 2),
        seedJson: merged(records),
      }
    },
    () => ({ data: [], text: 'no active claim', seedJson: null }),
  )

/** What is claimed under a name that another session holds is the other's, whoever was started for it as well. */
function askerOf(context: Context, room: Coordination, named: string | undefined): Asker | null {
  if (named === undefined && callerOf(context, room).refused?.error.code === 'IDENTITY_HELD') return null
  return { haid: haidOf(context, room, named), tree: askingHere(context.env).place?.tree }
}

/** Asking about another is no borrowing. */
function haidOf(context: Context, room: Coordination, named: string | undefined): string {
  if (named === undefined) return callerOf(context, room).haid
  return room.store.read((rows) => findAgent(rows, named)?.haid) ?? named
}

/** Seed 000 knows one claim per HAID: several are shown as one with all their surfaces. */
function merged(records: readonly Record<string, unknown>[]): Record<string, unknown> | null {
  const [first] = records
  if (first === undefined) return null
  const surfaces = records.flatMap((record) => record['claimed_surfaces'] as string[])
  return {
    ...first,
    claimed_surfaces: surfaces,
    task_ref: [...new Set(records.map((record) => String(record['task_ref'])))].join(', '),
  }
}

export const reap: Run<typeof claimReap> = (context) =>
  withRoom(context, async (room) => {
    const { reaped, active } = await reapClaims(room)
    return {
      data: { reaped: reaped.map(({ claimId }) => claimId), active },
      text: `reaped ${reaped.length} expired claim(s); ${active} active claim(s) remain`,
    }
  })

function standing(room: Coordination, claim: Claim): Standing {
  const now = room.now()
  return room.store.read((rows) => standingOf(room, rows, claim, now))
}
