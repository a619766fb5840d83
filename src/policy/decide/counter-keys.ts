// Keys of counters: the kind, and a hash of the rule and of what its scope counts over.
import { createHash } from 'node:crypto'
import type { Rule, CounterScope } from '../types.ts'

export type CounterKind = 'budget' | 'rate' | 'errors' | 'repeats' | 'dedupe'

/** Half of a SHA-256 would do as well; 80 bits tell the counters of one run apart. */
const HASH_CHARS = 20

/**
 * A counter belongs to its rule's id and scope: whatever else of the rule is edited, what was spent stays spent. Names are
 * hashed, because keys are written to the record and a tool may be named like a secret. Lengths before names, because a
 * name may contain anything.
 */
export function counterKey(kind: CounterKind, rule: Rule, scope: CounterScope, server: string, tool: string): string {
  const over = scope === 'run' ? 'run' : scope === 'tool' ? `tool ${tool}` : `server ${server.length} ${server} ${tool}`
  const hash = createHash('sha256').update(`${rule.rule_id.length} ${rule.rule_id} ${over}`).digest('hex')
  return `${kind} ${hash.slice(0, HASH_CHARS)}`
}

/** The first word of a key. */
export const kindOfKey = (key: string): string => key.slice(0, key.indexOf(' '))

/** Budgets and buckets: to forget one would be to refill it. */
export function isLasting(key: string): boolean {
  return key.startsWith('budget ') || key.startsWith('rate ')
}

export function isRepeats(key: string): boolean {
  return key.startsWith('repeats ')
}

export function isDedupe(key: string): boolean {
  return key.startsWith('dedupe ')
}
