// Keys of counters: kind, rule, fingerprint of its effect, and what its scope counts over.
import { canonicalHash, canonicalJson } from '../canonical/canonical.ts'
import type { Rule, Scope } from './types.ts'

export type CounterKind = 'budget' | 'rate' | 'errors' | 'repeats' | 'dedupe'

/**
 * A reload keeps a counter exactly when rule id and effect are as before. `repeats` and `dedupe` get the hash of the
 * arguments appended. Lengths before names, because a name may contain anything.
 */
export function counterKey(kind: CounterKind, rule: Rule, scope: Scope, server: string, tool: string): string {
  const over = scope === 'run' ? 'run' : scope === 'tool' ? `tool ${tool}` : `server ${server.length} ${server} ${tool}`
  return `${kind} ${rule.rule_id.length} ${rule.rule_id} ${fingerprint(rule)} ${over} `
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

const fingerprints = new WeakMap<Rule, string>()

function fingerprint(rule: Rule): string {
  const known = fingerprints.get(rule)
  if (known !== undefined) return known
  const made = canonicalHash(canonicalJson(rule.effect)).slice(0, 16)
  fingerprints.set(rule, made)
  return made
}
