// Keeping a run from its start to its end: beats, waits, orders, and at the end everything released and closed. Done by the keeper's process; and, for a run that has lost its own, by the next command that looks.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { GIT_AT_END_MS, RUN_ORPHAN_GRACE_MS, STATUS_ANSWER_MS } from '../limits.ts'
import type { NotifySetting } from '../notify-setting.ts'
import type { Env } from '../paths.ts'
import { type KeptRecord, keepOwnedRun } from '../runs/kept-record.ts'
import { type RunStatus, undoOpening } from '../runs/owned-run.ts'
import { redacted } from '../runs/redacted.ts'
import { booksOf } from '../runs/run-facts.ts'
import { followOrders } from '../runs/run-orders.ts'
import { askToEnd } from '../sessions/ask-end.ts'
import { askInfo } from '../sessions/ask-info.ts'
import { type ExitRecord, keepSession, type StateEvent } from '../sessions/keeper.ts'
import { readStat } from '../processes.ts'
import { bookedUsage } from '../runs/run-cost.ts'
import { CostWatch } from './costs/cost-watch.ts'
import { heardSessions } from './costs/run-transcripts.ts'
import { BUDGET, BUDGET_SOURCE } from './fleet/wait-kind.ts'
import { Heartbeat } from './heartbeat.ts'
import { KeptAgent } from './kept-agent.ts'
import { type KeepingLock, takeKeeping } from './keeping-lock.ts'
import { type KeptRun, ownedRun, readSheet, removeSheet, runsDirOfSheet, writeSheet } from './kept-run.ts'
import { openRuns } from './open-runs.ts'
import { Notifier } from './notify.ts'
import { type Pulse, RunPulse } from './pulse.ts'
import { treeGone, treeOf } from './run-tree.ts'
import { saidByPerson, saidBySession } from './wait-answers.ts'
import { type WaitAnswered, Waits } from './waits.ts'
import { changesSince } from './worktree-state.ts'

export interface KeepWith {
  readonly env: Env
  readonly clock: Clock
  /** For the record of what was ended: processes that a killed supervisor has left. */
  readonly by: string
  readonly note: (line: string) => void
}

/** `elsewhere`: another keeps it. `open`: something of the end could not be done, and whoever comes next does it. */
export type Kept = 'closed' | 'open' | 'elsewhere'

/** Resolves when the run is over. */
export async function keepRun(sheet: string, how: KeepWith): Promise<Kept> {
  const lock = takeKeeping(sheet)
  if (lock === undefined) return 'elsewhere'
  try {
    const run = readSheet(sheet)
    if (run === undefined) {
      lock.remove()
      return 'closed'
    }
    return await new Keeper(sheet, run, lock, how).keep()
  } finally {
    lock.release()
  }
}

class Keeper {
  readonly #sheet: string
  readonly #lock: KeepingLock
  readonly #how: KeepWith
  readonly #runDir: string
  #run: KeptRun
  readonly #agent: KeptAgent
  #isTerminated = false
  readonly #notifier: Notifier

  constructor(sheet: string, run: KeptRun, lock: KeepingLock, how: KeepWith) {
    this.#sheet = sheet
    this.#run = run
    this.#lock = lock
    this.#how = how
    this.#runDir = join(runsDirOfSheet(sheet), run.folder)
    const { env, clock, note } = how
    const setting = async (): Promise<NotifySetting> => {
      // The person's own file alone; a project has no word in it.
      const { loadConfig } = await import('../config.ts')
      return (await loadConfig({ cwd: undefined, env })).notify.value as NotifySetting
    }
    this.#agent = new KeptAgent(() => this.#run, how)
    this.#notifier = new Notifier({ run, setting, env, clock, note })
  }

  async keep(): Promise<Kept> {
    const { clock, note, by } = this.#how
    const record = await this.#record()
    const waits = record === undefined ? undefined : this.#waits(record)
    const costs = record === undefined ? undefined : this.#costs(record)
    const pulse = record === undefined ? undefined : this.#pulse(waits)
    const orders = record === undefined ? null : followOrders(this.#runDir, () => this.#terminate(), note)
    const heart = new Heartbeat({
      clock,
      beat: () => this.#agent.beat(),
      isWaiting: () => waits?.isOpen === true,
      calls: () => pulse?.calls ?? 0,
    })
    try {
      await this.#agent.bind()
      const { dir, id, supervisor } = this.#run.session
      let ending: ExitRecord | undefined
      await keepSession(
        { dir, id, supervisorPid: supervisor.pid, endsOrphansAs: by, orphanGraceMs: RUN_ORPHAN_GRACE_MS },
        {
          onActivity: () => {
            pulse?.happened()
            heart.happened()
            costs?.happened()
          },
          onState: (state) => {
            this.#look(state, waits)
            pulse?.state(state)
          },
          onEnd: (exit) => {
            ending = exit
          },
        },
        clock,
      )
      pulse?.stop()
      this.#notifier.stop()
      await heart.stop()
      return await this.#close(ending, record, waits, costs)
    } finally {
      orders?.close()
      costs?.stop()
      pulse?.stop()
      await heart.stop()
      await this.#agent.close()
    }
  }

  /** Nothing of a run that has its end, was removed by hand, or never came to its beginning. */
  async #record(): Promise<KeptRecord | undefined> {
    if (!existsSync(this.#runDir)) return undefined
    const { clock, note } = this.#how
    const run = ownedRun(runsDirOfSheet(this.#sheet), this.#run)
    const record = await keepOwnedRun(run, clock, note)
    if (record === undefined && booksOf(this.#runDir).segment === 0) undoOpening(run)
    return record
  }

  #waits(record: KeptRecord): Waits {
    const { clock } = this.#how
    return new Waits(record, this.#run, clock, (booked) => {
      this.#note(booked)
      this.#notifier.look(booked.wait)
    })
  }

  #costs(record: KeptRecord): CostWatch {
    const { env, clock, note } = this.#how
    return new CostWatch({
      run: this.#run,
      booked: bookedUsage(this.#runDir),
      book: (usage) => record.modelUsage(usage),
      onChange: (cost, hostSessions) => this.#note({ cost, hostSessions }),
      heard: () => (this.#agent.child === undefined ? [] : heardSessions(this.#run.project, this.#agent.child)),
      others: () =>
        openRuns(runsDirOfSheet(this.#sheet)).flatMap(({ run, isLost }) =>
          isLost || run.folder === this.#run.folder ? [] : [run],
        ),
      isMember: (pid) =>
        readStat(pid) === undefined
          ? undefined
          : treeOf(this.#run)
              ?.members()
              .some((one) => one.pid === pid) === true,
      env,
      clock,
      note,
    })
  }

  #pulse(waits: Waits | undefined): RunPulse {
    const { clock } = this.#how
    const booked = this.#run.pulse ?? null
    return new RunPulse({
      clock,
      runDir: this.#runDir,
      booked,
      lastLine: () => this.#lastLine(),
      onChange: (pulse) => {
        this.#note({ pulse })
        this.#lookAtBudget(pulse, waits)
      },
    })
  }

  /** The sheet is a file, and what a program prints may be a secret. */
  async #lastLine(): Promise<string | undefined> {
    const { dir, id } = this.#run.session
    try {
      const line = (await askInfo(dir, id, STATUS_ANSWER_MS))?.last_line
      return line === undefined ? undefined : await redacted(line)
    } catch (error) {
      this.#how.note(`the screen cannot be seen: ${String(error)}`)
      return undefined
    }
  }

  /** What others read of this run while it goes on. A sheet that cannot be written is behind, and the record has it all. */
  #note(more: Partial<KeptRun>): void {
    this.#run = { ...this.#run, ...more }
    try {
      writeSheet(this.#sheet, this.#run)
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      this.#how.note(error.message)
    }
  }

  #look({ id, needs_input: needs }: StateEvent, waits: Waits | undefined): void {
    if (id !== undefined && id !== this.#run.session.id) this.#note({ session: { ...this.#run.session, id } })
    if (needs.value) waits?.begin({ source: needs.source, evidence: needs.evidence })
    else if (waits?.open?.source !== BUDGET_SOURCE) this.#ended(waits, saidBySession(needs))
  }

  /** A person's word of a question counts before what the session says of it, and is read from where it was given. */
  #ended(waits: Waits | undefined, otherwise: WaitAnswered): void {
    const wait = waits?.open ?? null
    if (wait !== null) waits?.end(saidByPerson(this.#runDir, wait) ?? otherwise)
  }

  /** A budget that refuses is a wait for a person, although nobody asks: what the session says goes before it. */
  #lookAtBudget({ budget }: Pulse, waits: Waits | undefined): void {
    if (waits === undefined) return
    const isOpen = waits.open?.source === BUDGET_SOURCE
    if (budget === null) {
      if (isOpen) waits.end({ answer: 'a call was allowed again', by: null })
    } else if (!waits.isOpen)
      waits.begin({ source: BUDGET_SOURCE, evidence: `${BUDGET}${budget.summary}`, since: budget.since })
  }

  /** A shim has ended the run: everything of it ends, the program too that might call again. */
  #terminate(): void {
    if (this.#isTerminated) return
    this.#isTerminated = true
    const { dir, id } = this.#run.session
    askToEnd(dir, id).catch((error: unknown) => this.#how.note(`the session cannot be ended: ${String(error)}`))
  }

  async #close(
    exit: ExitRecord | undefined,
    record: KeptRecord | undefined,
    waits: Waits | undefined,
    costs: CostWatch | undefined,
  ): Promise<Kept> {
    const { clock } = this.#how
    await treeGone(this.#run, clock)
    this.#ended(waits, { answer: 'the session ended', by: null })
    costs?.settle()
    await this.#recordEnd(exit, record)
    const status = this.#statusOf(exit)
    const isReleased = await this.#agent.release({ status, exit_code: exit?.exit_code ?? null })
    const isClosed = record === undefined || (await record.close(status))
    if (!isReleased || !isClosed) return 'open'
    removeSheet(this.#sheet)
    this.#lock.remove()
    // Whoever waits for the end of the run has it by now; the files for people may take their time.
    await this.#agent.publish()
    await pause(clock, 0)
    return 'closed'
  }

  async #recordEnd(exit: ExitRecord | undefined, record: KeptRecord | undefined): Promise<void> {
    const { env } = this.#how
    const { worktree, project, waits } = this.#run
    if (record === undefined) return
    const changes = worktree === null ? undefined : await changesSince(project, env, worktree, GIT_AT_END_MS)
    if (changes !== undefined) record.filesChanged(changes)
    record.sessionEnd({
      exit_code: exit?.exit_code ?? null,
      signal: exit?.signal ?? null,
      reason: exit?.reason ?? 'unknown',
      ended_by: exit?.ended_by ?? null,
      waits: waits.count,
      waited_ms: waits.ms,
    })
  }

  #statusOf(exit: ExitRecord | undefined): RunStatus {
    if (this.#isTerminated) return 'TERMINATED'
    if (exit?.reason === 'kill') return 'CANCELLED'
    return exit?.reason === 'exit' && exit.exit_code === 0 ? 'SUCCEEDED' : 'FAILED'
  }
}
