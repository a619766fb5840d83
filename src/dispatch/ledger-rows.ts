// What a settled attempt leaves in the token ledger: measured by the worker's runtime, so a number that it vouches for.
import type { Planning } from '../briefing/planning.ts'
import { logDeclared } from '../briefing/token-ledger.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { TaskResult } from './messages.ts'

export async function logAttempt(
  planning: Planning,
  room: Coordination,
  { taskId, number }: { readonly taskId: string; readonly number: number },
): Promise<void> {
  const found = room.store.read((rows) => ({
    attempt: rows.attempts({ taskId }).find((one) => one.number === number),
    reservation: rows.tokenReservations(taskId).find(({ attempt }) => attempt === number),
  }))
  const { attempt, reservation } = found
  // What nobody measured is no row: the reservation says what it counts for.
  if (attempt?.result === undefined || attempt.result === null || reservation?.source === 'unknown') return
  const { tokens_spent: tokens, usage, run_id: runId } = JSON.parse(attempt.result) as TaskResult
  if (tokens === null || tokens === 0) return
  await logDeclared(
    planning,
    { role: attempt.workerId, kind: 'dispatch', msgId: `${taskId}#${number}`, runId },
    { tokens, cachedTokens: undefined, tokenizer: usage?.source ?? 'unknown' },
  )
}
