// What is noticed of a run for as long as its record is open: its pulse, its waits, its costs, and the order of a shim to end it.
import { existsSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import type { ProcessRef } from '../coordination/who/process-ref.ts'
import type { Env } from '../paths.ts'
import { type KeptRecord, keepOwnedRun } from '../runs/kept-record.ts'
import { undoOpening } from '../runs/owned-run.ts'
import { totalsOf } from '../runs/run-facts.ts'
import { onTerminated, type RunWakeup } from '../runs/run-wakeup.ts'
import { askToEnd } from '../sessions/ask-end.ts'
import type { ExitRecord, StateEvent } from '../sessions/keeper.ts'
import { BY_POLICY } from './cancelled.ts'
import type { CostWatch } from './costs/cost-watch.ts'
import { watchCosts } from './costs/run-costs.ts'
import { ownedRun } from './kept-run.ts'
import type { KeptSheet } from './kept-sheet.ts'
import { lastLineOf } from './last-line.ts'
import { RunPulse } from './pulse.ts'
import { WaitWatch } from './wait-watch.ts'

export interface WatchWith {
  readonly env: Env
  readonly clock: Clock
  /** What all of the session descends from; nothing while it is not known. */
  readonly child: () => ProcessRef | undefined
  readonly note: (line: string) => void
}

/** Nothing of a run that has its end, was removed by hand, or never came to its beginning. */
export async function watchRun(sheet: KeptSheet, how: WatchWith): Promise<RunWatch | undefined> {
  if (!existsSync(sheet.runDir)) return undefined
  const run = ownedRun(sheet.runsDir, sheet.run)
  const record = await keepOwnedRun(run, how.clock, how.note)
  if (record !== undefined) return new RunWatch(sheet, record, how)
  if (totalsOf(sheet.runDir).segment === 0) undoOpening(run)
  return undefined
}

export class RunWatch {
  readonly record: KeptRecord
  readonly #sheet: KeptSheet
  readonly #note: (line: string) => void
  readonly #waits: WaitWatch
  readonly #costs: CostWatch
  readonly #pulse: RunPulse
  readonly #wakeup: RunWakeup | null
  #isTerminated = false

  constructor(sheet: KeptSheet, record: KeptRecord, { env, clock, child, note }: WatchWith) {
    this.record = record
    this.#sheet = sheet
    this.#note = note
    this.#waits = new WaitWatch({ sheet, record, env, clock, note })
    this.#costs = watchCosts({ sheet, record, child, env, clock, note })
    this.#pulse = new RunPulse({
      clock,
      runDir: sheet.runDir,
      booked: sheet.run.pulse ?? null,
      lastLine: () => lastLineOf(sheet.run, note),
      onChange: (pulse) => {
        sheet.put({ pulse })
        this.#waits.budget(pulse.budget)
      },
    })
    this.#wakeup = onTerminated(sheet.runDir, () => this.#terminate(), note)
  }

  /** A shim has ended it. */
  get isTerminated(): boolean {
    return this.#isTerminated
  }

  get isWaiting(): boolean {
    return this.#waits.isWaiting
  }

  get calls(): number {
    return this.#pulse.calls
  }

  /** There was output or input. */
  happened(): void {
    this.#pulse.happened()
    this.#costs.happened()
  }

  state(state: StateEvent): void {
    this.#waits.session(state)
    this.#pulse.state(state)
  }

  /** The session is over; processes of it may still call and spend. */
  sessionEnded(): void {
    this.#pulse.stop()
    this.#waits.stop()
  }

  /** Its processes are gone too: the last wait ends, and all that was spent is in the record. */
  settle(exit: ExitRecord | undefined): void {
    this.#waits.settle(exit)
    this.#costs.settle()
  }

  close(): void {
    this.sessionEnded()
    this.#costs.stop()
    this.#wakeup?.close()
  }

  /** Everything of the run ends, the program too that might call again. */
  #terminate(): void {
    if (this.#isTerminated) return
    this.#isTerminated = true
    const { dir, id } = this.#sheet.run.session
    askToEnd(dir, id, BY_POLICY).catch((error: unknown) => this.#note(`the session cannot be ended: ${String(error)}`))
  }
}
