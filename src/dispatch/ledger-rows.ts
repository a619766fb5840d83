// What a settled attempt leaves in the token ledger (seed 000): its brief and its result, counted here, and what the worker's runtime says that it spent.
import type { Planning } from '../briefing/planning.ts'
import { logDeclared, noteText } from '../briefing/token-ledger.ts'
import type { Coordination } from '../coordination/coordination.ts'
import { contractIn } from './parking.ts'
import type { TaskResult } from './messages.ts'

/** The role that pays for briefs: the program that sends them. */
const ROLE = 'orchestrator'

export async function logAttempt(
  planning: Planning,
  room: Coordination,
  { taskId, number }: { readonly taskId: string; readonly number: number },
): Promise<void> {
  const { attempt, contract, reservation } = room.store.read((rows) => ({
    attempt: rows.attempts({ taskId }).find((one) => one.number === number),
    contract: contractIn(rows, taskId),
    reservation: rows.tokenReservations(taskId).find(({ attempt }) => attempt === number),
  }))
  const name = `${taskId}#${number}`
  if (contract?.brief !== undefined)
    await noteText(planning, { role: ROLE, kind: 'delta_brief', msgId: `${name}/brief` }, contract.brief)
  if (attempt?.result === undefined || attempt.result === null) return
  await noteText(planning, { role: attempt.workerId, kind: 'task_result', msgId: `${name}/result` }, attempt.result)
  const { tokens_spent: tokens, usage, run_id: runId } = JSON.parse(attempt.result) as TaskResult
  // Where the runtime has not counted, the reservation says what it counts for.
  if (tokens === null || tokens === 0 || reservation?.source === 'unknown') return
  await logDeclared(
    planning,
    { role: attempt.workerId, kind: 'dispatch', msgId: name, runId },
    { tokens, cachedTokens: undefined, tokenizer: usage?.source ?? 'unknown' },
  )
}
