// The schema of a bundle (seed 004 §2): plain data in, a snapshot with every default written out, or the list of what is wrong.
import { canonicalHash, canonicalJson } from '../../canonical/canonical.ts'
import { printable } from '../../ids.ts'
import { POLICY_REGEX_SIZE_MAX, POLICY_RULES_MAX } from '../../limits.ts'
import { Fields } from './fields.ts'
import { compileGlob, normalizeGlob } from '../match/glob.ts'
import type { RegexBudget } from '../match/match.ts'
import type { Problems } from './problems.ts'
import { readRule } from './rules.ts'
import { type Defaults, MODES, type Rule, type Selectors, type Snapshot } from '../types.ts'

/** Reads a bundle. The result means something only where `problems` stayed empty. */
export function readBundle(value: unknown, problems: Problems): Snapshot {
  const fields = new Fields(value, [], problems)
  const content = {
    policy_id: fields.text('policy_id'),
    version: readVersion(fields),
    mode: fields.choice('mode', MODES),
    defaults: readDefaults(fields),
    selectors: readSelectors(fields),
    rules: readRules(fields, problems),
    ...(fields.has('trust_annotations') ? { trust_annotations: readServers(fields) } : {}),
    ...optional('description', fields.optionalText('description')),
    ...optional('owner', fields.optionalText('owner')),
    ...optional('created_at', readTime(fields)),
  }
  const statedHash = fields.optionalText('policy_hash')
  fields.end()
  if (!problems.isEmpty) return { ...content, policy_hash: '' }
  const policyHash = canonicalHash(canonicalJson(content))
  // A compiled snapshot is read again like any bundle. Its hash is a claim, and claims are checked.
  if (statedHash !== undefined && statedHash !== policyHash)
    problems.add(['policy_hash'], `is ${printable(statedHash)}, but the content hashes to ${policyHash}`)
  return { ...content, policy_hash: policyHash }
}

function readVersion(fields: Fields): string {
  const alias = fields.optionalText('policy_version')
  const version = fields.text('version', alias)
  if (alias !== undefined && version !== alias) fields.problem('policy_version', 'differs from version')
  return version
}

function readTime(fields: Fields): string | undefined {
  const text = fields.optionalText('created_at')
  if (text !== undefined && Number.isNaN(Date.parse(text))) fields.problem('created_at', 'is not a time in RFC 3339')
  return text
}

/** Without `defaults` an evaluation that fails blocks: a bundle has to ask for the other. */
function readDefaults(fields: Fields): Defaults {
  const defaults = fields.object('defaults')
  const read = {
    decision_on_error: defaults.choice('decision_on_error', ['ALLOW', 'BLOCK'], 'BLOCK'),
    fail_open_read_tools: defaults.flag('fail_open_read_tools', false),
    decision_on_no_match: defaults.choice('decision_on_no_match', ['ALLOW', 'BLOCK'], 'ALLOW'),
  }
  defaults.end()
  return read
}

function readSelectors(fields: Fields): Selectors {
  const selectors = fields.object('selectors')
  const listed = (from: Fields, name: string): Record<string, string[]> =>
    from.has(name) ? { [name]: from.texts(name) } : {}
  const read = {
    ...listed(selectors, 'env'),
    ...listed(selectors, 'agent_id'),
    ...listed(selectors, 'client'),
    ...(selectors.has('workload') ? { workload: readWorkload(selectors.object('workload'), listed) } : {}),
  }
  selectors.end()
  return read
}

function readWorkload(
  workload: Fields,
  listed: (from: Fields, name: string) => Record<string, string[]>,
): NonNullable<Selectors['workload']> {
  const read = {
    ...listed(workload, 'namespace'),
    ...listed(workload, 'service_account'),
    ...listed(workload, 'repo'),
    ...listed(workload, 'branch'),
    ...(workload.has('labels') ? { labels: readLabels(workload) } : {}),
  }
  workload.end()
  return read
}

function readServers(fields: Fields): string[] {
  return fields.texts('trust_annotations').map((glob) => {
    const test = compileGlob(glob)
    if (typeof test !== 'function') fields.problem('trust_annotations', `${glob} is not a glob: ${test.fault}`)
    return normalizeGlob(glob)
  })
}

function readLabels(workload: Fields): Record<string, string> {
  return workload.entries('labels', (item, path) => {
    if (typeof item === 'string') return item
    workload.problem('labels', `${String(path.at(-1))} must be a text`)
    return ''
  })
}

function readRules(fields: Fields, problems: Problems): Rule[] {
  const value = fields.raw('rules')
  if (Array.isArray(value) && value.length === 0) return []
  if (Array.isArray(value) && value.length > POLICY_RULES_MAX) {
    fields.problem('rules', `has ${value.length} rules, at most ${POLICY_RULES_MAX} are taken`)
    return []
  }
  const regexes: RegexBudget = { left: POLICY_REGEX_SIZE_MAX }
  const places = new Map<string, number>()
  return fields.list('rules', (item, path) => {
    const rule = readRule(new Fields(item, path, problems), problems, regexes)
    const first = places.get(rule.rule_id)
    if (first !== undefined && rule.rule_id !== '')
      problems.add([...path, 'rule_id'], `${printable(rule.rule_id)} is the id of rules[${first}] already`)
    else places.set(rule.rule_id, places.size)
    return rule
  })
}

function optional<K extends string>(name: K, value: string | undefined): { readonly [key in K]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in K]: string })
}
