// Policy a second time, written for clearness alone: it keeps the whole history of a run and counts in it anew for each call.
// Tests compare the product with it; it shares types with src/policy and nothing else.
import type { Action, Match, NameMatch, Rule, CounterScope, Snapshot } from '../../src/policy/types.ts'

export interface NaiveCall {
  readonly server: string
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>> | 'uninspectable'
  readonly hash: string
  readonly atMs: number
}

interface Past extends NaiveCall {
  readonly outcome: 'allowed' | 'denied' | 'refused'
  readonly met: readonly string[]
  readonly tripped: readonly string[]
  end?: { readonly isError: boolean; readonly atMs: number }
}

interface NaiveAnswer {
  readonly action: Action
  readonly ruleId: string | null
  readonly reason: string
  readonly tripped: readonly string[]
  readonly tags: readonly string[]
  /** To be told to `end` when the call ends. */
  readonly index: number
}

export class NaivePolicy {
  readonly #snapshot: Snapshot
  readonly #history: Past[] = []

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot
  }

  decide(call: NaiveCall): NaiveAnswer {
    const { rules, defaults, mode } = this.#snapshot
    const isRead = this.#isReadTool(call)
    const blocksOnError = defaults.decision_on_error === 'BLOCK' && !(defaults.fail_open_read_tools && isRead)
    const tags = new Set<string>()
    const met: string[] = []
    const tripped: string[] = []
    const ruled: { action: Action; rule: Rule | null; reason: string }[] = []
    const limits: { action: Action; rule: Rule; reason: string }[] = []
    for (const rule of rules.filter(({ enabled }) => enabled)) {
      const isPlain = rule.kind === 'allow' || rule.kind === 'deny' || rule.kind === 'tag'
      const needsHash =
        rule.kind === 'dedupe' || (rule.kind === 'breaker' && rule.effect.breaker.repeat_threshold !== null)
      const matched = matches(rule.match, call, tags)
      if (matched === 'no') continue
      const lacksHash = matched === 'yes' && needsHash && call.args === 'uninspectable'
      if (matched === 'unknown' || (lacksHash && (blocksOnError || rule.kind === 'dedupe'))) {
        if (blocksOnError)
          (isPlain ? ruled : limits).push({ action: 'BLOCK', rule, reason: 'ARGS_UNINSPECTABLE' } as never)
        continue
      }
      if (rule.kind === 'tag') for (const tag of rule.effect.tag.add_risk_class) tags.add(tag)
      else if (rule.kind === 'allow') ruled.push({ action: 'ALLOW', rule, reason: rule.effect.reason_code })
      else if (rule.kind === 'deny')
        ruled.push({
          action: hinted(
            rule.effect.action === 'ASK' ? 'REJECT_WITH_HINT' : rule.effect.action,
            mode,
            rule.effect.hint !== null,
          ),
          rule,
          reason: rule.effect.reason_code,
        })
      else {
        met.push(rule.rule_id)
        const action = this.#limitOf(rule, call)
        if (action === null) continue
        tripped.push(rule.rule_id)
        limits.push({ action, rule, reason: rule.effect.reason_code })
      }
    }
    const first = ruled[0]
    const terminating = limits.find(({ action }) => action === 'TERMINATE_RUN')
    const isDenied = first !== undefined && first.action !== 'ALLOW'
    const byDefault =
      defaults.decision_on_no_match === 'ALLOW'
        ? ({ action: 'ALLOW', rule: null, reason: 'DEFAULT_ALLOW' } as const)
        : ({ action: 'BLOCK', rule: null, reason: 'DEFAULT_BLOCK' } as const)
    const limit = terminating ?? (isDenied ? undefined : limits[0])
    const picked = limit ?? first ?? byDefault
    const outcome = picked.action === 'ALLOW' ? 'allowed' : limit === undefined ? 'denied' : 'refused'
    this.#history.push({ ...call, outcome, met, tripped })
    return {
      action: picked.action,
      ruleId: picked.rule?.rule_id ?? null,
      reason: picked.reason,
      tripped,
      tags: [...tags],
      index: this.#history.length - 1,
    }
  }

  end(index: number, isError: boolean, atMs: number): void {
    const past = this.#history[index]
    if (past?.outcome === 'allowed') past.end = { isError, atMs }
  }

  /** Sure to read: tagged so by rules that ask for names only, and by no rule at all as one that writes. */
  #isReadTool(call: NaiveCall): boolean {
    const sure = new Set<string>()
    const maybe = new Set<string>()
    for (const rule of this.#snapshot.rules) {
      if (!rule.enabled || rule.kind !== 'tag' || !named(rule.match, call)) continue
      const classes = rule.match.risk_class
      const isSure = classes === undefined || classes.some((name) => sure.has(name))
      if (!isSure && !classes.some((name) => maybe.has(name))) continue
      const isConditional = rule.match.args !== undefined || rule.match.time !== undefined || !isSure
      for (const tag of rule.effect.tag.add_risk_class) (isConditional ? maybe : sure).add(tag)
    }
    return sure.has('read_like') && !sure.has('write_like') && !maybe.has('write_like')
  }

  /** What the accumulator does to this call, or null while it is within its limit. */
  #limitOf(rule: Rule, call: NaiveCall): Action | null {
    const mode = this.#snapshot.mode
    if (rule.kind === 'budget') {
      const { limit_calls, limit_cost_units, cost_units_per_call, on_exceed, hint_text, scope } = rule.effect.budget
      const spent = this.#spenders(rule, scope, call).length
      const isOver =
        (limit_calls !== null && spent >= limit_calls) ||
        (limit_cost_units !== null && (spent + 1) * cost_units_per_call > limit_cost_units)
      return isOver ? hinted(on_exceed, mode, hint_text !== null) : null
    }
    if (rule.kind === 'rate_limit') {
      const { capacity, refill_tokens, refill_period_ms, cost_tokens_per_call, on_limit, hint_text, scope } =
        rule.effect.rate_limit
      let tokens = capacity
      let since = call.atMs
      const pass = (toMs: number): void => {
        // Nothing more comes in once it is full, or when nothing ever does; waits of hours need not be walked.
        if (refill_tokens === 0) return
        while (since + refill_period_ms <= toMs && tokens < capacity) {
          tokens = Math.min(capacity, tokens + refill_tokens)
          since += refill_period_ms
        }
        if (tokens >= capacity) since = toMs
      }
      for (const [i, spender] of this.#spenders(rule, scope, call).entries()) {
        if (i === 0) since = spender.atMs
        pass(spender.atMs)
        tokens -= cost_tokens_per_call
      }
      pass(call.atMs)
      return tokens < cost_tokens_per_call ? hinted(on_limit, mode, hint_text !== null) : null
    }
    if (rule.kind === 'breaker') {
      const { error_threshold, window_ms, repeat_threshold, repeat_window_ms, on_trip, hint_text, scope } =
        rule.effect.breaker
      const seen = this.#history.filter((past) => past.met.includes(rule.rule_id) && isSame(scope, past, call))
      const errors = seen.filter(({ end }) => end?.isError === true && call.atMs - end.atMs < (window_ms ?? 0)).length
      const repeats = seen.filter(
        (past) =>
          past.hash === call.hash &&
          past.args !== 'uninspectable' &&
          !past.tripped.includes(rule.rule_id) &&
          call.atMs - past.atMs < (repeat_window_ms ?? 0),
      ).length
      const isOver =
        (error_threshold !== null && errors >= error_threshold) ||
        (repeat_threshold !== null && call.args !== 'uninspectable' && repeats + 1 >= repeat_threshold)
      return isOver ? hinted(on_trip, mode, hint_text !== null) : null
    }
    if (rule.kind === 'dedupe') {
      const { window_ms, on_duplicate, hint_text, scope } = rule.effect.dedupe
      const isDuplicate = this.#history.some(
        (past) =>
          past.outcome === 'allowed' &&
          past.met.includes(rule.rule_id) &&
          isSame(scope, past, call) &&
          past.hash === call.hash &&
          past.end?.isError !== true &&
          call.atMs - past.atMs < window_ms,
      )
      return isDuplicate ? hinted(on_duplicate, mode, hint_text !== null) : null
    }
    return null
  }

  /** Calls that this rule has charged: allowed ones, and denied ones that were within the limit. */
  #spenders(rule: Rule, scope: CounterScope, call: NaiveCall): Past[] {
    return this.#history.filter(
      (past) =>
        past.outcome !== 'refused' &&
        past.met.includes(rule.rule_id) &&
        !past.tripped.includes(rule.rule_id) &&
        isSame(scope, past, call),
    )
  }
}

function hinted(action: Action, mode: string, hasHint: boolean): Action {
  return action === 'BLOCK' && mode === 'control' && hasHint ? 'REJECT_WITH_HINT' : action
}

function isSame(scope: CounterScope, a: NaiveCall, b: NaiveCall): boolean {
  if (scope === 'run') return true
  return a.tool === b.tool && (scope === 'tool' || a.server === b.server)
}

function named(match: Match, call: NaiveCall): boolean {
  return isNamed(match.server_name, call.server) && isNamed(match.tool_name, call.tool)
}

function matches(match: Match, call: NaiveCall, tags: ReadonlySet<string>): 'yes' | 'no' | 'unknown' {
  if (!named(match, call)) return 'no'
  if (match.risk_class !== undefined && !match.risk_class.some((name) => tags.has(name))) return 'no'
  const hour = new Date(call.atMs).getUTCHours()
  const isIn = match.time?.utc_hours.some(({ start, end }) => {
    for (let h = start; h !== end % 24 || h === start; h = (h + 1) % 24) {
      if (h === hour) return true
      if ((h + 1) % 24 === end % 24) return false
    }
    return false
  })
  if (isIn === false) return 'no'
  if (match.args === undefined) return 'yes'
  if (call.args === 'uninspectable') return 'unknown'
  const own = new Map(Object.entries(call.args))
  const { has_keys, key_equals, key_in, numeric_range } = match.args
  const holds =
    has_keys.every((key) => own.has(key)) &&
    Object.entries(key_equals).every(([key, value]) => own.get(key) === value) &&
    Object.entries(key_in).every(([key, values]) => own.has(key) && values.includes(own.get(key) as never)) &&
    Object.entries(numeric_range).every(([key, { min, max }]) => {
      const value = own.get(key)
      return typeof value === 'number' && !(min !== undefined && value < min) && !(max !== undefined && value > max)
    })
  return holds ? 'yes' : 'no'
}

/** Globs of the tests have stars and question marks only, and regexes are such that JavaScript and RE2 agree. */
function isNamed(names: NameMatch | undefined, name: string): boolean {
  if (names === undefined) return true
  const asRegex = (glob: string): string =>
    `^${glob
      .replace(/[.+^${}()|[\]\\/]/g, '\\$&')
      .replace(/\*/g, '[^]*')
      .replace(/\?/g, '.')}$`
  return [...names.glob.map((glob) => asRegex(glob)), ...names.regex].some((pattern) =>
    new RegExp(pattern, 'u').test(name),
  )
}
