// Why a call gets the decision it gets, rule by rule.
import { isAnnotated } from '../match/annotations.ts'
import { type Notice, decide, settle } from './decide.ts'
import { writtenLocations } from '../match/locations.ts'
import { MemoryCounters } from './memory-counters.ts'
import { compileNames } from '../match/names.ts'
import { readingOf, type ShellReading } from '../match/shell.ts'
import { CALL_METHOD, type Plan, type Policy } from './plan.ts'
import type { Annotations, CallFacts, CallResult, Decision, Rule } from '../types.ts'

export interface RuleNote {
  readonly rule_id: string
  readonly kind: Rule['kind']
  /** Whether the rule had a part in it: matched, counted, or could not be evaluated. */
  readonly took_part: boolean
  readonly note: string
}

export interface Explanation {
  readonly decision: Decision
  readonly tags: readonly string[]
  readonly rules: readonly RuleNote[]
  /** Of a call with a shell command line, what was parsed of it. */
  readonly shell?: ShellReading
}

/** A request as rules see it, before anything is looked up. */
export interface ExplainedCall extends Omit<CallFacts, 'approvals'> {
  readonly server: string
  /** Of a request that is no tool call its method. */
  readonly tool: string
  /** `tools/call`, or another one that rules name. */
  readonly method: string
  /** What the server says of the tool; undefined when it has said nothing. */
  readonly annotations: Annotations | undefined
  /** What a person has said: of one rule by its id, or with `*` of every rule that asks. */
  readonly answers: ReadonlyMap<string, 'allow' | 'deny'>
  /** How many calls just like it the run has seen before, and how those that passed went. */
  readonly before: { readonly times: number; readonly result: CallResult }
}

export function explainCall(policy: Policy, call: ExplainedCall, nowMs: number): Explanation {
  const counters = new MemoryCounters()
  const { server, tool, method, annotations } = call
  const isCall = method === CALL_METHOD
  const plan = isCall ? policy.planFor(server, tool, annotations) : policy.planForMethod(server, method)
  const { pathsOf } = plan
  const isRead = pathsOf !== null && typeof call.args === 'object' && call.locations === undefined
  const approvals = answersTo(plan, call.answers)
  const facts = { ...call, approvals, ...(isRead ? { locations: writtenLocations(pathsOf(call.args)) } : {}) }
  for (let time = 0; time < call.before.times; time += 1) {
    const { writes, end } = decide(plan, facts, counters, nowMs)
    counters.apply(writes, nowMs)
    if (end !== null) counters.apply(settle(end, call.before.result, counters, nowMs), nowMs)
  }
  const heard = new Map<string, Parameters<Notice>[1]>()
  const { decision, tags } = decide(plan, facts, counters, nowMs, ({ rule }, what) => heard.set(rule.rule_id, what))
  const rules = policy.snapshot.rules.map((rule): RuleNote => {
    const what = heard.get(rule.rule_id)
    const { rule_id, kind } = rule
    const isSure =
      what === undefined && rule.kind === 'tag' && rule.effect.tag.add_risk_class.every((name) => tags.includes(name))
    const leftOut = what === undefined ? whyLeftOut(policy, rule, call, tags) : null
    if (leftOut !== null && !(isSure && leftOut === NOT_ASKED))
      return { rule_id, kind, took_part: false, note: leftOut }
    return {
      rule_id,
      kind,
      took_part: what !== 'no match',
      note: noteOf(rule, what ?? 'match', decision.rule_id === rule_id),
    }
  })
  const shell = typeof call.args === 'object' ? readingOf(call.args) : undefined
  return { decision, tags, rules, ...(shell === undefined ? {} : { shell }) }
}

const NOT_ASKED = 'is not asked: a rule above decides every call of this tool'

/** The plan has dropped it: for its names, its classes, or because the question was closed. */
function whyLeftOut(policy: Policy, rule: Rule, call: ExplainedCall, tags: readonly string[]): string | null {
  if (!policy.isApplicable) return 'the selectors do not name this run'
  if (!rule.enabled) return 'is disabled'
  const { method = [CALL_METHOD], server_name, tool_name, risk_class, annotations } = rule.match
  if (compileNames({ glob: method, regex: [] })(call.method) === false) return 'names other requests'
  if (annotations !== undefined) {
    const isBelieved = compileNames({ glob: policy.snapshot.trust_annotations ?? [], regex: [] })(call.server) === true
    if (!isAnnotated(annotations, isBelieved ? call.annotations : undefined)) return annotationNote(call, isBelieved)
  }
  if (server_name !== undefined && compileNames(server_name)(call.server) === false) return 'names other servers'
  if (tool_name !== undefined && compileNames(tool_name)(call.tool) === false) return 'names other tools'
  if (risk_class !== undefined && !risk_class.some((name) => tags.includes(name)))
    return `wants ${risk_class.join(' or ')}, and no rule above says that of the call`
  return NOT_ASKED
}

function annotationNote({ annotations }: ExplainedCall, isBelieved: boolean): string {
  if (annotations === undefined) return 'asks what the server says of the tool; here nothing is known'
  return isBelieved
    ? 'asks what the server says of the tool, and it says otherwise'
    : 'asks what the server says of the tool, and trust_annotations does not name the server'
}

function answersTo({ asks }: Plan, answers: ExplainedCall['answers']): ReadonlyMap<string, 'allow' | 'deny'> {
  return new Map(
    asks.flatMap(({ ruleId }) => {
      const answer = answers.get(ruleId) ?? answers.get('*')
      return answer === undefined ? [] : [[ruleId, answer] as const]
    }),
  )
}

function noteOf(rule: Rule, what: Parameters<Notice>[1], isDeciding: boolean): string {
  const suffix = isDeciding ? ', and decides' : ''
  switch (what) {
    case 'no match':
      return 'its arguments, classes or hours do not match'
    case 'error':
      return `cannot be evaluated without the arguments${suffix}`
    case 'ambiguous':
      return `looks at arguments that can be read in two ways${suffix}`
    case 'over limit':
      return `is over its limit${suffix}`
    case 'within limit':
      return 'counts this call and is within its limit'
    case 'match':
      if (rule.kind === 'tag') return `tags the call ${rule.effect.tag.add_risk_class.join(', ')}`
      return isDeciding ? 'matches, and decides' : 'matches; something else decides'
  }
}
