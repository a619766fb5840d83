// The orchestrator: takes tasks from the queue, carries each attempt to its end, renews what it knows of workers. All state is in the store; killed at any point, the next one goes on.
import type { Timer } from '../clock.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { Attempt } from '../coordination/dispatched.ts'
import { HeimdallError } from '../errors.ts'
import { DISPATCH_LOOK_MS, DISPATCH_PULL_MS } from '../limits.ts'
import { beginNext, contractFor, endAttempt } from './attempts.ts'
import type { AttemptOutcome } from './life.ts'
import { Errand } from './errand.ts'
import type { TaskDispatch } from './messages.ts'
import type { Peer } from './peer.ts'
import { overdue, passDeadline } from './tasks.ts'
import { expireWorkers, takeAnnounce } from './workers.ts'

export interface OrchestratorOptions {
  readonly room: Coordination
  /** Workers that may be asked, by name; looked up at each use, so that one that comes later is found. */
  readonly peers: () => ReadonlyMap<string, { readonly peer: Peer; readonly url: string }>
  readonly note: (line: string) => void
  /** Told of every settled attempt, after the change. */
  readonly onSettled?: (key: { taskId: string; number: number }) => void | Promise<void>
}

export class Orchestrator {
  readonly #options: OrchestratorOptions
  readonly #over = new AbortController()
  /** Attempts under way, by `task#number`. */
  readonly #carried = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>()
  readonly #background = new Set<Promise<void>>()
  #timer: Timer | undefined
  #stepping: Promise<void> | undefined
  #isAsked = false
  readonly #pulledMs = new Map<string, number>()

  constructor(options: OrchestratorOptions) {
    this.#options = options
  }

  /** Runs until it is stopped. */
  async run(): Promise<void> {
    const { room } = this.#options
    const from = room.store.read((rows) => rows.head())
    this.ask()
    try {
      for await (const entry of room.store.follow(from, this.#over.signal))
        if (entry.puts.some(({ table }) => table === 'tasks' || table === 'workers' || table === 'attempts')) this.ask()
    } finally {
      this.#timer?.cancel()
      await this.#stepping
      await Promise.all([...[...this.#carried.values()].map(({ done }) => done), ...this.#background])
    }
  }

  /** Attempts that are out go on at their workers; whoever orchestrates next finds them. */
  stop(): void {
    this.#over.abort()
    for (const { stop } of this.#carried.values()) stop.abort()
  }

  /** Something may have changed. */
  ask(): void {
    this.#isAsked = true
    this.#stepping ??= this.#steps().finally(() => {
      this.#stepping = undefined
    })
  }

  async #steps(): Promise<void> {
    while (this.#isAsked && !this.#over.signal.aborted) {
      this.#isAsked = false
      try {
        await this.#step()
      } catch (error) {
        if (!(error instanceof HeimdallError)) throw error
        // A store that is busy or full: the next look may find it better.
        this.#options.note(`dispatch: ${error.message}`)
        this.#lookIn(DISPATCH_LOOK_MS)
      }
    }
  }

  async #step(): Promise<void> {
    const { room } = this.#options
    this.#pullAll()
    const leaseMs = await expireWorkers(room)
    const deadlineMs = await this.#endOverdue()
    this.#resume()
    let wakeMs: number | undefined
    for (;;) {
      const { begun, wakeInMs } = await beginNext(room)
      wakeMs = wakeInMs
      if (begun === undefined) break
      this.#carry(begun.attempt, begun.contract, true)
    }
    const waits = [leaseMs, deadlineMs, wakeMs, DISPATCH_LOOK_MS].filter((ms) => ms !== undefined)
    this.#lookIn(Math.min(...waits))
  }

  #lookIn(ms: number): void {
    this.#timer?.cancel()
    if (!this.#over.signal.aborted) this.#timer = this.#options.room.clock.after(Math.max(1, ms), () => this.ask())
  }

  /** Whoever does not announce itself is asked: before its first task, and whenever what is known of it grows old. */
  #pullAll(): void {
    const { room, peers } = this.#options
    const now = room.clock.monoMs()
    const due = [...peers()].filter(([name]) => now - (this.#pulledMs.get(name) ?? -Infinity) >= DISPATCH_PULL_MS)
    for (const [name] of due) this.#pulledMs.set(name, now)
    // Nobody waits for it: what comes of it is a change, and that is looked at.
    for (const [name, { peer, url }] of due) this.#inBackground(this.#pull(name, peer, url))
  }

  /** Awaited at the end alone. */
  #inBackground(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => {
        if (!(error instanceof HeimdallError)) throw error
        this.#options.note(`dispatch: ${error.message}`)
      })
      .finally(() => this.#background.delete(done))
    this.#background.add(done)
  }

  async #pull(name: string, peer: Peer, url: string): Promise<void> {
    const { room } = this.#options
    const pulled = await peer.pull(this.#over.signal)
    if (pulled === undefined) return
    const { announce, speaks } = pulled
    await takeAnnounce(room, { name, url, speaks }, { ...announce, worker: { ...announce.worker, agent_id: name } })
  }

  /** Attempts that are out and that nobody here carries: of an orchestrator before this one. */
  #resume(): void {
    const { room } = this.#options
    const open = room.store.read((rows) =>
      rows
        .attempts({ open: true })
        .filter((attempt) => !this.#carried.has(keyOf(attempt)))
        .map((attempt) => ({ attempt, contract: contractFor(rows, attempt) })),
    )
    for (const { attempt, contract } of open) this.#carry(attempt, contract, false)
  }

  async #endOverdue(): Promise<number | undefined> {
    const { room } = this.#options
    const { now, nextInMs } = overdue(room)
    for (const taskId of now) await passDeadline(room, taskId)
    return nextInMs
  }

  /** `isNew`: nobody can have sent it before. */
  #carry(attempt: Attempt, contract: TaskDispatch, isNew: boolean): void {
    const key = keyOf(attempt)
    const stop = new AbortController()
    const done = this.#attempt(attempt, contract, isNew, stop.signal)
      .catch((error: unknown) => {
        if (!(error instanceof HeimdallError)) throw error
        this.#options.note(`dispatch: task ${attempt.taskId}: ${error.message}`)
      })
      .finally(() => {
        this.#carried.delete(key)
        this.ask()
      })
    this.#carried.set(key, { stop, done })
  }

  async #attempt(attempt: Attempt, contract: TaskDispatch, isNew: boolean, signal: AbortSignal): Promise<void> {
    const { room, onSettled } = this.#options
    const { peers, note } = this.#options
    const outcome = await new Errand({ room, peers, note, attempt, contract, isNew }).outcome(signal)
    if (outcome === undefined) return
    await endAttempt(room, attempt, traced(outcome, contract))
    await onSettled?.(attempt)
  }
}

/** Whoever reads the result finds what the task belongs to, whatever the worker says of it. */
const traced = (outcome: AttemptOutcome, { trace }: TaskDispatch): AttemptOutcome =>
  outcome.kind === 'result' ? { ...outcome, result: { ...outcome.result, trace } } : outcome

const keyOf = ({ taskId, number }: Attempt): string => `${taskId}#${number}`
