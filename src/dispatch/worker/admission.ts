// May this worker begin the task? Asked before anything is spent; the answer is for the orchestrator to read.
import { DISPATCH_BYTES_PER_TOKEN } from '../../limits.ts'
import { blockedBy } from '../blocked.ts'
import { type Announce, type Blocked, briefBytes, MODEL_TIERS, type TaskDispatch } from '../messages.ts'

export interface Refusal {
  readonly blocked: Blocked
  readonly reason: string
}

/** `profile` is of this moment: what was announced may have changed since. */
export function refusalOf(contract: TaskDispatch, profile: Announce, nowMs: number): Refusal | undefined {
  const { requirements, task, deadline } = contract
  if (deadline !== null && Date.parse(deadline) <= nowMs)
    return { blocked: blockedBy('deadline_impossible'), reason: `the deadline ${deadline} has passed` }
  if (task.token_budget === 0) return { blocked: blockedBy('budget_too_small'), reason: 'a budget of 0 tokens' }
  const { mcp_health: health, capabilities, worker } = profile
  const { repository } = requirements
  if (repository.length > 0 && !repository.some((id) => profile.repository.includes(id)))
    return { blocked: blockedBy('wrong_repository'), reason: 'the task is for another repository' }
  const unmet = requirements.required_mcp.filter((name) => health[name] !== 'ok')
  if (unmet.length > 0) {
    // One that is only slow may be there in a moment; one that is unknown or dead will not.
    const isPassing = unmet.every((name) => health[name] === 'timeout')
    return {
      blocked: blockedBy(isPassing ? 'mcp_timeout' : 'mcp_unavailable', unmet),
      reason: `required MCP servers: ${unmet.map((name) => `${name} (${capabilities.mcp_servers.includes(name) ? (health[name] ?? 'unknown') : 'not there'})`).join(', ')}`,
    }
  }
  const missing = requirements.required_capabilities.filter((name) => !capabilities.tools.includes(name))
  if (missing.length > 0)
    return { blocked: blockedBy('tool_missing', missing), reason: `required capabilities: ${missing.join(', ')}` }
  const { min_model_tier: tier } = requirements
  if (tier !== null && MODEL_TIERS.findIndex((one) => one === worker.model_tier) < MODEL_TIERS.indexOf(tier))
    return {
      blocked: blockedBy('model_tier', [tier]),
      reason: `the tier is ${worker.model_tier}, at least ${tier} is required`,
    }
  const tokens = Math.ceil(briefBytes(contract) / DISPATCH_BYTES_PER_TOKEN)
  if (worker.context_window > 0 && tokens > worker.context_window)
    return {
      blocked: blockedBy('context_too_small'),
      reason: `the brief takes about ${tokens} tokens, the window has ${worker.context_window}`,
    }
  if (requirements.writes && !profile.worktrees && !profile.session.repo_state.clean)
    return profile.running.length > 0
      ? { blocked: blockedBy('repo_locked', [], 5), reason: 'a task that runs here has uncommitted changes' }
      : { blocked: blockedBy('repo_dirty'), reason: 'the tree has uncommitted changes' }
  return undefined
}

/** What was looked at before the task was taken: goes back with the acceptance. */
export interface Checks {
  readonly required_mcp: Readonly<Record<string, string>>
  readonly required_capabilities: readonly string[]
  readonly model_tier: string
  readonly repo_clean: boolean
  readonly worktree: boolean
}

export const checksOf = ({ requirements }: TaskDispatch, profile: Announce): Checks => ({
  required_mcp: Object.fromEntries(
    requirements.required_mcp.map((name) => [name, profile.mcp_health[name] ?? 'unknown']),
  ),
  required_capabilities: requirements.required_capabilities,
  model_tier: profile.worker.model_tier,
  repo_clean: profile.session.repo_state.clean,
  worktree: requirements.writes && profile.worktrees,
})
