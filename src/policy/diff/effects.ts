// What two policies say of the same calls, each taken as the first of its run.
import { canonicalHash, canonicalJson } from '../../canonical/canonical.ts'
import { decide } from '../decide/decide.ts'
import { MemoryCounters } from '../decide/memory-counters.ts'
import { openPolicy, type Policy } from '../decide/plan.ts'
import { writtenLocations } from '../match/locations.ts'
import { classifyTool } from '../tool-kind.ts'
import type { Decision, Severity, Snapshot, Subject } from '../types.ts'
import type { Probe } from './probes.ts'

export interface Effect {
  readonly severity: Severity
  readonly server_name: string
  readonly tool_name: string
  readonly args: Probe['args']
  readonly source: Probe['source']
  readonly before: Said
  readonly after: Said
  readonly reason: string
}

type Said = Pick<Decision, 'action' | 'rule_id' | 'reason_code' | 'enforced'>

/** Selectors are compared by themselves: here both policies are asked as if they were for this run. */
const ANYBODY: Subject = { env: 'unknown', agent_id: 'unknown', client: 'unknown' }

export function effectsOf(before: Snapshot, after: Snapshot, probes: readonly Probe[], nowMs: number): Effect[] {
  const [old, now] = [before, after].map((snapshot) => openPolicy({ ...snapshot, selectors: {} }, ANYBODY)) as [
    Policy,
    Policy,
  ]
  return probes.flatMap((probe): Effect[] => {
    const was = saidOf(old, probe, nowMs)
    const is = saidOf(now, probe, nowMs)
    const judged = judge(was, is, probe)
    if (judged === null) return []
    const { server: server_name, tool: tool_name, args, source } = probe
    return [{ ...judged, server_name, tool_name, args, source, before: was, after: is }]
  })
}

function saidOf(policy: Policy, { server, tool, annotations, args }: Probe, wallMs: number): Said {
  const plan = policy.planFor(server, tool, annotations)
  const locations = writtenLocations(plan.pathsOf === null ? [] : plan.pathsOf(args))
  const args_hash = canonicalHash(canonicalJson(args))
  const { decision } = decide(plan, { wallMs, args, args_hash, locations }, new MemoryCounters(), wallMs)
  const { action, rule_id, reason_code, enforced } = decision
  return { action, rule_id, reason_code, enforced }
}

function judge(was: Said, is: Said, { tool, annotations }: Probe): Pick<Effect, 'severity' | 'reason'> | null {
  const passed = was.action === 'ALLOW' || !was.enforced
  const passes = is.action === 'ALLOW' || !is.enforced
  if (passed && passes) return null
  if (passed)
    return { severity: 'warn', reason: isQuestion(is) ? 'a person is asked about it now' : 'it is refused now' }
  if (!passes) {
    if (was.action === is.action && was.reason_code === is.reason_code) return null
    if (isQuestion(is)) return { severity: 'warn', reason: 'it was refused, and a person may let it pass now' }
    return { severity: 'info', reason: 'it is refused otherwise' }
  }
  const { kind, why } = classifyTool(tool, annotations)
  const pass = isQuestion(was) ? 'it passes now without a question' : 'it passes now'
  if (kind === 'destroys') return { severity: 'critical', reason: `${pass}, and ${why}` }
  if (kind === 'reads') return { severity: 'info', reason: `${pass}; ${why}` }
  return { severity: 'warn', reason: `${pass}; ${why}` }
}

function isQuestion({ reason_code }: Said): boolean {
  return reason_code === 'APPROVAL_REQUIRED'
}
