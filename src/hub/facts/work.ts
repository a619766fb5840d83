// Sessions per task, tokens of briefs: what the stores say, in the words of the contract.
import { join } from 'node:path'
import { readBaselines } from '../../briefing/baselines.ts'
import { openPlanning } from '../../briefing/planning.ts'
import { readLedger } from '../../briefing/token-ledger.ts'
import { countedRows, totalsOf } from '../../briefing/token-report.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { iso } from '../../coordination/moment.ts'
import type { StoredEvent } from '../../coordination/store.ts'
import { livenessIn } from '../../coordination/who/alive.ts'
import { HUB_ROWS_MAX } from '../../limits.ts'
import { runsDirOf } from '../../paths.ts'
import type { FleetOptions } from '../../spine/fleet/look.ts'
import type { TaskSession, TokensReply } from '../contract.ts'
import type { Picture } from '../live/picture.ts'
import { rowsOf } from './conversation.ts'
import { usageByHour } from './usage-bars.ts'
import { TASK_STATES } from './task-rows.ts'

/** One per task of which anything was said, the last first (seed 002 §6.3). */
export function taskSessions(room: Coordination): TaskSession[] {
  const now = room.now()
  return room.store.read((rows) => {
    const byTask = new Map<string, StoredEvent[]>()
    for (const event of rows.events({ last: HUB_ROWS_MAX * 20 }))
      if (event.task !== null) byTask.set(event.task, [...(byTask.get(event.task) ?? []), event])
    const open = new Set(rows.notes({ unackedOnly: true, limit: HUB_ROWS_MAX }).map(({ task }) => task))
    return [...byTask]
      .map(([taskId, events]): TaskSession => {
        const task = rows.task(taskId)
        const owner = task === undefined || task.owner === null ? undefined : rows.agent(task.owner)
        const last = rowsOf(rows, events.slice(-1))[0]
        const incursion = events.findLast(({ type }) => type === 'INCURSION')
        return {
          task_id: taskId,
          title: task?.title ?? taskId,
          state: task === undefined ? 'none' : TASK_STATES[task.state],
          owner: owner?.agentId ?? null,
          liveness: owner === undefined ? null : livenessIn(room, rows, owner, now),
          agents: [...new Set(events.flatMap(({ actor }) => actor ?? []))],
          last_at: iso(events.at(-1)?.wallMs ?? 0),
          last_text: last === undefined ? '' : `${last.label} ${last.text}`,
          needs_input: open.has(taskId),
          conflict:
            incursion === undefined ? null : incursion.payload['incursion_kind'] === 'exact' ? 'exact' : 'partial',
          rows: events.length,
        }
      })
      .toSorted((a, b) => (a.last_at < b.last_at ? 1 : -1))
  })
}

/** Of briefs: what was told against what would have been. Nothing is a percentage that has no baseline. */
export function tokensNow({ project, clock, env }: FleetOptions, { totals, agents }: Picture): Omit<TokensReply, 'at'> {
  const planning = openPlanning(project, clock, () => undefined)
  const rows = countedRows(readLedger(planning).rows)
  const baselines = readBaselines(planning)
  const roles = [...new Set([...baselines.keys(), ...rows.map(({ role }) => role)])].toSorted()
  const runs = runsDirOf(env)
  const spent = agents.flatMap(({ run_id: run, tokens }) => (run === null || tokens === null ? [] : [join(runs, run)]))
  const used = usageByHour(spent)
  return {
    total: totals.tokens,
    // Of the same that the sum is of: what hosts have spent, where they tell; else what briefs were.
    by_hour: used.length > 0 ? used : briefsByHour(rows),
    by_agent: agents.flatMap(({ agent_id, task, tokens }) =>
      tokens === null ? [] : [{ agent_id, task: task?.title ?? null, tokens }],
    ),
    briefs: roles.map((role) => briefOf(role, rows, baselines.get(role)?.tokens ?? null)),
    tokenizer: rows.findLast(({ tokenizer }) => tokenizer !== null)?.tokenizer ?? null,
    waits_cost: null,
  }
}

function briefsByHour(rows: ReturnType<typeof countedRows>): TokensReply['by_hour'] {
  const hours = new Map<string, { cached: number; uncached: number }>()
  for (const { ts, tokens, cached_tokens: read } of rows) {
    const hour = `${ts.slice(0, 13)}:00:00Z`
    const cached = read ?? 0
    const sum = hours.get(hour) ?? { cached: 0, uncached: 0 }
    hours.set(hour, { cached: sum.cached + cached, uncached: sum.uncached + Math.max(0, tokens - cached) })
  }
  return [...hours].map(([hour, sums]) => ({ hour, ...sums }))
}

function briefOf(
  role: string,
  all: ReturnType<typeof countedRows>,
  baseline: number | null,
): TokensReply['briefs'][number] {
  const rows = all.filter((row) => row.role === role)
  const { tokens, measured, declared } = totalsOf(rows)
  // A baseline is what all of the role would have cost, so all of it is laid beside it, as `tokens delta` does.
  const counted = rows.length > 0 && declared === 0 ? measured : null
  return {
    role,
    baseline,
    measured: counted,
    difference: baseline === null || counted === null || baseline === 0 ? null : (counted - baseline) / baseline,
    n: rows.length,
    how:
      rows.length === 0
        ? 'nothing on the ledger'
        : declared > 0
          ? `declared ${declared} of ${tokens}`
          : baseline === null
            ? 'measured, no baseline and so no percentage'
            : 'measured, sum of n',
  }
}
