// Keys of counters: kind, rule, and what its scope counts over.
import type { Rule, CounterScope } from '../types.ts'

export type CounterKind = 'budget' | 'rate' | 'errors' | 'repeats' | 'dedupe'

/**
 * A counter belongs to its rule's id and scope: whatever else of the rule is edited, what was spent stays spent.
 * `repeats` and `dedupe` get the hash of the arguments appended. Lengths before names, because a name may contain anything.
 */
export function counterKey(kind: CounterKind, rule: Rule, scope: CounterScope, server: string, tool: string): string {
  const over = scope === 'run' ? 'run' : scope === 'tool' ? `tool ${tool}` : `server ${server.length} ${server} ${tool}`
  return `${kind} ${rule.rule_id.length} ${rule.rule_id} ${over} `
}

/** Budgets and buckets: to forget one would be to refill it. */
export function isLasting(key: string): boolean {
  const first = key.charCodeAt(0)
  return first === 0x62 || (first === 0x72 && key.charCodeAt(1) === 0x61)
}

export function isRepeats(key: string): boolean {
  return key.startsWith('repeats ')
}

export function isDedupe(key: string): boolean {
  return key.startsWith('dedupe ')
}
