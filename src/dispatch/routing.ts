// Which worker gets a task: who can, then who is best, then one. Pure; every answer says why, for each worker.
import type { Worker } from '../coordination/dispatched.ts'
import { type Announce, MODEL_TIERS } from './messages.ts'
import type { Needs } from './needs.ts'

/** A worker as routing sees it. */
export interface Candidate {
  readonly workerId: string
  readonly speaks: Worker['speaks']
  readonly state: Worker['state']
  readonly profile: Announce
  /** Attempts that are out with it and that its last announce cannot know of, with those that it announced. */
  readonly active: number
  /** Claims of its agents that touch what the task is about. */
  readonly near: number
}

export interface WorkerVerdict {
  readonly workerId: string
  /** What keeps it from the task; empty for those that can. */
  readonly lacks: readonly { readonly code: string; readonly text: string }[]
  /** Lower is better, the first difference decides: tier, nearness, load. Null for those that cannot. */
  readonly score: readonly [tier: number, far: number, load: number] | null
}

export interface Route {
  readonly chosen: string | undefined
  /** In order of preference, those that cannot at the end. */
  readonly verdicts: readonly WorkerVerdict[]
}

export function route(needs: Needs, candidates: readonly Candidate[]): Route {
  const verdicts = candidates.map((candidate) => judge(needs, candidate)).sort(byScore)
  const best = verdicts[0]
  return { chosen: best?.score === null ? undefined : best?.workerId, verdicts }
}

/** The one that `route` chooses, without a word on the others: asked for every queued kind of task, over every worker. */
export function choose(needs: Needs, candidates: readonly Candidate[]): string | undefined {
  let best: { id: string; score: NonNullable<WorkerVerdict['score']> } | undefined
  for (const candidate of candidates) {
    if (lackOf(needs, candidate) !== undefined) continue
    const score = scoreOf(candidate)
    if (
      best === undefined ||
      compare(score, best.score) < 0 ||
      (compare(score, best.score) === 0 && candidate.workerId < best.id)
    )
      best = { id: candidate.workerId, score }
  }
  return best?.id
}

function judge(needs: Needs, candidate: Candidate): WorkerVerdict {
  const lacks = [...lacksOf(needs, candidate)]
  return { workerId: candidate.workerId, lacks, score: lacks.length === 0 ? scoreOf(candidate) : null }
}

const lackOf = (needs: Needs, candidate: Candidate): unknown => lacksOf(needs, candidate).next().value

function* lacksOf(needs: Needs, candidate: Candidate): Generator<WorkerVerdict['lacks'][number], undefined> {
  const { profile, speaks, state } = candidate
  if (state === 'gone') yield { code: 'gone', text: 'its lease has ended' }
  if (state === 'draining') yield { code: 'draining', text: 'it takes no more tasks' }
  if (needs.only !== null && needs.only !== candidate.workerId)
    yield { code: 'not_named', text: `the task is for ${needs.only}` }
  if (needs.not.includes(candidate.workerId)) yield { code: 'tried', text: 'it has refused this task' }
  const isHere = needs.repository.length === 0 || needs.repository.some((id) => profile.repository.includes(id))
  // One that announces no repository at all may still be asked by name.
  if (!isHere && !(needs.only === candidate.workerId && profile.repository.length === 0))
    yield {
      code: 'repository',
      text: `it does not announce this repository${profile.repository.length === 0 ? `; heimdall task add --worker ${candidate.workerId} sends the task there anyway` : ''}`,
    }
  // Nothing that a plain peer says of itself can be relied on.
  if (speaks === 'plain' && (needs.mcp.length > 0 || needs.tools.length > 0))
    yield { code: 'plain', text: 'it does not speak the extension, and the task requires something' }
  else yield* lackingParts(needs, profile)
  if (needs.tier !== null && tierRank(profile.worker.model_tier) < MODEL_TIERS.indexOf(needs.tier))
    yield { code: 'model_tier', text: `its tier is ${profile.worker.model_tier}, at least ${needs.tier} is needed` }
  if (profile.worker.context_window > 0 && profile.worker.context_window < needs.window)
    yield {
      code: 'context_too_small',
      text: `its window has ${profile.worker.context_window} tokens, the brief takes up to ${needs.window}`,
    }
  if (needs.writes && !profile.worktrees && !profile.session.repo_state.clean)
    yield { code: 'repo_dirty', text: 'its tree has uncommitted changes, and it makes no worktrees' }
  if (candidate.active >= profile.max_concurrent)
    yield { code: 'max_concurrent', text: `${candidate.active} of ${profile.max_concurrent} tasks run` }
  return undefined
}

function* lackingParts(
  needs: Needs,
  { capabilities, mcp_health: health }: Announce,
): Generator<WorkerVerdict['lacks'][number]> {
  for (const server of needs.mcp)
    if (!capabilities.mcp_servers.includes(server))
      yield { code: 'mcp_unknown', text: `it has no MCP server ${server}` }
    else if (health[server] !== 'ok')
      yield { code: 'mcp_unavailable', text: `MCP server ${server}: ${health[server] ?? 'unknown'}` }
  for (const tool of needs.tools)
    if (!capabilities.tools.includes(tool)) yield { code: 'tool_missing', text: `it has no tool ${tool}` }
}

/** An unknown tier is below all: it suits nobody who asks for one. */
const tierRank = (tier: string): number => MODEL_TIERS.findIndex((one) => one === tier)

/** Of those that suit, the cheapest; an unknown tier costs as much as the dearest. */
function scoreOf({ profile, active, near }: Candidate): NonNullable<WorkerVerdict['score']> {
  const rank = tierRank(profile.worker.model_tier)
  return [rank === -1 ? MODEL_TIERS.length : rank, near > 0 ? 0 : 1, active / profile.max_concurrent]
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function byScore(one: WorkerVerdict, other: WorkerVerdict): number {
  if (one.score === null || other.score === null)
    return Number(one.score === null) - Number(other.score === null) || byId(one, other)
  return compare(one.score, other.score) || byId(one, other)
}

const byId = (one: WorkerVerdict, other: WorkerVerdict): number => (one.workerId < other.workerId ? -1 : 1)
