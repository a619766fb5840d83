// The words of policy (seed 004, contracts B and C): what an author writes, what a shim loads, what a decision is, what it remembers.
//
// How the parts meet, seen from a caller such as the shim:
//
//   const snapshot = await compileBundle(text, { name: 'team.yaml' })   // compile.ts; throws POLICY_INVALID with line and path
//   const policy   = openPolicy(snapshot, identity)                     // plan.ts; compiles matchers, checks selectors once
//   const plan     = policy.planFor(serverName, toolName)               // memoised: only the rules that this tool can meet
//   const verdict  = decide(plan, call, counters, nowMs)                // decide.ts; reads counters, writes nothing
//   counters.apply(verdict.writes, nowMs)
//   … the call is forwarded when verdict.decision is ALLOW or not `enforced`, and ends …
//   if (verdict.end !== null) counters.apply(settle(verdict.end, result, counters, nowMs), nowMs)
//
// Nothing here does I/O or reads a clock. `openPolicyOnError` (on-error.ts) is the policy of a shim whose bundle is
// missing or broken; `decideOnError` is the answer when `decide` itself throws.
import type { Readings } from './decide/readings.ts'

export const MODES = ['observe', 'guardrails', 'control'] as const
export type Mode = (typeof MODES)[number]

export const ACTIONS = ['ALLOW', 'BLOCK', 'THROTTLE', 'REJECT_WITH_HINT', 'TERMINATE_RUN'] as const
export type Action = (typeof ACTIONS)[number]

export const SEVERITIES = ['info', 'warn', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

export const RULE_KINDS = ['allow', 'deny', 'budget', 'rate_limit', 'breaker', 'dedupe', 'tag'] as const
export type RuleKind = (typeof RULE_KINDS)[number]

export const SCOPES = ['run', 'tool', 'server_tool'] as const
export type CounterScope = (typeof SCOPES)[number]

export const HINT_KINDS = ['ARG_FIX', 'BUDGET', 'RATE', 'SAFETY', 'OTHER'] as const
export type HintKind = (typeof HINT_KINDS)[number]

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = Readonly<Record<string, Json>>

// -- the snapshot: a bundle with every default written out; also itself a valid bundle

export interface NameMatch {
  readonly glob: readonly string[]
  readonly regex: readonly string[]
}

export type Scalar = string | number | boolean

/** Any of the patterns; an addition of pack 0.2.0, as the rest of this block. */
export interface TextMatch {
  readonly glob: readonly string[]
  readonly regex: readonly string[]
  readonly ignore_case: boolean
}

/** All that is present must hold of one value. */
export interface ValueMatch extends TextMatch {
  readonly equals?: Scalar
  readonly in?: readonly Scalar[]
  readonly range?: { readonly min?: number; readonly max?: number }
}

export interface PathMatch {
  /** Relative to where the server runs, or absolute. */
  readonly scopes: readonly string[]
  /** Paths into the arguments where paths stand; null: told from keys and from the look of texts. */
  readonly keys: readonly string[] | null
}

export interface ArgsMatch {
  readonly has_keys: readonly string[]
  readonly key_equals: Readonly<Record<string, Scalar>>
  readonly key_in: Readonly<Record<string, readonly Scalar[]>>
  readonly numeric_range: Readonly<Record<string, { readonly min?: number; readonly max?: number }>>
  /** No other keys are there, at the top level: for allow rules, which say all that a call may have. Addition of pack 0.2.0. */
  readonly only_keys?: readonly string[]
  /** By path into the arguments: some value there passes. */
  readonly at?: Readonly<Record<string, ValueMatch>>
  /** Some text of the call, at any depth. */
  readonly text?: TextMatch
  /** The call names paths, and all of them lead into the scopes. */
  readonly path_within?: PathMatch
  /** The call names a path that does not lead into the scopes. */
  readonly path_outside?: PathMatch
}

/** What a call runs on a shell command line; all that is present must hold of one program. Addition of pack 0.3.0. */
export interface ShellMatch {
  /** Programs with sub-commands and flags, in any spelling: `git push --force`. Any of them. */
  readonly runs?: readonly string[]
  /** Scopes: it writes inside one of them. */
  readonly writes?: readonly string[]
  /** Scopes: it writes outside of all of them, or where cannot be told. */
  readonly writes_outside?: readonly string[]
  readonly network?: boolean
  /** A program that the tables do not know. */
  readonly unknown?: boolean
  /** It runs code that is not on the command line. */
  readonly opaque?: boolean
  /** The command line has a syntax error or exceeds a bound. */
  readonly unparsed?: boolean
  /** Arguments that hold the command line, in place of the usual ones. */
  readonly keys?: readonly string[]
}

/** Hours of the day in UTC, from `start` until before `end`; `{22, 6}` goes over midnight. */
export interface HourRange {
  readonly start: number
  readonly end: number
}

/** What MCP lets a server say of a tool; an addition of pack 0.2.0. */
export interface Annotations {
  readonly read_only?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  readonly open_world?: boolean
}

/** What is absent matches everything; what is present must all hold. */
export interface Match {
  /** Globs over methods of MCP; absent for tool calls alone. Addition of pack 0.2.0. */
  readonly method?: readonly string[]
  /** What the tool's server says of it, where the bundle trusts it to. */
  readonly annotations?: Annotations
  readonly server_name?: NameMatch
  readonly tool_name?: NameMatch
  readonly risk_class?: readonly string[]
  readonly args?: ArgsMatch
  readonly shell?: ShellMatch
  readonly time?: { readonly utc_hours: readonly HourRange[] }
}

/** `effect.hint` of a deny rule, an addition of pack 0.2.0. */
export interface HintTemplate {
  readonly hint_text: string
  readonly hint_kind: HintKind
  /** Laid over the call's own arguments, key by key at the top level. */
  readonly suggested_args: JsonObject | null
  readonly retry_advice: string | null
}

/** `effect.ask` of a deny rule, an addition of pack 0.2.0: a person decides. */
export interface Ask {
  /** What the person is asked; null for the rule's message. */
  readonly question: string | null
  /** How long a call is held for the answer. */
  readonly wait_ms: number
}

export interface Budget {
  readonly scope: CounterScope
  readonly limit_calls: number | null
  readonly limit_cost_units: number | null
  readonly cost_units_per_call: number
  readonly on_exceed: 'BLOCK' | 'REJECT_WITH_HINT' | 'TERMINATE_RUN'
  readonly hint_text: string | null
}

export interface RateLimit {
  readonly scope: CounterScope
  readonly capacity: number
  readonly refill_tokens: number
  readonly refill_period_ms: number
  readonly cost_tokens_per_call: number
  readonly on_limit: 'THROTTLE' | 'BLOCK' | 'REJECT_WITH_HINT'
  readonly backoff_ms: number
  readonly hint_text: string | null
}

export interface Breaker {
  readonly scope: CounterScope
  /** With `window_ms`; null when this breaker does not count errors. */
  readonly error_threshold: number | null
  readonly window_ms: number | null
  /** With `repeat_window_ms`; null when this breaker does not count repeats. */
  readonly repeat_threshold: number | null
  readonly repeat_window_ms: number | null
  readonly on_trip: 'TERMINATE_RUN' | 'BLOCK' | 'REJECT_WITH_HINT'
  readonly terminate_code: string
  readonly hint_text: string | null
}

export interface Dedupe {
  readonly scope: CounterScope
  readonly window_ms: number
  readonly key: 'args_hash'
  readonly on_duplicate: 'BLOCK' | 'REJECT_WITH_HINT'
  readonly hint_text: string | null
}

interface RuleBase {
  readonly rule_id: string
  readonly enabled: boolean
  readonly severity: Severity
  readonly description?: string
  readonly match: Match
}

interface Reason {
  readonly reason_code: string
  readonly message: string
}

export type Rule = RuleBase &
  (
    | { readonly kind: 'allow'; readonly effect: Reason & { readonly action: 'ALLOW' } }
    | {
        readonly kind: 'deny'
        readonly effect: Reason & {
          readonly action: 'BLOCK' | 'REJECT_WITH_HINT' | 'ASK'
          readonly hint: HintTemplate | null
          /** With ASK. */
          readonly ask?: Ask
        }
      }
    | { readonly kind: 'budget'; readonly effect: Reason & { readonly budget: Budget } }
    | { readonly kind: 'rate_limit'; readonly effect: Reason & { readonly rate_limit: RateLimit } }
    | { readonly kind: 'breaker'; readonly effect: Reason & { readonly breaker: Breaker } }
    | { readonly kind: 'dedupe'; readonly effect: Reason & { readonly dedupe: Dedupe } }
    | { readonly kind: 'tag'; readonly effect: { readonly tag: { readonly add_risk_class: readonly string[] } } }
  )

export interface Selectors {
  readonly env?: readonly string[]
  readonly agent_id?: readonly string[]
  readonly client?: readonly string[]
  readonly workload?: {
    readonly namespace?: readonly string[]
    readonly service_account?: readonly string[]
    readonly labels?: Readonly<Record<string, string>>
    readonly repo?: readonly string[]
    readonly branch?: readonly string[]
  }
}

export interface Defaults {
  readonly decision_on_error: 'ALLOW' | 'BLOCK'
  readonly fail_open_read_tools: boolean
  /** Addition of pack 0.2.0: what a call gets that no allow or deny rule names. */
  readonly decision_on_no_match: 'ALLOW' | 'BLOCK'
}

/** Plain JSON. `policy_hash` is over the canonical bytes of everything else in it. */
export interface Snapshot {
  readonly policy_id: string
  readonly version: string
  readonly policy_hash: string
  readonly mode: Mode
  readonly defaults: Defaults
  readonly selectors: Selectors
  readonly rules: readonly Rule[]
  /** Globs of the servers that are believed what they say of their tools. Addition of pack 0.2.0. */
  readonly trust_annotations?: readonly string[]
  readonly description?: string
  readonly owner?: string
  readonly created_at?: string
}

// -- what is decided

/** Who runs: compared with the selectors, exactly and case-sensitively. */
export interface Subject {
  readonly env: string
  readonly agent_id: string
  readonly client: string
  readonly workload?: {
    readonly namespace?: string
    readonly service_account?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly repo?: string
    readonly branch?: string
  }
}

/** One place that a path may lead to, links followed. */
export interface Location {
  readonly absolute: string
  /** From the folder in which the server runs; null when it is not below. */
  readonly relative: string | null
}

/** By the text of a path: every place that some reading of it leads to; none, or no entry, where nobody can tell. */
export type Locations = ReadonlyMap<string, readonly Location[]>

/** What a human answered to a rule that asks; with a reason where one was given for the denial. */
export type HumanAnswer = 'allow' | 'deny' | { readonly denial: string }

/** One call as the policy sees it. Server and tool name are in the plan. */
export interface CallFacts {
  /** The time of day, for `utc_hours` alone. */
  readonly wallMs: number
  /** The `arguments` object as parsed, or why there is none: too large to look into, or to be read in two ways. Only own keys are read. */
  readonly args: Readonly<Record<string, unknown>> | 'uninspectable' | 'ambiguous'
  /** May be a getter: it is read only where `plan.needsArgsHash`, and never when there is no object of arguments. */
  readonly args_hash: string
  /** By rule id: what a person has said of this call; needed only where `plan.asks` names rules. */
  readonly approvals?: ReadonlyMap<string, HumanAnswer>
  /** Of the texts that `plan.pathsOf` names; needed only where it is not null. */
  readonly locations?: Locations
}

export interface Hint {
  readonly hint_text: string
  readonly suggested_args: JsonObject | null
  readonly retry_advice: string | null
  readonly hint_kind: HintKind
}

/** Seed 004 §3.1, fields named as on the wire. */
export interface Decision {
  readonly action: Action
  readonly rule_id: string | null
  readonly severity: Severity
  readonly reason_code: string
  readonly summary: string
  /** False in mode *observe*: the call is forwarded whatever `action` says, and counts as allowed. */
  readonly enforced: boolean
  /** With THROTTLE. */
  readonly backoff_ms?: number
  /** With REJECT_WITH_HINT. */
  readonly hint?: Hint
  /** A person is to be asked, and has not answered; with REJECT_WITH_HINT. Not on the wire. */
  readonly ask?: { readonly question: string; readonly wait_ms: number; readonly rule_hash: string }
  /** With TERMINATE_RUN. */
  readonly terminate?: { readonly terminate_code: string; readonly terminate_message: string }
}

// -- what is remembered

/**
 * A counter is a few numbers under a key. What they mean is policy's own business; a store keeps them.
 * Keys are made of the rule's id and its scope, so that a counter survives whatever else of the rule is edited, and two
 * servers' tools of one name never mix unless the scope says so.
 */
export type Cell = readonly number[]

export interface CellWrite {
  readonly key: string
  /** Hash of the arguments where each set of them has a cell of its own; else empty. */
  readonly args: string
  /** Null forgets the key. */
  readonly cell: Cell | null
  /** From this time on the cell has no effect and may be dropped; Infinity for budgets, which last as long as the run. */
  readonly expiresMs: number
}

/**
 * Where counters live while calls are decided: in memory (memory-counters.ts), made from what a run's record says was counted.
 * Who decides holds the record's lock from before the cells are read until the decision is written, or two shims would
 * both take the last token. An expired cell may still be returned by `get`.
 *
 * `nowMs` is monotonic time, the same for all processes of one boot of the machine: no step of the wall clock frees or
 * freezes anything. What is remembered from before a boot is moved (`shifted`), so that the time in between counts as none.
 */
export interface Counters {
  get(key: string, args: string): Cell | undefined
  apply(writes: readonly CellWrite[], nowMs: number): void
}

/** How a forwarded call went: done; failed, so that nothing was done; or neither is known, and it may have been done. */
export type CallResult = 'done' | 'failed' | 'unknown'

/** What the end of a forwarded call may change: error breakers count it, dedupe forgets a call that failed. Plain data. */
export interface CallEnd {
  readonly errorWindows: readonly {
    readonly rule_id: string
    readonly key: string
    readonly windowMs: number
    readonly threshold: number
  }[]
  readonly dedupes: readonly {
    readonly rule_id: string
    readonly key: string
    readonly args: string
    readonly acceptedMs: number
  }[]
}

/** What an accumulator counts, and how far. */
export interface Counted {
  readonly rule_id: string
  readonly counter: 'calls' | 'cost_units' | 'tokens' | 'errors' | 'repeats' | 'duplicates'
  /** Where it refuses; of tokens, what the bucket holds. */
  readonly limit: number
  /** Of the cell that holds it; repeats and duplicates have the hash of the arguments appended there. */
  readonly key: string
}

export interface Verdict {
  readonly decision: Decision
  readonly counters: Readings
  readonly writes: readonly CellWrite[]
  /** To be kept until the call ends; null when its end changes nothing (usual), or when it is refused. */
  readonly end: CallEnd | null
  /** Risk classes that tag rules gave the call, for `call.tags`. */
  readonly tags: readonly string[]
  /** Ids of the accumulator rules that were over their limit, in rule order, whether or not they decided. */
  readonly tripped: readonly string[]
}
