// heimdall policy explain: what one call would get, and what each rule has to do with it.
import { canonicalHash } from '../../../canonical/canonical.ts'
import { EXIT, HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import { explainCall, type Explanation } from '../../../policy/explain.ts'
import { MemoryCounters } from '../../../policy/memory-counters.ts'
import { openPolicy } from '../../../policy/plan.ts'
import type { CallFacts, Identity, Snapshot } from '../../../policy/types.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { policyExplain } from '../../table/policy.ts'
import { loadSnapshot } from './file.ts'

export const run: Run<typeof policyExplain> = async (context, { args, flags }) => {
  const snapshot = await loadSnapshot(context, args.file)
  const identity: Identity = {
    env: flags.env,
    agent_id: flags['agent-id'],
    client: flags.client,
    ...(flags.workload === undefined ? {} : { workload: readObject('--workload', flags.workload) }),
  }
  const wallMs = flags.at === undefined ? context.clock.wallMs() : readTime(flags.at)
  const call: CallFacts =
    flags.args === 'uninspectable'
      ? { args: 'uninspectable', args_hash: '', wallMs }
      : { args: readObject('--args', flags.args), args_hash: canonicalHash(flags.args), wallMs }
  const explanation = explainCall(
    openPolicy(snapshot, identity),
    flags.server,
    flags.tool,
    call,
    new MemoryCounters(),
    wallMs,
  )
  const { policy_id, version, policy_hash, mode } = snapshot
  return {
    data: { ...explanation, policy: { policy_id, policy_version: version, policy_hash }, mode },
    text: textOf(snapshot, explanation, context.style),
    ...(flags['exit-code'] === true && explanation.decision.action !== 'ALLOW' ? { exit: EXIT.denied } : {}),
  }
}

function textOf(
  snapshot: Snapshot,
  { decision, tags, rules }: Explanation,
  style: Parameters<typeof renderTable>[0],
): string {
  const { action, rule_id, reason_code, summary, enforced, hint, backoff_ms } = decision
  const lines = [
    `${action}${enforced ? '' : ' (not enforced: mode observe)'} by ${rule_id ?? 'the default'}: ${reason_code}, ${summary}`,
    ...(backoff_ms === undefined ? [] : [`back off ${backoff_ms} ms`]),
    ...(hint === undefined ? [] : [`hint: ${hint.hint_text}`]),
    ...(hint?.suggested_args == null ? [] : [`suggested arguments: ${JSON.stringify(hint.suggested_args)}`]),
    `policy ${snapshot.policy_id} ${snapshot.version}, mode ${snapshot.mode}${tags.length === 0 ? '' : `, classes ${tags.join(', ')}`}`,
  ]
  const rows = rules.map(({ rule_id, kind, took_part, note }) => [took_part ? '*' : '-', rule_id, kind, note])
  return [...lines, ...(rows.length === 0 ? [] : [renderTable(style, ['HIT', 'RULE', 'KIND', 'WHY'], rows)])].join('\n')
}

function readObject(flag: string, text: string): Record<string, never> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new HeimdallError('USAGE', `${flag} is not JSON: ${printable(text)}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HeimdallError('USAGE', `${flag} takes a JSON object, got ${printable(text)}`)
  return value as Record<string, never>
}

function readTime(text: string): number {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new HeimdallError('USAGE', `--at takes a time in RFC 3339, got ${printable(text)}`)
  return ms
}
