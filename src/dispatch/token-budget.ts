// The budget of a task: every attempt draws on the same one. What is out is reserved, what is over is settled.
import type { Reader, Writer } from '../coordination/store.ts'
import type { TaskResult } from './messages.ts'
import type { DispatchedTask } from './parking.ts'

/** Tokens that are left; null where the task has no budget. */
export function remaining(rows: Reader, { taskId, dispatch }: DispatchedTask): number | null {
  if (dispatch.tokenBudget === null) return null
  const taken = rows.tokenReservations(taskId).reduce((sum, { reserved, settled }) => sum + (settled ?? reserved), 0)
  return dispatch.tokenBudget - taken
}

/** An end that nobody measured takes all that was reserved: a budget is never stretched by silence. */
export function settle(
  rows: Writer,
  { taskId, number }: { readonly taskId: string; readonly number: number },
  result: TaskResult | 'unknown' | 'nothing',
): void {
  const reservation = rows.tokenReservations(taskId).find(({ attempt }) => attempt === number)
  if (reservation === undefined) return
  const spent = result === 'nothing' ? 0 : result === 'unknown' ? null : result.tokens_spent
  const source =
    result === 'nothing' ? 'runtime' : result === 'unknown' ? 'unknown' : (result.usage?.source ?? 'unknown')
  rows.putTokenReservation({
    ...reservation,
    settled: spent ?? reservation.reserved,
    source: spent === null ? 'unknown' : source,
  })
}
