// How a replay went: counts of everything, and the rows that are worth showing, as many as fit.
import { isPassed, isSameDecision, type RecordedCall, type RecordedDecision } from './recorded.ts'
import type { Doubt, Replayed } from './replay.ts'

type Outcome = 'same' | 'stricter' | 'looser' | 'other' | 'undecidable'

export interface ReplayRow {
  readonly run_id: string
  readonly seq: number | null
  readonly ts: string
  readonly server_name: string
  readonly tool_name: string
  readonly outcome: Outcome
  readonly recorded: RecordedDecision & { readonly policy_hash: string }
  /** Null where it cannot be known. */
  readonly replayed: RecordedDecision | null
  /** Then, what it may have been. */
  readonly possible: readonly RecordedDecision[]
  readonly why: readonly Doubt[]
}

interface PolicyRef {
  readonly policy_id: string
  readonly policy_version: string
  readonly policy_hash: string
}

type TalliedCall = Omit<RecordedCall, 'policyHash'> & {
  readonly runId: string
  readonly seq: number | null
  readonly policy: PolicyRef
}

type OfPolicy = PolicyRef & { calls: number; same: number; different: number; undecidable: number }

export class ReplayTally {
  readonly #shown: 'all' | 'different'
  readonly #rowsMax: number
  readonly #rows: ReplayRow[] = []
  #leftOff = 0
  readonly #calls = { total: 0, same: 0, stricter: 0, looser: 0, other: 0, undecidable: 0 }
  readonly #doubts: Record<Doubt, number> = {
    name: 0,
    arguments: 0,
    paths: 0,
    annotations: 0,
    answer: 0,
    counters: 0,
    terminated: 0,
  }
  readonly #recorded = new Map<string, OfPolicy>()

  constructor(shown: 'all' | 'different', rowsMax: number) {
    this.#shown = shown
    this.#rowsMax = rowsMax
  }

  get differing(): number {
    const { stricter, looser, other } = this.#calls
    return stricter + looser + other
  }

  add(call: TalliedCall, replayed: Replayed): void {
    const outcome = outcomeOf(call.decision, replayed)
    this.#calls.total += 1
    this.#calls[outcome] += 1
    const of = this.#ofPolicy(call.policy)
    of.calls += 1
    of[outcome === 'same' || outcome === 'undecidable' ? outcome : 'different'] += 1
    if (!replayed.isKnown) for (const doubt of replayed.doubts) this.#doubts[doubt] += 1
    if (outcome === 'same' && this.#shown === 'different') return
    if (this.#rows.length >= this.#rowsMax) this.#leftOff += 1
    else this.#rows.push(rowOf(call, outcome, replayed))
  }

  #ofPolicy(policy: PolicyRef): OfPolicy {
    const key = `${policy.policy_id}\0${policy.policy_version}\0${policy.policy_hash}`
    let of = this.#recorded.get(key)
    if (of === undefined) {
      of = { ...policy, calls: 0, same: 0, different: 0, undecidable: 0 }
      this.#recorded.set(key, of)
    }
    return of
  }

  data() {
    return {
      calls: this.#calls,
      undecidable: this.#doubts,
      recorded: [...this.#recorded.values()],
      rows: this.#rows,
      rows_left_off: this.#leftOff,
    }
  }
}

function outcomeOf(recorded: RecordedDecision, replayed: Replayed): Outcome {
  if (!replayed.isKnown) return 'undecidable'
  const { decision } = replayed
  if (isSameDecision(recorded, decision)) return 'same'
  const then = isPassed(recorded)
  const now = isPassed(decision)
  return then === now ? 'other' : now ? 'looser' : 'stricter'
}

function rowOf(call: TalliedCall, outcome: Outcome, replayed: Replayed): ReplayRow {
  return {
    run_id: call.runId,
    seq: call.seq,
    ts: new Date(call.atMs).toISOString(),
    server_name: call.server,
    tool_name: call.tool,
    outcome,
    recorded: { ...call.decision, policy_hash: call.policy.policy_hash },
    replayed: replayed.isKnown ? plain(replayed.decision) : null,
    possible: replayed.isKnown ? [] : replayed.possible.map(plain),
    why: replayed.isKnown ? [] : replayed.doubts,
  }
}

function plain({ action, rule_id, reason_code, enforced }: RecordedDecision): RecordedDecision {
  return { action, rule_id, reason_code, enforced }
}
