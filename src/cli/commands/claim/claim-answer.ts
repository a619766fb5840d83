// What commands about claims share: what was asked for, and how a grant, a refusal or a list of claims is told.
import { askingHere } from '../../../coordination/who/caller.ts'
import type { ClaimRequest, ClaimResult } from '../../../coordination/claims/claims.ts'
import type { ClaimChoice } from '../../../coordination/claims/held.ts'
import { type Asker, type Conflict, standingNow } from '../../../coordination/claims/conflicts.ts'
import type { Coordination } from '../../../coordination/coordination.ts'
import { findAgent } from '../../../coordination/change.ts'
import { readHaid } from '../../../coordination/who/haid.ts'
import { NO_TASK } from '../../../coordination/protocol.ts'
import { claimRecord, conflictHint, conflictRecord } from '../../../coordination/records.ts'
import type { SetApart } from '../../../coordination/who/tree-identity.ts'
import { EXIT } from '../../../errors.ts'
import type { Answer, Context } from '../../command.ts'
import { callerOf } from '../../coordination-door.ts'

/** Seed 000's exit code for a collision. */
const COLLISION = 3

interface RequestFlags {
  readonly task?: string | undefined
  readonly intent?: string | undefined
  readonly ttl: number
}

export function requestOf(context: Context, scopes: readonly string[], flags: RequestFlags): ClaimRequest {
  return {
    scopes,
    cwd: context.cwd,
    task: flags.task === undefined || flags.task === NO_TASK ? null : flags.task,
    intent: flags.intent,
    ttlMinutes: flags.ttl,
  }
}

export function answer(context: Context, room: Coordination, result: ClaimResult): Answer {
  if (result.setApart !== undefined) context.note(apartLine(result.setApart))
  if (!result.granted) return refusal(context, result.conflicts)
  for (const warning of result.warnings) context.note(`warning: ${warning}`)
  const record = claimRecord(standingNow(room, result.claim))
  const displaced = result.displaced.map(conflictRecord)
  const scopes = result.claim.scopes.map(({ raw }) => raw).join(' ')
  const lines = [
    `${result.renewed ? 'renewed' : 'claimed'}: ${scopes} until ${String(record['expires_at'])} (epoch ${result.claim.epoch})`,
  ]
  for (const { scopes: was, task } of result.replaced)
    lines.push(`released: ${was.map(({ raw }) => raw).join(' ')}, your earlier claim for ${task ?? 'no task'}`)
  for (const { agentId, held } of result.displaced) lines.push(`taken over: ${held} from ${agentId}`)
  for (const path of result.dirty) lines.push(`uncommitted: ${path}`)
  return {
    data: {
      granted: true,
      claim: record,
      renewed: result.renewed,
      released: result.replaced.map(({ claimId, task, scopes: was }) => ({
        claim_id: claimId,
        task,
        scopes: was.map(({ raw }) => raw),
      })),
      displaced,
      dirty_paths: result.dirty,
    },
    text: lines.join('\n'),
    seedJson: record,
  }
}

function apartLine({ agent, from }: SetApart): string {
  return `note: another process tree of ${from.haid} is at work there, so this one is ${agent.haid} (${agent.agentId}) from now on`
}

/** Seed 000 writes collisions on stderr and exits 3; ours are data and exit 5. */
export function refusal(context: Context, conflicts: readonly Conflict[]): Answer {
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

/** `claim list` shows ids, so one of them in a scope's place is what it looks like: a claim, whoever holds it. */
export function chosenBy(
  room: Coordination,
  words: readonly string[],
  claimId: string | undefined,
): Pick<ClaimChoice, 'claimId' | 'scopes'> {
  const [word, ...more] = words
  if (word === undefined || claimId !== undefined) return { claimId, scopes: word === undefined ? undefined : words }
  const isId = more.length === 0 && room.store.read((rows) => rows.claim(word)) !== undefined
  return isId ? { claimId: word } : { scopes: words }
}

/** Asking about another is no borrowing. */
export function haidOf(context: Context, room: Coordination, named: string | undefined): string {
  if (named === undefined) return callerOf(context, room).haid
  return room.store.read((rows) => findAgent(rows, named)?.haid) ?? named
}

/** What is claimed under a name that another session holds is the other's, whoever was started for it as well. */
export function askerOf(context: Context, room: Coordination, named: string | undefined): Asker | null {
  if (named === undefined && callerOf(context, room).refused?.error.code === 'IDENTITY_HELD') return null
  return { haid: haidOf(context, room, named), tree: askingHere(context.env).place?.tree }
}
