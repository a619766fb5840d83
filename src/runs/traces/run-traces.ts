// Many runs as spans, one event after another, in whatever order the runs come.
import { TRACED_RUNS_MAX } from '../../limits.ts'
import { textIn } from '../index/call-facts.ts'
import type { EventObject } from '../index/entry-lines.ts'
import { RunTrace, type TraceOptions } from './run-trace.ts'
import type { Span } from './span.ts'

export class RunTraces {
  readonly #options: TraceOptions
  readonly #runs = new Map<string, RunTrace>()

  constructor(options: TraceOptions) {
    this.#options = options
  }

  /** Runs that have begun and not ended. */
  get open(): number {
    return [...this.#runs.values()].filter(({ isOpen }) => isOpen).length
  }

  take(event: EventObject): readonly Span[] {
    const id = textIn(event, 'run_id')
    if (id === null) return []
    const known = this.#runs.get(id)
    const run = known ?? new RunTrace(this.#options)
    if (known === undefined) {
      const [oldest] = this.#runs.keys()
      if (this.#runs.size >= TRACED_RUNS_MAX && oldest !== undefined) this.#runs.delete(oldest)
      this.#runs.set(id, run)
    }
    return run.take(event)
  }

  /** Nothing more will come: what has not ended ends where the record does. */
  finish(): readonly Span[] {
    return [...this.#runs.values()].flatMap((run) => run.finish())
  }
}
