// Why a call gets the decision it gets, rule by rule.
import { isAnnotated } from './annotations.ts'
import { type Notice, decide } from './decide.ts'
import { writtenLocations } from './locations.ts'
import { compileNames } from './names.ts'
import { CALL_METHOD, type Policy } from './plan.ts'
import type { CallFacts, Counters, Decision, Rule } from './types.ts'

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
}

export function explainCall(
  policy: Policy,
  serverName: string,
  toolName: string,
  call: CallFacts,
  counters: Counters,
  nowMs: number,
): Explanation {
  const plan = policy.planFor(serverName, toolName)
  const { pathsOf } = plan
  const isRead = pathsOf !== null && typeof call.args === 'object' && call.locations === undefined
  const facts = isRead ? { ...call, locations: writtenLocations(pathsOf(call.args)) } : call
  const heard = new Map<string, Parameters<Notice>[1]>()
  const { decision, tags } = decide(plan, facts, counters, nowMs, ({ rule }, what) => heard.set(rule.rule_id, what))
  const rules = policy.snapshot.rules.map((rule): RuleNote => {
    const what = heard.get(rule.rule_id)
    const { rule_id, kind } = rule
    const isSure =
      what === undefined && rule.kind === 'tag' && rule.effect.tag.add_risk_class.every((name) => tags.includes(name))
    const leftOut = what === undefined ? whyLeftOut(policy, rule, serverName, toolName, tags) : null
    if (leftOut !== null && !(isSure && leftOut === NOT_ASKED))
      return { rule_id, kind, took_part: false, note: leftOut }
    return {
      rule_id,
      kind,
      took_part: what !== 'no match',
      note: noteOf(rule, what ?? 'match', decision.rule_id === rule_id),
    }
  })
  return { decision, tags, rules }
}

const NOT_ASKED = 'is not asked: a rule above decides every call of this tool'

/** The plan has dropped it: for its names, its classes, or because the question was closed. */
function whyLeftOut(policy: Policy, rule: Rule, server: string, tool: string, tags: readonly string[]): string | null {
  if (!policy.isApplicable) return 'the selectors do not name this run'
  if (!rule.enabled) return 'is disabled'
  const { method, server_name, tool_name, risk_class, annotations } = rule.match
  if (method !== undefined && !compileNames({ glob: method, regex: [] })(CALL_METHOD)) return 'names other requests'
  if (annotations !== undefined && !isAnnotated(annotations, undefined))
    return 'asks what the server says of the tool; here nothing is known'
  if (server_name !== undefined && compileNames(server_name)(server) === false) return 'names other servers'
  if (tool_name !== undefined && compileNames(tool_name)(tool) === false) return 'names other tools'
  if (risk_class !== undefined && !risk_class.some((name) => tags.includes(name)))
    return `wants ${risk_class.join(' or ')}, and no rule above says that of the call`
  return NOT_ASKED
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
