// Agents as cards: what a look at the fleet says of each, in the words of the contract. Nothing is found out here.
import { basename } from 'node:path'
import { type Fleet, type FleetAgent, hasEnded, type HeldClaim, type ModelCost } from '../../spine/fleet/fleet.ts'
import { costOf } from '../../spine/fleet/model-cost.ts'
import type { AgentCard, CardState, CardEvidence, ClaimCard, AgentProblem, Tokens, FleetTotals } from '../contract.ts'
import { cardState } from '../contract.ts'
import type { LastRun } from './last-runs.ts'
import type { SessionPlace } from '../terminals/screens.ts'

/** Of what a look does not know. */
export interface Beside {
  /** How many files are not committed, by folder. */
  readonly uncommitted: ReadonlyMap<string, number>
  /** Number of the last entry of coordination. */
  readonly seq: number
  /** Of agents that are over. */
  readonly lastRuns: ReadonlyMap<string, LastRun>
}

/** What a page asks for its terminal by: two machines may each have a session of one name. */
export function shownSession({ session_id: id, elsewhere }: FleetAgent): string | null {
  if (id !== null || elsewhere === null || elsewhere.session_id === null) return id
  return `${elsewhere.session_id}@${elsewhere.machine}`
}

/** Whose screens there are to see, by the name that a page has for them: of one that ended, the last that it showed. */
export function screenPlaces({ agents }: Fleet, socketDir: string): SessionPlace[] {
  return agents.flatMap(({ agent_id: agent, session_id: id, socket_dir: dir, state }) => {
    if (id !== null && dir !== null) return [{ id, dir }]
    return hasEnded(state) ? [{ id: agent, dir: socketDir, isOver: true }] : []
  })
}

export const stateWord = (state: FleetAgent['state']): CardState => cardState.parse(state.replace(' ', '_'))

export function cardOf(agent: FleetAgent, fleet: Fleet, { uncommitted, lastRuns }: Beside): AgentCard {
  const state = stateWord(agent.state)
  const last = lastRuns.get(agent.agent_id)
  const cost = agent.cost ?? (last?.cost == null ? null : costOf(last.cost))
  const evidence = evidenceOf(agent.evidence, agent.since)
  const task = agent.task ?? last?.task ?? null
  return {
    agent_id: agent.agent_id,
    haid: agent.haid,
    role: agent.role,
    // Where it lies says nothing on a card.
    host: basename(agent.program ?? agent.client ?? ''),
    state,
    evidence,
    problems: problemsOf(agent, evidence),
    liveness: agent.liveness,
    task: task === null ? null : { task_id: task.id, title: task.title },
    branch: agent.branch,
    uncommitted: agent.cwd === null ? null : (uncommitted.get(agent.cwd) ?? null),
    worktree: agent.cwd,
    last_line: agent.last_line,
    claims: agent.claims.map((claim) => claimOf(claim, agent)),
    tokens: spentOf(cost, agent.started_at) ?? tokensOf(agent.tokens, agent.started_at),
    calls: agent.calls?.total ?? last?.calls.total ?? null,
    session_id: shownSession(agent),
    machine: agent.elsewhere?.machine ?? null,
    run_id: agent.run_id ?? last?.run_id ?? null,
    started_at: agent.started_at,
    ended_at: hasEnded(agent.state) ? agent.since : null,
    exit_code: agent.exit_code,
    guard: agent.guard === null ? null : { ...agent.guard, by: [...agent.guard.by] },
    wait_ids: fleet.waits.filter(({ agent_id: id }) => id === agent.agent_id).map(({ id }) => id),
    waited: agent.run_id === null ? null : { ...agent.waited, source: 'recorded by the watcher' },
    command: commandOf(agent),
  }
}

function commandOf({ agent_id: id, session_id: session, elsewhere }: FleetAgent): string {
  if (session !== null) return `hm attach ${session} --read-only`
  if (elsewhere?.session_id != null) return `hm --host ${elsewhere.machine} attach ${elsewhere.session_id} --read-only`
  return `heimdall agent show ${id}`
}

export const evidenceOf = ({ source, seen }: FleetAgent['evidence'], since: string | null): CardEvidence => ({
  source,
  detail: seen,
  since,
})

/** States that are troubles stand among them under their own name, so that a page can list both in one place. */
function problemsOf(
  { state, evidence: { seen }, repeats, is_over: isOver }: FleetAgent,
  evidence: CardEvidence,
): AgentProblem[] {
  if (state !== 'looping' && state !== 'stuck' && state !== 'lost' && state !== 'stale') return []
  const kind = state === 'stale' && isOver ? 'dead' : state
  return [{ kind, text: seen, count: repeats, evidence }]
}

const claimOf = (claim: HeldClaim, { agent_id, haid, liveness }: FleetAgent): ClaimCard => ({
  ...claim,
  scopes: [...claim.scopes],
  agent_id,
  haid: haid ?? '',
  liveness,
})

const TRANSCRIPTS = 'transcripts of its host'

/** What its models have spent, where its host tells. A model without a price is in no dollar. */
export function spentOf(cost: ModelCost | null, since: string | null): Tokens | null {
  if (cost === null || cost.tokens === 0) return null
  const { tokens, cached_reads: cached, usd, unpriced, prices } = cost
  return {
    total: tokens,
    cached,
    uncached: Math.max(0, tokens - cached),
    cost_usd: usd === 0 ? null : usd,
    source: `${TRANSCRIPTS}${unpriced.length === 0 ? '' : `, without a price for ${unpriced.join(', ')}`}`,
    prices_of: usd === 0 ? null : prices,
    since,
  }
}

/** What is shown of each, added up: also of those that are over. */
function spentByAll(cards: readonly AgentCard[]): Tokens | null {
  const all = cards.flatMap(({ tokens }) => (tokens?.source.startsWith(TRANSCRIPTS) === true ? [tokens] : []))
  const [first] = all
  if (first === undefined) return null
  const sum = (of: (tokens: Tokens) => number | null): number => all.reduce((total, one) => total + (of(one) ?? 0), 0)
  const priced = all.find(({ prices_of: prices }) => prices !== null)
  return {
    total: sum(({ total }) => total),
    cached: sum(({ cached }) => cached),
    uncached: sum(({ uncached }) => uncached),
    cost_usd: priced === undefined ? null : sum(({ cost_usd: usd }) => usd),
    source: [...new Set(all.map(({ source }) => source))].toSorted().at(-1) ?? first.source,
    prices_of: priced?.prices_of ?? null,
    since: all.map(({ since }) => since).toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))[0] ?? null,
  }
}

/** The ledger of briefs: what it cost to tell agents things, not what their hosts have spent. */
function tokensOf(tokens: FleetAgent['tokens'], since: string | null): Tokens | null {
  if (tokens === null) return null
  const { total, cached, measured, declared } = tokens
  return {
    total,
    cached,
    uncached: Math.max(0, total - cached),
    cost_usd: null,
    source: `token ledger, ${measured} measured, ${declared} declared`,
    prices_of: null,
    since,
  }
}

export function totalsOf(fleet: Fleet, cards: readonly AgentCard[], { seq }: Beside): FleetTotals {
  const counted = fleet.waits.filter(({ snoozed_until: until }) => until === null)
  const [policy, ...others] = fleet.policies
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return {
    agents: cards.length,
    by_state: Object.fromEntries(
      cardState.options.map((state) => [state, cards.filter((card) => card.state === state).length]),
    ) as FleetTotals['by_state'],
    waits: counted.length,
    oldest_wait_since: counted[0]?.since ?? null,
    collisions: fleet.collisions.length,
    guarded: cards.filter(({ guard }) => guard?.kind === 'guarded').length,
    advisory: cards.filter(({ guard }) => guard?.kind === 'advisory').length,
    tokens: spentByAll(cards) ?? tokensOf(fleet.tokens, fleet.since),
    policy: policy === undefined ? null : { name: `${policy.policy_id} ${policy.version}${more}`, mode: policy.mode },
    seq,
  }
}
