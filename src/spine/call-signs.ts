// What the record of a run says about the calls of its agent as it grows: how many, whether they go in circles, whether a budget stops them.
import { BUDGET_NEAR_LIMIT_MIN, BUDGET_NEAR_SHARE } from '../limits.ts'
import { RecordReader } from '../runs/record-reader.ts'
import { NO_CALLS, sumOf } from './call-totals.ts'
import type { CallTotals } from './fleet/fleet.ts'
import { Circles, type Loop } from './signs.ts'

/** A budget refused the last call that was decided. */
export interface BudgetStop {
  readonly rule_id: string
  readonly summary: string
  readonly since: string
  readonly refusals: number
}

/** Most of a budget is spent: somebody may want to say something before it stops the agent. */
export interface BudgetNear {
  readonly rule_id: string
  readonly counter: string
  readonly used: number
  readonly limit: number
  readonly since: string
}

export interface CallSigns {
  readonly calls: CallTotals
  readonly loop: Loop | null
  readonly budget: BudgetStop | null
  /** The one that is nearest to its end; absent as long as there is enough of all. */
  readonly near?: BudgetNear
  /** Up to where the record was read: the next watcher goes on from here. */
  readonly offset: number
}

type Fields = Readonly<Record<string, unknown>>

export class RecordedSigns {
  readonly #reader: RecordReader
  readonly #circles = new Circles()
  #calls: CallTotals
  #budget: BudgetStop | null
  #near: BudgetNear | undefined

  constructor(runDir: string, booked: Partial<CallSigns> = {}) {
    this.#reader = new RecordReader(runDir, booked.offset ?? 0)
    this.#calls = booked.calls ?? NO_CALLS
    this.#budget = booked.budget ?? null
    this.#near = booked.near
  }

  /** Reads what is new. */
  look(nowMs: number): CallSigns {
    for (;;) {
      const lines = this.#reader.read()
      if (lines === 'gone' || lines.length === 0) break
      for (const { event } of lines) this.#enter(event)
    }
    return {
      calls: this.#calls,
      loop: this.#circles.now(nowMs),
      budget: this.#budget,
      ...(this.#near === undefined ? {} : { near: this.#near }),
      offset: this.#reader.offset,
    }
  }

  close(): void {
    this.#reader.close()
  }

  #enter(event: Fields): void {
    const atMs = Date.parse(text(event['ts']))
    const call = fields(event['call'])
    const name = `${text(call['server_name'])} ${text(call['tool_name'])}`
    switch (event['type']) {
      case 'tool_call_start':
        this.#add({ total: 1 })
        this.#circles.did({ what: 'call', key: `${name} ${text(call['args_hash'])}`, name, atMs })
        return
      case 'tool_call_decision':
        this.#decided(fields(event['decision']), text(event['ts']))
        return
      case 'tool_call_end': {
        if (event['status'] !== 'ERROR' && event['status'] !== 'TIMEOUT') return
        this.#add({ errors: 1 })
        const error = fields(event['error'])
        // What policy refuses is told by its decision; again and again it is the same call that was counted above.
        if (error['class'] === 'policy_block') return
        const said = text(error['message'])
        this.#circles.did({ what: 'error', key: `${name} ${said}`, name: `${name}: ${said}`, atMs })
        return
      }
      default:
    }
  }

  #decided(decision: Fields, ts: string): void {
    const { action } = decision
    const isAllowed = action === 'ALLOW' || decision['enforced'] === false
    if (isAllowed) this.#add({ allowed: 1 })
    else if (action === 'THROTTLE') this.#add({ throttled: 1 })
    else this.#add(action === 'REJECT_WITH_HINT' ? { blocked: 1, hinted: 1 } : { blocked: 1 })
    this.#spent(decision['counters'], ts)
    const explain = fields(decision['explain'])
    const isBudget =
      fields(decision['hint'])['hint_kind'] === 'BUDGET' || /\bBUDGET|BUDGET_/.test(text(explain['reason_code']))
    // Who gets on with other calls is not stopped.
    if (isAllowed) this.#budget = null
    else if (isBudget)
      this.#budget = {
        rule_id: text(decision['rule_id']),
        summary: text(explain['summary']),
        since: this.#budget?.since ?? ts,
        refusals: (this.#budget?.refusals ?? 0) + 1,
      }
  }

  /** What is spent of a budget is not given back within a run. */
  #spent(counters: unknown, ts: string): void {
    for (const one of Array.isArray(counters) ? counters.map(fields) : []) {
      const { rule_id: rule, counter, after, limit } = one
      if (typeof after !== 'number' || typeof limit !== 'number' || (counter !== 'calls' && counter !== 'cost_units'))
        continue
      if (limit < BUDGET_NEAR_LIMIT_MIN || after < limit * BUDGET_NEAR_SHARE) continue
      const last = this.#near
      if (last !== undefined && after / limit < last.used / last.limit) continue
      const since = last?.rule_id === rule && last?.counter === counter ? last.since : undefined
      this.#near = { rule_id: text(rule), counter, used: after, limit, since: since ?? ts }
    }
  }

  #add(more: Partial<CallTotals>): void {
    this.#calls = sumOf(this.#calls, { ...NO_CALLS, ...more })
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
