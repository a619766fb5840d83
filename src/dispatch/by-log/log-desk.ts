// A worker's part in a fleet: takes attempts that stand in the log for it, and ends what the log says is to be ended. Nothing listens.
import type { Coordination } from '../../coordination/coordination.ts'
import type { Attempt } from '../../coordination/dispatched.ts'
import type { Reader } from '../../coordination/store.ts'
import { readHaid } from '../../coordination/who/haid.ts'
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { WORKER_TTL_S } from '../../limits.ts'
import { contractFor } from '../attempts.ts'
import { layBeside } from './large-briefs.ts'
import type { Announce } from '../messages.ts'
import { isDispatched, readReason } from '../parking.ts'
import { refuseAnswer } from '../questions.ts'
import type { WorkerDesk } from '../worker/worker-desk.ts'
import { endInstance, takeAnnounce } from '../workers.ts'

export interface LogDeskOptions {
  readonly room: Coordination
  readonly workerId: string
  readonly instanceId: string
  readonly desk: WorkerDesk
  readonly note: (line: string) => void
}

/** Who has sent what comes by the log: whoever of the fleet orchestrates at the time. */
export const FLEET_ORCHESTRATOR = 'fleet'

export class LogDesk {
  readonly #options: LogDeskOptions
  readonly #ending = new Set<string>()
  /** Another machine has the name: what stands in the log for it is that one's. */
  #isReplaced = false
  #hasEntered = false

  constructor(options: LogDeskOptions) {
    this.#options = options
  }

  /**
   * Refuses a name that a worker on another machine has and lives by. An engine that is away is no refusal: whoever has
   * the name by then, the next announce says.
   */
  async enter(announce: Announce): Promise<void> {
    const { room, workerId, note } = this.#options
    try {
      // Whether the other lives, its last sign says.
      await room.store.catchUp()
      await this.announce(announce)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      note(`announce: ${error.message}`)
    }
    this.#hasEntered = true
    if (!this.#isReplaced) return
    const machine = room.store.read((rows) => machineOf(rows, workerId))
    throw new HeimdallError('WORKER_RUNNING', `worker ${workerId} is already running on ${printable(machine)}`, {
      hint: `use another --name, or stop that one; the name of a dead worker is free after ${WORKER_TTL_S} seconds`,
    })
  }

  /** After its last announce. Whoever does not hear it hears it by the end of the lease. */
  async leave(): Promise<void> {
    const { room, workerId, instanceId, note } = this.#options
    try {
      await endInstance(room, workerId, instanceId)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      note(`announce: ${error.message}`)
    }
  }

  /** The row that all machines route by. No address: there is none to be reached at. When servers were asked last would be an entry each time. */
  async announce(announce: Announce): Promise<readonly string[]> {
    const { room, workerId, note } = this.#options
    const { url: _, ...lasting } = announce
    const from = { name: workerId, url: null, speaks: 'extension', isByLog: true } as const
    const { taken, isElsewhere, why, cancel } = await takeAnnounce(room, from, { ...lasting, mcp_checked: {} })
    if (isElsewhere && !this.#isReplaced && this.#hasEntered)
      note(`${workerId} takes no tasks from the fleet: ${why ?? ''}`)
    if (taken || isElsewhere) this.#isReplaced = isElsewhere
    return cancel
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { room } = this.#options
    const from = room.store.read((rows) => rows.head())
    await this.#look()
    for await (const { puts } of room.store.follow(from, signal))
      if (puts.some(({ table }) => table === 'attempts' || table === 'tasks')) await this.#look()
  }

  async #look(): Promise<void> {
    const { room, workerId, desk, note } = this.#options
    const { sent, unwanted, answers } = room.store.read((rows) => ({
      answers: answersIn(rows, workerId),
      sent: rows.attempts({ open: true }).filter((one) => one.workerId === workerId && one.state === 'sent'),
      unwanted: rows
        .assignments({ workerId, open: true })
        .filter(({ taskId, attempt, from }) => from === FLEET_ORCHESTRATOR && !isWanted(rows, taskId, attempt)),
    }))
    // What could not be done now is tried with the next entry: an engine that was away has others.
    const tried = async (taskId: string, act: () => Promise<void>): Promise<void> => {
      try {
        await act()
      } catch (error) {
        if (!(error instanceof HeimdallError)) throw error
        note(`task ${taskId}: ${error.message}`)
      }
    }
    for (const attempt of this.#isReplaced ? [] : sent) await tried(attempt.taskId, () => this.#take(attempt))
    for (const { assignmentId, key, answer } of answers)
      await tried(key.taskId, () => this.#answer(assignmentId, key, answer))
    for (const { assignmentId } of unwanted) {
      if (this.#ending.has(assignmentId)) continue
      this.#ending.add(assignmentId)
      void desk.cancel(assignmentId, 'it is to be ended').catch((error: unknown) => note(String(error)))
    }
  }

  async #answer(
    assignmentId: string,
    key: { readonly taskId: string; readonly number: number },
    answer: { readonly text: string; readonly id: string },
  ): Promise<void> {
    const { room, desk } = this.#options
    const given = await desk.answer(assignmentId, answer)
    if ('why' in given) await refuseAnswer(room, key, given.why)
  }

  async #take({ taskId, number }: Attempt): Promise<void> {
    const { room, desk } = this.#options
    const contract = room.store.read((rows) => contractFor(rows, { taskId, number }))
    await desk.take({
      // One that came into the fleet with all of its brief: an assignment puts it three times more.
      contract: await layBeside(room, contract),
      from: FLEET_ORCHESTRATOR,
      contextId: taskId,
      // Decided at the head: an attempt that was given up meanwhile is begun by nobody.
      isOpen: (rows) => rows.attempts({ taskId }).some((one) => one.number === number && one.state === 'sent'),
    })
  }
}

/** Where its latest instance was begun. */
function machineOf(rows: Reader, workerId: string): string {
  const told = rows.events({ types: ['WORKER'], agent: workerId, last: 16 })
  // That it is gone somebody else has said.
  const begun = told.findLast(({ payload }) => payload['state'] !== 'gone')
  return readHaid(begun?.origin ?? '')?.machine ?? 'another machine'
}

/** Of tasks that ask, what a person has said to it. */
const answersIn = (
  rows: Reader,
  workerId: string,
): {
  readonly assignmentId: string
  readonly key: { readonly taskId: string; readonly number: number }
  readonly answer: { readonly text: string; readonly id: string }
}[] =>
  rows.assignments({ workerId, open: true }).flatMap(({ assignmentId, taskId, attempt, from, asks }) => {
    const task = rows.task(taskId)
    const answer = isDispatched(task) && task.dispatch.attempts === attempt ? readReason(task)?.answer : undefined
    if (from !== FLEET_ORCHESTRATOR || asks === null || answer === undefined) return []
    return [{ assignmentId, key: { taskId, number: attempt }, answer }]
  })

/** Neither cancelled nor gone on without. */
function isWanted(rows: Reader, taskId: string, number: number): boolean {
  const task = rows.task(taskId)
  if (!isDispatched(task) || readReason(task)?.cancel !== undefined) return false
  const attempt = rows.attempts({ taskId }).find((one) => one.number === number)
  return attempt === undefined || attempt.state === 'sent' || attempt.state === 'accepted'
}
