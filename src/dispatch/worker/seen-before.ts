// What a worker has had of a task already: the same attempt again, another brief under its id, or an attempt that was overtaken.
import type { Assignment } from '../../coordination/dispatched.ts'
import type { Reader } from '../../coordination/store.ts'
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { blockedBy } from '../blocked.ts'
import { parseDispatch, type TaskDispatch } from '../messages.ts'
import type { Refusal } from './admission.ts'

interface Asked {
  readonly workerId: string
  readonly contract: TaskDispatch
  readonly from: string
}

const taskOf = ({ dispatch_id: id, task }: TaskDispatch): string => id ?? task.task_id

const ofSender = (rows: Reader, { workerId, contract, from }: Asked): Assignment[] =>
  rows.assignments({ taskId: taskOf(contract), workerId }).filter((one) => one.from === from)

/** The same attempt of the same peer. */
export function sameAttempt(rows: Reader, asked: Asked): Assignment | undefined {
  const { contract } = asked
  const known = ofSender(rows, asked).find((one) => one.attempt === contract.attempt)
  // Whoever is told that another brief was done would take it for its own.
  if (known !== undefined && !isSameBrief(parseDispatch(JSON.parse(known.contract)), contract))
    throw new HeimdallError(
      'DISPATCH_DUPLICATE',
      `attempt ${contract.attempt} of ${printable(taskOf(contract))} is another task`,
      { hint: 'send another brief under another id, or as the next attempt' },
    )
  return known
}

/** Of a large one that lies beside its entry only the beginning is in the contract. */
const isSameBrief = (a: TaskDispatch, b: TaskDispatch): boolean =>
  a.brief === b.brief && a.brief_beside?.sha256 === b.brief_beside?.sha256

/** Messages overtake each other: an attempt that the orchestrator has gone on without is begun by nobody. */
export function superseded(rows: Reader, asked: Asked): Refusal | undefined {
  const later = ofSender(rows, asked).find((one) => one.attempt > asked.contract.attempt)
  if (later === undefined) return undefined
  return { blocked: blockedBy('superseded'), reason: `attempt ${later.attempt} is here already` }
}
