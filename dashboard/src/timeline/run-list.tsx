// Runs, those that changed last first: yesterday's as well as today's. Each leads to its timeline.
import { useQuery } from '@tanstack/react-query'
import { linkOptions } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RunRow } from '../../../src/hub/contract.ts'
import { AgentName } from '../components/agent-mark.tsx'
import { Empty, QueryPart } from '../components/feedback.tsx'
import { age, clock, dollars, plural, tokenCount, whole } from '../components/format.ts'
import { type Column, LongTable } from '../components/long-table.tsx'
import { StateWord } from '../components/state.tsx'
import { useTerminalCommand } from '../shell/foot.tsx'
import { useHubNow } from '../data/clock.ts'
import { runsQuery } from '../data/queries.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './timeline.module.css'

/** The state of an active run is that of its agent. */
function RunState({ run: { run_id, agent_id, ended_at, status } }: { readonly run: RunRow }): ReactNode {
  const agent = useStore(({ agents }) => (agent_id === null ? undefined : agents.get(agent_id)))
  if (ended_at === null) return <StateWord state={agent?.run_id === run_id ? agent.state : 'working'} />
  return <StateWord state={status === 'SUCCEEDED' ? 'done' : status === 'CANCELLED' ? 'cancelled' : 'failed'} />
}

/** Waits for a human and waits for another agent, apart. */
function waitedFor({ count, ms, for_you_ms: forYouMs }: RunRow['waited']): string {
  const forAgentsMs = ms - forYouMs
  if (count === 0 || ms === 0) return '–'
  return [
    ...(forYouMs > 0 ? [`${age(forYouMs)} for you`] : []),
    ...(forAgentsMs > 0 ? [`${age(forAgentsMs)} for an agent`] : []),
  ].join(', ')
}

const COLUMNS = (now: number): readonly Column<RunRow>[] => [
  { head: 'Started', width: '92px', onPhone: '44px', cell: (run) => clock(run.started_at, now) },
  {
    head: 'Agent',
    width: 'minmax(140px, 1fr)',
    onPhone: 'minmax(0, 1fr)',
    cell: (run) => (run.agent_id === null ? '–' : <AgentName name={run.agent_id} />),
  },
  { head: 'Task', width: 'minmax(140px, 1.6fr)', cell: (run) => <span className="second">{run.task ?? '–'}</span> },
  {
    head: 'State',
    width: '88px',
    onPhone: '88px',
    cell: (run) => <RunState run={run} />,
  },
  {
    head: 'Took',
    width: '86px',
    onPhone: '68px',
    cell: (run) => age((run.ended_at === null ? now : Date.parse(run.ended_at)) - Date.parse(run.started_at)),
  },
  { head: 'Waited', width: '150px', cell: ({ waited }) => <span title={waitedFor(waited)}>{waitedFor(waited)}</span> },
  { head: 'Calls', width: '56px', isNumber: true, cell: (run) => whole(run.calls) },
  {
    head: 'Refused',
    width: '56px',
    isNumber: true,
    cell: (run) => run.decisions.refused_with_hint + run.decisions.blocked,
  },
  {
    head: 'Tokens',
    width: '72px',
    isNumber: true,
    cell: (run) => (run.tokens === null ? '–' : tokenCount(run.tokens.total)),
  },
  {
    head: 'Cost',
    width: '64px',
    isNumber: true,
    cell: (run) => (run.tokens?.cost_usd == null ? '–' : dollars(run.tokens.cost_usd)),
  },
]

export function RunList(): ReactNode {
  const query = useQuery(runsQuery())
  const now = useHubNow()
  useTerminalCommand('heimdall events')
  return (
    <div className={cx('column fill', css.runList)}>
      <div className="page-head">
        <h1>Timeline</h1>
        <span className="second">
          {query.data === undefined
            ? ''
            : `${plural(query.data.runs.length, 'run')}, those that changed last first; each has its timeline, its decisions and its recording`}
        </span>
      </div>
      <section className="pane" aria-label="Runs">
        <QueryPart what="runs" query={query}>
          {({ runs }) =>
            runs.length === 0 ? (
              <Empty title="No runs yet">
                <code>heimdall run --agent amber-otter claude</code> makes one.
              </Empty>
            ) : (
              <LongTable
                label="Runs"
                columns={COLUMNS(now)}
                rows={runs}
                idOf={({ run_id }) => run_id}
                selected={null}
                linkOf={({ run_id }) => linkOptions({ to: '/timeline/{-$run}', params: { run: run_id } })}
              />
            )
          }
        </QueryPart>
      </section>
    </div>
  )
}
