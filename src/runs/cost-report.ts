// What runs have cost, by agent or by run: sums of the usage that their records hold. Nothing is estimated.
import type { UsageTotal } from '../events/types.ts'
import { costOf, usedSince } from './run-cost.ts'
import type { RunFolder } from './run-folder.ts'
import { firstEvent, originOf, type RunOrigin } from './run-project.ts'

export interface CostOptions {
  readonly runs: readonly RunFolder[]
  readonly has: ((origin: RunOrigin) => boolean) | undefined
  readonly agent: string | undefined
  readonly sinceMs: number | undefined
  readonly by: 'agent' | 'run'
  /** Undefined where rows do not name a repository. */
  readonly pathOf: ((origin: RunOrigin) => string | null) | undefined
}

export interface CostRow {
  readonly agent_id: string
  /** Null in a row for all runs of an agent. */
  readonly run_id: string | null
  readonly project?: string | null
  runs: number
  messages: number
  /** Input that was not read from the cache. */
  tokens_in: number
  tokens_cached: number
  tokens_out: number
  usd: number
  /** Models without a price: their tokens are counted, their dollars are not. */
  unpriced: readonly string[]
}

export interface CostReport {
  /** The most expensive first. */
  readonly rows: readonly CostRow[]
  readonly total: Omit<CostRow, 'agent_id' | 'run_id' | 'project'>
  /** Runs without usage in their record. */
  readonly unmeasured: readonly { readonly run_id: string; readonly agent_id: string }[]
  /** Lines of transcripts that were not understood. */
  readonly unread: number
  /** Dates of the price tables that were used. */
  readonly prices: readonly string[]
  /** Names of all agents in scope, whether or not they match. */
  readonly agents: readonly string[]
}

const nothing = () => ({ runs: 0, messages: 0, tokens_in: 0, tokens_cached: 0, tokens_out: 0, usd: 0, unpriced: [] })

export function costReport({ runs, has, agent, sinceMs, by, pathOf }: CostOptions): CostReport {
  const rows = new Map<string, CostRow>()
  const total: CostReport['total'] = nothing()
  const unmeasured: { run_id: string; agent_id: string }[] = []
  const agents = new Set<string>()
  const prices = new Set<string>()
  let unread = 0
  for (const { runDir, changedMs } of runs) {
    if (sinceMs !== undefined && changedMs < sinceMs) continue
    const first = firstEvent(runDir)
    const origin = originOf(first)
    if (first === undefined || has?.(origin) === false) continue
    const who = { run_id: String(first['run_id']), agent_id: String(first['agent_id']) }
    agents.add(who.agent_id)
    if (agent !== undefined && who.agent_id !== agent) continue
    const used = sinceMs === undefined ? costOf(runDir) : usedSince(runDir, sinceMs)
    if (used === undefined) {
      unmeasured.push(who)
      continue
    }
    const project = pathOf === undefined ? {} : { project: pathOf(origin) }
    const key = by === 'run' ? who.run_id : JSON.stringify([who.agent_id, project])
    const row = rows.get(key) ?? { ...who, run_id: by === 'run' ? who.run_id : null, ...project, ...nothing() }
    rows.set(key, row)
    for (const sum of [row, total]) add(sum, used)
    unread += used.unread
    prices.add(used.prices)
  }
  const sorted = [...rows.values()].toSorted((a, b) => b.usd - a.usd || b.tokens_out - a.tokens_out)
  return { rows: sorted, total, unmeasured, unread, prices: [...prices].toSorted(), agents: [...agents] }
}

function add(sum: CostReport['total'], { messages, tokens, usd, unpriced }: UsageTotal): void {
  sum.runs += 1
  sum.messages += messages
  sum.tokens_in += tokens.input + tokens.cache_write
  sum.tokens_cached += tokens.cached
  sum.tokens_out += tokens.output
  sum.usd += usd
  sum.unpriced = [...new Set([...sum.unpriced, ...unpriced])]
}
