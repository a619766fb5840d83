// What becomes of a task after an attempt: pure, by the class of what happened and by what was tried before.
import type { Attempt } from '../coordination/dispatched.ts'
import { DISPATCH_ATTEMPTS_MAX, DISPATCH_BACKOFF_MS, DISPATCH_FAILURES_MAX, DISPATCH_RETRY_AFTER_S } from '../limits.ts'
import { type Blocked, DENIED, type TaskResult } from './messages.ts'

/** How an attempt came to its end. */
export type AttemptOutcome =
  | { readonly kind: 'result'; readonly result: TaskResult }
  /** Nothing was sent, or the peer provably did not take it: nothing has happened. */
  | { readonly kind: 'unreached'; readonly why: string }
  /** The worker is gone, and nobody knows how far it got. */
  | { readonly kind: 'lost'; readonly why: string }

export type Next =
  | { readonly to: 'done' | 'partial' | 'failed'; readonly why: string }
  | { readonly to: 'queued'; readonly why: string }
  /** Null: until a worker announces what is missing, or the task that it depends on has ended. */
  | { readonly to: 'parked'; readonly why: string; readonly wakeMs: number | null; readonly dependsOn?: string }
  | { readonly to: 'triage'; readonly why: string }

interface Standing {
  readonly idempotent: boolean
  readonly failures: number
  /** All attempts with this one, in order. */
  readonly attempts: readonly Attempt[]
  readonly nowMs: number
}

/** A failed attempt is sent again by itself only where that can do no harm, and never a third time. */
export function nextStep(outcome: AttemptOutcome, standing: Standing): Next {
  if (outcome.kind === 'unreached') return { to: 'queued', why: outcome.why }
  if (outcome.kind === 'lost') return afterFailure(outcome.why, standing.idempotent, standing, 'triage')
  const { result } = outcome
  switch (result.status) {
    case 'done':
      return { to: 'done', why: 'done' }
    case 'partial':
      return { to: 'partial', why: result.remaining[0] ?? 'partial' }
    case 'error': {
      const summary = result.error?.summary ?? 'error'
      // A human has to allow it where the worker runs.
      if (result.error?.code === DENIED) return { to: 'triage', why: summary }
      const isHarmless = standing.idempotent || result.error?.side_effects === 'none'
      return afterFailure(summary, isHarmless, standing, 'failed')
    }
    case 'blocked':
      return afterBlock(result, standing)
  }
}

function afterFailure(why: string, isHarmless: boolean, { failures }: Standing, otherwise: 'failed' | 'triage'): Next {
  if (failures + 1 >= DISPATCH_FAILURES_MAX) return { to: 'failed', why: `${why} (${failures + 1} attempts failed)` }
  if (isHarmless) return { to: 'queued', why }
  return { to: otherwise, why: `${why}; not sent again by itself, as it may have had side effects` }
}

function afterBlock(result: TaskResult, { attempts, nowMs }: Standing): Next {
  const why = result.blocked_reason ?? 'blocked'
  const block = result.blocked
  if (block === null) return { to: 'triage', why }
  // A worker that is busy, or was not reached, says nothing about the task, however often it is asked.
  const counted = attempts.filter((attempt) => !isUnreached(attempt) && blockOf(attempt)?.class !== 'overload')
  if (counted.length >= DISPATCH_ATTEMPTS_MAX) return { to: 'triage', why: `${why} (${counted.length} attempts)` }
  const here = attempts.at(-1)
  const isRepeated = attempts.slice(0, -1).some((attempt) => isSameBlock(attempt, here))
  switch (block.class) {
    case 'overload':
      return { to: 'queued', why }
    case 'transient':
      return isRepeated ? { to: 'queued', why } : { to: 'parked', why, wakeMs: nowMs + DISPATCH_BACKOFF_MS }
    case 'capability':
    case 'workspace':
      return isRepeated ? { to: 'triage', why: `${why}, again` } : { to: 'queued', why }
    case 'dependency':
      return block.depends_on === null
        ? { to: 'triage', why }
        : { to: 'parked', why, wakeMs: null, dependsOn: block.depends_on }
    case 'needs_input':
    case 'auth':
    case 'policy':
      return { to: 'triage', why }
  }
}

/** Where no worker is left for a queued task: which of its refusals may pass, and when it is looked at again. */
export function withoutWorker(attempts: readonly Attempt[], nowMs: number): Next {
  const last = attempts.at(-1)
  const block = last === undefined ? undefined : blockOf(last)
  if (last !== undefined && isUnreached(last))
    return { to: 'parked', why: `${last.workerId} cannot be reached`, wakeMs: nowMs + DISPATCH_BACKOFF_MS }
  if (block?.class === 'overload')
    return {
      to: 'parked',
      why: 'every worker that could do it is busy',
      wakeMs: nowMs + (block.retry_after_s ?? DISPATCH_RETRY_AFTER_S) * 1_000,
    }
  const said = last === undefined ? undefined : reasonOf(last)
  const because = said === undefined ? '' : `; ${last?.workerId} said: ${said}`
  if (block?.class === 'workspace') return { to: 'triage', why: `no worker has a workspace for it${because}` }
  return { to: 'parked', why: `no worker can do it at present${because}`, wakeMs: null }
}

/**
 * Workers that are left out of the next choice. Who lacks something stays out until it announces itself anew; who was
 * busy or had a passing trouble, only until the task was looked at again.
 */
export function leftOut(
  attempts: readonly Attempt[],
  isSameInstance: (attempt: Attempt) => boolean,
  isWaking: boolean,
): string[] {
  return attempts.flatMap((attempt, index) => {
    const isLast = index === attempts.length - 1
    if (isUnreached(attempt)) return isLast && !isWaking ? [attempt.workerId] : []
    const block = blockOf(attempt)
    if (block === undefined) return []
    if (block.class === 'capability' || block.class === 'workspace')
      return isSameInstance(attempt) ? [attempt.workerId] : []
    if (isWaking || !isLast) return []
    const isFirstTrouble =
      block.class === 'transient' && !attempts.slice(0, -1).some((one) => isSameBlock(one, attempt))
    return isFirstTrouble ? [] : [attempt.workerId]
  })
}

export function blockOf({ state, result }: Attempt): Blocked | undefined {
  if (state !== 'blocked' || result === null) return undefined
  return (JSON.parse(result) as TaskResult).blocked ?? undefined
}

const reasonOf = ({ result }: Attempt): string | undefined =>
  result === null ? undefined : ((JSON.parse(result) as TaskResult).blocked_reason ?? undefined)

/** Nothing was sent, or nothing was taken: it is over without a result. */
const isUnreached = ({ state, result }: Attempt): boolean => state === 'canceled' && result === null

function isSameBlock(one: Attempt, other: Attempt | undefined): boolean {
  if (other?.workerId !== one.workerId || other.instanceId !== one.instanceId) return false
  const [a, b] = [blockOf(one), blockOf(other)]
  return a !== undefined && b?.code === a.code && b.missing.join() === a.missing.join()
}
