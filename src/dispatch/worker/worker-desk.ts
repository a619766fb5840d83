// A worker's desk: what it has taken on, and nothing twice. Each assignment is a row of the store from its acceptance to its end.
import { pause } from '../../clock.ts'
import { changeAsOther } from '../../coordination/change.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import type { Assignment, AssignmentState, TaskQuestion } from '../../coordination/dispatched.ts'
import { HeimdallError } from '../../errors.ts'
import { MCP_ANNOUNCE_KEPT_MS, MCP_PROBE_KEPT_MS } from '../../limits.ts'
import { blockedBy } from '../blocked.ts'
import { type Announce, parseDispatch, resultOf, type TaskDispatch, type TaskResult } from '../messages.ts'
import { redacted } from '../redacted.ts'
import { type Checks, checksOf, type Refusal, refusalOf } from './admission.ts'
import { about, type OfferedTask, blockedResult, newAssignment, notBegun } from './assignment.ts'
import { byOwnClock } from './clock-skew.ts'
import { type Answered, Questions } from './questions.ts'
import { STOPPED, type StoppedFor } from './run-result.ts'
import { sameAttempt, superseded } from './seen-before.ts'
import { untilWritten } from './until-written.ts'

export interface Execution {
  /** Begins it; resolves with its run once the command runs. */
  start(assignment: Assignment, contract: TaskDispatch): Promise<{ readonly runId: string } | Refusal>
  /** Resolves with what came of it, also for one that an earlier process of this worker had begun. */
  ended(
    assignment: Assignment,
    contract: TaskDispatch,
    onAsks: (asks: TaskQuestion | undefined) => Promise<void>,
  ): Promise<TaskResult>
  /** Types it where the question was asked; false where nobody is there to read it. */
  answer?(assignment: Assignment, text: string): Promise<boolean>
  /** Ends all of its processes; `ended` says when that is done. */
  stop(assignment: Assignment, why: StoppedFor): Promise<void>
  /** Ends what an earlier process had begun without being able to say so; false where it had provably not begun. */
  endLeft?(assignment: Assignment): Promise<boolean>
  /** After its end: takes away what nobody needs any more. */
  tidy?(assignment: Assignment): Promise<void>
  /** The same for all that ended before this process began. */
  tidyAll?(ended: readonly Assignment[]): Promise<void>
}

export interface DeskOptions {
  readonly room: Coordination
  readonly workerId: string
  readonly instanceId: string
  readonly maxConcurrent: number
  readonly execution: Execution
  /** What the worker is; of the needed servers, or all, those that were asked longer ago than this are asked again. */
  readonly profile: (keptMs: number, needed?: readonly string[]) => Promise<Omit<Announce, 'state' | 'seq' | 'running'>>
  readonly newId: () => string
  readonly note: (line: string) => void
}

const SYSTEM = { kind: 'system' } as const

export class WorkerDesk {
  readonly #options: DeskOptions
  readonly #running = new Map<string, Promise<void>>()
  #isDraining = false
  #seq = 0
  /** What each open assignment was admitted by. */
  readonly #checks = new Map<string, Checks>()
  /** Who has had an announce with a reply of this instance. */
  readonly #introduced = new Set<string>()
  #said: Announce | undefined
  readonly #questions: Questions
  /** Open ones that are to be ended: what has not begun by then does not begin. */
  readonly #canceled = new Map<string, StoppedFor>()
  /** On their way to being one that runs. */
  readonly #taking = new Set<Promise<unknown>>()
  readonly #over = new AbortController()

  constructor(options: DeskOptions) {
    this.#options = options
    this.#questions = new Questions(options.room, (assignment, text) =>
      options.execution.answer === undefined ? Promise.resolve(false) : options.execution.answer(assignment, text),
    )
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** From now on it takes nothing more; what it has goes on. */
  drain(): void {
    this.#isDraining = true
  }

  /** Assignments that an earlier process of this worker has left. */
  recover(): void {
    const ended = this.assignments().filter(({ endedMs }) => endedMs !== null)
    if (this.#options.execution.tidyAll !== undefined)
      this.#inBackground('what is left', this.#options.execution.tidyAll(ended))
    for (const assignment of this.open()) {
      if (assignment.state === 'running') this.#carry(assignment)
      else this.#inBackground(assignment.assignmentId, this.#endHalfBegun(assignment))
    }
  }

  /** Killed between the acceptance and the word that it runs: whether something runs is seen only from outside. */
  async #endHalfBegun(assignment: Assignment): Promise<void> {
    const isBegun = (await this.#options.execution.endLeft?.(assignment)) === true
    const summary = isBegun
      ? 'the worker was killed while it began, and whatever ran was ended'
      : 'the worker was restarted before it began'
    const result = notBegun(assignment, { summary, code: 'restarted' })
    await this.#end(
      assignment,
      isBegun
        ? {
            ...result,
            tokens_spent: null,
            usage: { source: 'unknown' },
            error: { summary, code: 'restarted', phase: 'run', side_effects: 'possible' },
          }
        : result,
    )
  }

  async announce(keptMs = MCP_ANNOUNCE_KEPT_MS): Promise<Announce> {
    return this.#announceWith(await this.#options.profile(keptMs), this.open())
  }

  #announceWith(profile: Awaited<ReturnType<DeskOptions['profile']>>, open: readonly Assignment[]): Announce {
    this.#seq += 1
    return {
      ...profile,
      session: { ...profile.session, active_tasks: open.length },
      seq: this.#seq,
      state: this.#isDraining ? 'draining' : open.length >= this.#options.maxConcurrent ? 'busy' : 'ready',
      running: open.map((one) => ({
        dispatch_id: one.taskId,
        attempt: one.attempt,
        a2a_task_id: one.assignmentId,
        since: new Date(one.acceptedMs).toISOString(),
      })),
    }
  }

  /** The same attempt of the same peer again is the one that is there. */
  async take(asked: OfferedTask): Promise<Assignment> {
    const taking = this.#taken(asked)
    this.#taking.add(taking)
    try {
      return await taking
    } finally {
      this.#taking.delete(taking)
    }
  }

  async #taken(asked: OfferedTask): Promise<Assignment> {
    const { room, workerId } = this.#options
    const seen = { ...asked, workerId }
    const known = room.store.read((rows) => sameAttempt(rows, seen))
    if (known !== undefined) return known
    const contract = byOwnClock(asked.contract, room.clock.wallMs())
    // What is open is asked for behind the probe, which may have taken long.
    const { required_mcp: needed } = contract.requirements
    const announce = this.#announceWith(await this.#options.profile(MCP_PROBE_KEPT_MS, needed), this.open())
    this.#said = announce
    const refusal = refusalOf(contract, announce, room.clock.wallMs())
    const { assignment, isNew } = await changeAsOther(room, SYSTEM, ({ rows, now }) => {
      const there = sameAttempt(rows, seen)
      if (there !== undefined) return { assignment: there, isNew: false }
      if (asked.isOpen?.(rows) === false)
        throw new HeimdallError('TASK_NOT_FOUND', 'the attempt was given up before it was taken')
      const why = superseded(rows, seen) ?? refusal ?? this.#overload(rows.assignments({ workerId, open: true }).length)
      const made = newAssignment({ ...asked, contract }, this.#options, now.wallMs)
      const put: Assignment =
        why === undefined
          ? made
          : {
              ...made,
              state: 'blocked',
              endedMs: now.wallMs,
              result: JSON.stringify(redacted(blockedResult(made, why))),
            }
      rows.putAssignment(put)
      return { assignment: put, isNew: why === undefined }
    })
    if (isNew) {
      this.#checks.set(assignment.assignmentId, checksOf(contract, announce))
      this.#carry(assignment)
    }
    return assignment
  }

  /** What an assignment was admitted by, for as long as it is open. */
  checksOf(assignmentId: string): Checks | undefined {
    return this.#checks.get(assignmentId)
  }

  /** Phase 2 of the seed: the first reply of this instance to a peer says what the worker is. */
  introduction(to: string): Announce | undefined {
    if (this.#said === undefined || this.#introduced.has(to)) return undefined
    this.#introduced.add(to)
    return this.#said
  }

  assignment(assignmentId: string): Assignment | undefined {
    const { room, workerId } = this.#options
    const found = room.store.read((rows) => rows.assignment(assignmentId))
    return found?.workerId === workerId ? found : undefined
  }

  assignments(): Assignment[] {
    const { room, workerId } = this.#options
    return room.store.read((rows) => rows.assignments({ workerId }))
  }

  /** Each state that it comes to, to its end. */
  async *follow(assignmentId: string): AsyncGenerator<Assignment, void, undefined> {
    const { room } = this.#options
    const enough = new AbortController()
    try {
      const from = room.store.read((rows) => rows.head())
      const now = this.#must(assignmentId)
      yield now
      if (now.endedMs !== null) return
      for await (const { puts } of room.store.follow(from, enough.signal)) {
        if (
          !puts.some((put) => put.table === 'assignments' && 'row' in put && put.row['assignment_id'] === assignmentId)
        )
          continue
        const next = this.#must(assignmentId)
        yield next
        if (next.endedMs !== null) return
      }
    } finally {
      enough.abort()
    }
  }

  async ended(assignmentId: string): Promise<Assignment> {
    for await (const now of this.follow(assignmentId)) if (now.endedMs !== null) return now
    return this.#must(assignmentId)
  }

  /** Ended, or waiting for a person. */
  async rested(assignmentId: string): Promise<Assignment> {
    for await (const now of this.follow(assignmentId)) if (now.endedMs !== null || now.asks !== null) return now
    return this.#must(assignmentId)
  }

  /** A person's word, from wherever the task came. */
  answer(assignmentId: string, answer: { readonly id: string; readonly text: string }): Promise<Answered> {
    return this.#questions.answer(this.#must(assignmentId), answer)
  }

  /** Resolves when it has ended, one way or the other: a completion that was quicker stays one. */
  async cancel(assignmentId: string, why: string): Promise<Assignment> {
    const assignment = this.#must(assignmentId)
    if (assignment.endedMs !== null) return assignment
    await this.#stop(assignment, 'canceled', why)
    return await this.ended(assignmentId)
  }

  /** Ends all that it has, and leaves; `settled` says when that is done. */
  async stop(): Promise<void> {
    this.leave()
    const why = 'ended, for its worker is stopped'
    await Promise.all(this.open().map((assignment) => this.#stop(assignment, 'worker_stopped', why)))
  }

  async #stop(assignment: Assignment, as: StoppedFor, why: string): Promise<void> {
    this.#options.note(`${assignment.taskId}: ${why}`)
    this.#canceled.set(assignment.assignmentId, as)
    await this.#options.execution.stop(assignment, as)
  }

  /** Takes nothing more; what cannot be written down now is not waited for, and whoever comes next finds it. */
  leave(): void {
    this.drain()
    this.#over.abort()
  }

  /** All that it has taken, to its end and to the last trace of it. */
  async settled(): Promise<void> {
    while (this.#taking.size + this.#running.size > 0) {
      // Who sent one hears of it if it could not be taken.
      await Promise.allSettled(this.#taking)
      await Promise.all(this.#running.values())
    }
  }

  open(): Assignment[] {
    const { room, workerId } = this.#options
    return room.store.read((rows) => rows.assignments({ workerId, open: true }))
  }

  #overload(open: number): Refusal | undefined {
    if (this.#isDraining) return { blocked: blockedBy('draining'), reason: 'it takes no more tasks' }
    const { maxConcurrent } = this.#options
    if (open < maxConcurrent) return undefined
    return { blocked: blockedBy('max_concurrent', [], 2), reason: `${open} of ${maxConcurrent} tasks run` }
  }

  #must(assignmentId: string): Assignment {
    const found = this.assignment(assignmentId)
    if (found === undefined) throw new HeimdallError('TASK_NOT_FOUND', `no assignment ${assignmentId}`)
    return found
  }

  #carry(assignment: Assignment): void {
    this.#inBackground(assignment.assignmentId, this.#execute(assignment))
  }

  #inBackground(id: string, work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => {
        if (!(error instanceof HeimdallError)) throw error
        this.#options.note(`task ${id}: ${error.message}`)
      })
      .finally(() => this.#running.delete(id))
    this.#running.set(id, done)
  }

  async #execute(assignment: Assignment): Promise<void> {
    const { execution, room } = this.#options
    // The acceptance goes out first: a start keeps this process busy for a while.
    await pause(room.clock, 0)
    const contract = parseDispatch(JSON.parse(assignment.contract))
    let running = assignment
    try {
      const unwanted = this.#canceled.get(assignment.assignmentId)
      if (assignment.state === 'accepted' && unwanted !== undefined)
        return void (await this.#end(assignment, notBegun(assignment, STOPPED[unwanted])))
      if (assignment.state === 'accepted') {
        const started = await execution.start(assignment, contract)
        if ('blocked' in started) return void (await this.#end(assignment, blockedResult(assignment, started)))
        running = await this.#put({ ...assignment, state: 'running', runId: started.runId })
      }
      const result = await this.#withServers(
        contract,
        await execution.ended(running, contract, (asks) =>
          this.#once(running, () => this.#questions.ask(running.assignmentId, asks)),
        ),
      )
      await this.#end(running, { ...result, ...about(running) })
      await execution.tidy?.(running)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      await this.#end(running, {
        ...about(running),
        status: 'error',
        tokens_spent: running.state === 'accepted' ? 0 : null,
        usage: { source: running.state === 'accepted' ? 'runtime' : 'unknown' },
        error: {
          summary: error.message,
          code: error.code,
          phase: running.state === 'accepted' ? 'start' : 'run',
          side_effects: running.state === 'accepted' ? 'none' : 'possible',
        },
      })
    }
  }

  /** What failed while a server that it needs is gone has most likely failed for that. */
  async #withServers({ requirements }: TaskDispatch, result: TaskResult): Promise<TaskResult> {
    if (result.status !== 'error' || result.error === null || requirements.required_mcp.length === 0) return result
    const { mcp_health: health } = await this.#options.profile(0, requirements.required_mcp)
    const gone = requirements.required_mcp.filter((name) => health[name] !== 'ok')
    if (gone.length === 0) return result
    const summary = `${result.error.summary}; required MCP servers that no longer answer: ${gone.join(', ')}`
    return { ...result, error: { ...result.error, summary, code: 'mcp_unavailable', phase: 'run' } }
  }

  async #end(assignment: Assignment, result: Parameters<typeof resultOf>[0]): Promise<Assignment> {
    const whole = redacted(resultOf(result))
    this.#checks.delete(assignment.assignmentId)
    this.#canceled.delete(assignment.assignmentId)
    this.#questions.forget(assignment.assignmentId)
    const isCanceled = whole.error?.code === 'canceled'
    const state: AssignmentState = isCanceled ? 'canceled' : whole.status
    return await this.#put({
      ...assignment,
      state,
      asks: null,
      result: JSON.stringify(whole),
      endedMs: this.#options.room.clock.wallMs(),
    })
  }

  /** An end is the last word: whoever comes after it changes nothing. */
  async #put(assignment: Assignment): Promise<Assignment> {
    return this.#once(assignment, () =>
      changeAsOther(this.#options.room, SYSTEM, ({ rows }) => {
        const known = rows.assignment(assignment.assignmentId)
        if (known !== undefined && known.endedMs !== null) return known
        rows.putAssignment(assignment)
        return assignment
      }),
    )
  }

  #once<T>({ taskId }: Assignment, write: () => Promise<T>): Promise<T> {
    return untilWritten({ ...this.#options, taskId, signal: this.#over.signal }, write)
  }
}
