// What is left of a policy for one tool: the rules that can meet it, with everything about names already settled.
import { POLICY_PLANS_MAX } from '../../limits.ts'
import { isAnnotated } from '../match/annotations.ts'
import { type ArgsTest, compileArgs } from '../match/args.ts'
import {
  ambiguousDecision,
  answeredDecision,
  decisionOf,
  defaultDecision,
  errorDecision,
  notApplicable,
} from './decisions.ts'
import { type CounterKind, counterKey } from './counter-keys.ts'
import { type NameAnswer, compileNames } from '../match/names.ts'
import { likeness } from '../bundle/likeness.ts'
import { isSelected } from '../bundle/selectors.ts'
import { NO_READINGS } from './readings.ts'
import type {
  Annotations,
  Counted,
  Decision,
  HourRange,
  Subject,
  Rule,
  CounterScope,
  Snapshot,
  Verdict,
} from '../types.ts'

/** One rule that may meet calls of this tool. */
export interface Step {
  readonly rule: Rule
  /** What it says when it decides. */
  readonly decision: Decision
  /** What it says when it cannot be evaluated; null when that lets the call pass. */
  readonly onError: Decision | null
  /** Of a rule that asks a person: what it says once one has answered. */
  readonly onAnswer: { readonly allow: Decision; readonly deny: Decision } | null
  /** What it says of arguments that can be read in two ways; null when it looks at none. */
  readonly onAmbiguous: Decision | null
  readonly isUnknown: boolean
  readonly hours: readonly HourRange[] | null
  /** Classes of which the call must have one that depends on its arguments or the time. */
  readonly classes: readonly string[] | null
  readonly args: ArgsTest | null
  readonly needsHash: boolean
  /** Speaks of every call of this tool, whatever its arguments and the time. */
  readonly isPlain: boolean
  /** Counts: a budget, rate limit, breaker or dedupe rule. */
  readonly isMeter: boolean
  /** Wants to know how the call ended. */
  readonly isToldEnd: boolean
  readonly key: string
  /** Of a breaker that counts repeats; the hash of the arguments is appended, as to the key of a dedupe rule. */
  readonly repeatsKey: string
  /** What it counts: a budget's calls and cost, a bucket's tokens, a breaker's errors and repeats, duplicates. */
  readonly counted: Counts
}

export interface Plan {
  readonly server_name: string
  readonly tool_name: string
  /** False: the same answer for every call with the same arguments; `decide` reads and writes no counter. */
  readonly isStateful: boolean
  /** True: have `args_hash` ready before the record is locked. */
  readonly needsArgsHash: boolean
  readonly needsArgs: boolean
  /** Texts of the call whose locations `decide` will want; null where no rule looks at paths. */
  readonly pathsOf: ((args: Readonly<Record<string, unknown>>) => readonly string[]) | null
  /** Rules that ask a person; what was answered is to be handed in with the call. */
  readonly asks: readonly { readonly ruleId: string; readonly ruleHash: string }[]
  readonly steps: readonly Step[]
  /** Risk classes that hold for every call of this tool. */
  readonly tags: readonly string[]
  readonly fallback: Decision
  /** The answer where no step depends on arguments, time or counters. */
  readonly fixed: Verdict | null
}

export interface Policy {
  readonly snapshot: Snapshot
  /** Whether the selectors name the run that the policy was opened for. */
  readonly isApplicable: boolean
  /** `annotations` are what the server says of the tool, undefined where it has said nothing. */
  planFor(serverName: string, toolName: string, annotations?: Annotations): Plan
  /** The plan of a request that is no tool call but that rules name; it goes by its method in place of a tool's name. */
  planForMethod(serverName: string, method: string): Plan
  /** Whether rules name the method; `variant`: only if letter case or white space does not count. */
  governs(method: string): boolean | 'variant'
}

export const CALL_METHOD = 'tools/call'

interface OpenRule {
  readonly rule: Rule
  readonly method: ((name: string) => NameAnswer) | null
  readonly server: ((name: string) => NameAnswer) | null
  readonly tool: ((name: string) => NameAnswer) | null
  readonly args: ArgsTest | null
}

/** Compiles the matchers of a snapshot and warms them, for one run. */
export function openPolicy(snapshot: Snapshot, identity: Subject): Policy {
  const isApplicable = isSelected(snapshot.selectors, identity)
  const rules = isApplicable ? snapshot.rules.filter(({ enabled }) => enabled).map((rule) => openRule(rule)) : []
  const fallback = isApplicable ? defaultDecision(snapshot) : notApplicable(snapshot)
  const plans = new Plans()
  const isTrusted = compileNames({ glob: snapshot.trust_annotations ?? [], regex: [] })
  const named = rules.flatMap(({ rule }) => rule.match.method ?? [])
  const isNamed = compileNames({ glob: named, regex: [] })
  const isLike = compileNames({ glob: named.map(likeness), regex: [] })
  const governed = new Map<string, boolean | 'variant'>()
  const make = (server: string, tool: string, method: string, annotations: Annotations | undefined): Plan => {
    const said = isTrusted(server) === true ? annotations : undefined
    const met = rules.filter((rule) => isMet(rule, method, said))
    return makePlan(snapshot, met, fallback, server, tool)
  }
  return {
    snapshot,
    isApplicable,
    planFor: (server, tool, annotations) =>
      plans.get(server, tool, annotations) ??
      plans.set(server, tool, annotations, make(server, tool, CALL_METHOD, annotations)),
    planForMethod: (server, method) =>
      // No tool has a name with a NUL in it: such calls are refused.
      plans.get(server, `\0${method}`, undefined) ??
      plans.set(server, `\0${method}`, undefined, make(server, method, method, undefined)),
    governs(method) {
      if (named.length === 0) return false
      let answer = governed.get(method)
      if (answer === undefined) {
        answer = isNamed(method) === true || (isLike(likeness(method)) === true && 'variant')
        if (governed.size >= POLICY_PLANS_MAX) governed.clear()
        governed.set(method, answer)
      }
      return answer
    },
  }
}

/** Whether the rule speaks of such requests at all. */
function isMet({ rule, method }: OpenRule, asked: string, said: Annotations | undefined): boolean {
  if (method === null ? asked !== CALL_METHOD : method(asked) === false) return false
  const { annotations } = rule.match
  return annotations === undefined || isAnnotated(annotations, said)
}

/** Plans that were made, for as many tools as a client can be expected to have. */
class Plans {
  #byServer = new Map<string, Map<string, { readonly plan: Plan; readonly annotations: Annotations | undefined }>>()
  #size = 0

  /** A tool of which its server now says something else is planned anew. */
  get(server: string, tool: string, annotations: Annotations | undefined): Plan | undefined {
    const known = this.#byServer.get(server)?.get(tool)
    return known?.annotations === annotations ? known?.plan : undefined
  }

  set(server: string, tool: string, annotations: Annotations | undefined, plan: Plan): Plan {
    if (this.#size >= POLICY_PLANS_MAX) {
      this.#byServer = new Map()
      this.#size = 0
    }
    let ofServer = this.#byServer.get(server)
    if (ofServer === undefined) {
      ofServer = new Map()
      this.#byServer.set(server, ofServer)
    }
    ofServer.set(tool, { plan, annotations })
    this.#size += 1
    return plan
  }
}

function openRule(rule: Rule): OpenRule {
  const { method, server_name, tool_name } = rule.match
  return {
    rule,
    method: method === undefined ? null : compileNames({ glob: method, regex: [] }),
    server: server_name === undefined ? null : compileNames(server_name),
    tool: tool_name === undefined ? null : compileNames(tool_name),
    args: compileArgs(rule.match),
  }
}

function makePlan(
  snapshot: Snapshot,
  rules: readonly OpenRule[],
  fallback: Decision,
  server: string,
  tool: string,
): Plan {
  const { mode, defaults } = snapshot
  const steps: Step[] = []
  const certain = new Set<string>()
  const possible = new Set<string>()
  let isDecided = false
  for (const { rule, server: serverTest, tool: toolTest, args } of rules) {
    if (isDecided && (rule.kind === 'allow' || rule.kind === 'deny')) continue
    const byServer = serverTest === null || serverTest(server)
    const byTool = byServer !== false && (toolTest === null || toolTest(tool))
    if (byServer === false || byTool === false) continue
    const wanted = rule.match.risk_class ?? null
    const isClassed = wanted === null || wanted.some((name) => certain.has(name))
    if (!isClassed && !wanted.some((name) => possible.has(name))) continue
    const isUnknown = byServer === 'unknown' || byTool === 'unknown'
    const hours = rule.match.time?.utc_hours ?? null
    const isCertain = isClassed && !isUnknown && hours === null && args === null
    if (rule.kind === 'tag') {
      for (const name of rule.effect.tag.add_risk_class) (isCertain ? certain : possible).add(name)
      if (isCertain) continue
    }
    const needsHash =
      rule.kind === 'dedupe' || (rule.kind === 'breaker' && rule.effect.breaker.repeat_threshold !== null)
    if (isCertain && (rule.kind === 'allow' || rule.kind === 'deny')) isDecided = true
    const keys = keysFor(rule, server, tool)
    steps.push({
      rule,
      decision: decisionOf(rule, mode),
      onError: errorDecision(rule, mode, isUnknown),
      onAnswer: isAsking(rule)
        ? { allow: answeredDecision(rule, mode, 'allow'), deny: answeredDecision(rule, mode, 'deny') }
        : null,
      onAmbiguous: args === null ? null : ambiguousDecision(rule, mode),
      isUnknown,
      hours,
      classes: isClassed ? null : wanted,
      args,
      ...keys,
      counted: countsOf(rule, keys),
      needsHash,
      isPlain: isCertain && !needsHash,
      isMeter: rule.kind !== 'allow' && rule.kind !== 'deny' && rule.kind !== 'tag',
      isToldEnd: rule.kind === 'dedupe' || (rule.kind === 'breaker' && rule.effect.breaker.error_threshold !== null),
    })
  }
  // Reading is told from the classes that are sure; a tool that may also write is no read tool.
  const isReadTool = certain.has('read_like') && !certain.has('write_like') && !possible.has('write_like')
  const isOpenOnError = defaults.decision_on_error === 'ALLOW' || (defaults.fail_open_read_tools && isReadTool)
  return finishPlan(
    server,
    tool,
    isOpenOnError ? steps.map((step) => ({ ...step, onError: null })) : steps,
    [...certain],
    fallback,
  )
}

function finishPlan(
  server: string,
  tool: string,
  steps: readonly Step[],
  tags: readonly string[],
  fallback: Decision,
): Plan {
  const [first] = steps
  // An allow or deny that holds for every call is the last of its kind, so alone it is the whole answer.
  const isFixed = first === undefined || (steps.length === 1 && isDecisive(first) && isUnconditional(first))
  const decision = first === undefined ? fallback : first.decision
  const dependsOnCall = decision.hint?.suggested_args != null || decision.ask !== undefined
  return {
    server_name: server,
    tool_name: tool,
    isStateful: steps.some((step) => step.key !== ''),
    needsArgsHash: steps.some((step) => step.needsHash),
    needsArgs: steps.some((step) => step.args !== null),
    pathsOf: pathsOf(steps),
    asks: steps.flatMap(({ rule, decision: { ask } }) =>
      ask === undefined ? [] : [{ ruleId: rule.rule_id, ruleHash: ask.rule_hash }],
    ),
    steps,
    tags,
    fallback,
    fixed:
      isFixed && !dependsOnCall ? { decision, counters: NO_READINGS, writes: [], end: null, tags, tripped: [] } : null,
  }
}

function pathsOf(steps: readonly Step[]): Plan['pathsOf'] {
  const all = steps.flatMap(({ args }) => (args === null || args.pathsOf === null ? [] : [args.pathsOf]))
  return all.length === 0 ? null : (args) => all.flatMap((paths) => paths(args))
}

function isAsking(rule: Rule): boolean {
  return rule.kind === 'deny' && rule.effect.action === 'ASK'
}

function isDecisive({ rule }: Step): boolean {
  return rule.kind === 'allow' || rule.kind === 'deny'
}

function isUnconditional(step: Step): boolean {
  return !step.isUnknown && step.hours === null && step.classes === null && step.args === null
}

function keysFor(rule: Rule, server: string, tool: string): Pick<Step, 'key' | 'repeatsKey'> {
  const key = (kind: CounterKind, scope: CounterScope): string => counterKey(kind, rule, scope, server, tool)
  switch (rule.kind) {
    case 'budget':
      return { key: key('budget', rule.effect.budget.scope), repeatsKey: '' }
    case 'rate_limit':
      return { key: key('rate', rule.effect.rate_limit.scope), repeatsKey: '' }
    case 'dedupe':
      return { key: key('dedupe', rule.effect.dedupe.scope), repeatsKey: '' }
    case 'breaker': {
      const { scope, repeat_threshold } = rule.effect.breaker
      return { key: key('errors', scope), repeatsKey: repeat_threshold === null ? '' : key('repeats', scope) }
    }
    case 'allow':
    case 'deny':
    case 'tag':
      return { key: '', repeatsKey: '' }
  }
}

/** At most two things, in the order in which they are read. */
type Counts = readonly [Counted | null, Counted | null]

function countsOf(rule: Rule, { key, repeatsKey }: Pick<Step, 'key' | 'repeatsKey'>): Counts {
  const { rule_id } = rule
  const counts = (counter: Counted['counter'], limit: number | null, of = key): Counted | null =>
    limit === null ? null : { rule_id, counter, limit, key: of }
  switch (rule.kind) {
    case 'budget': {
      const { limit_calls, limit_cost_units } = rule.effect.budget
      return [counts('calls', limit_calls), counts('cost_units', limit_cost_units)]
    }
    case 'rate_limit':
      return [counts('tokens', rule.effect.rate_limit.capacity), null]
    case 'breaker': {
      const { error_threshold, repeat_threshold } = rule.effect.breaker
      return [counts('errors', error_threshold), counts('repeats', repeat_threshold, repeatsKey)]
    }
    case 'dedupe':
      return [counts('duplicates', 1), null]
    case 'allow':
    case 'deny':
    case 'tag':
      return [null, null]
  }
}
