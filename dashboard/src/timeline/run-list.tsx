// Runs, those that changed last first: yesterday's as well as today's. Each leads to its timeline.
import type { ReactNode } from 'react'
import type { RunsReply, RunRow } from '../../../src/hub/contract.ts'
import { useEvery, useHub, useHubNow, useWatch } from '../live/hooks.ts'
import { AgentName } from '../parts/agent-mark.tsx'
import { Empty, Part } from '../parts/days.tsx'
import { age, clock, dollars, plural, tokenCount, whole } from '../parts/format.ts'
import { type Column, LongTable } from '../parts/long-table.tsx'
import { StateWord } from '../parts/state.tsx'
import { sameInTerminal } from '../shell/foot.tsx'
import { placeLink } from '../shell/place.ts'

/** Of a run that goes on, what its agent is. */
function RunState({ run: { run_id, agent_id, ended_at, status } }: { readonly run: RunRow }): ReactNode {
  const agent = useWatch((watch) => (agent_id === null ? undefined : watch.agents.get(agent_id)))
  if (ended_at === null) return <StateWord state={agent?.run_id === run_id ? agent.state : 'working'} />
  return <StateWord state={status === 'SUCCEEDED' ? 'done' : status === 'CANCELLED' ? 'cancelled' : 'failed'} />
}

/** For whom is said with it: what another agent holds is no question to a person. */
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
  const loaded = useHub<RunsReply>('runs')
  const now = useHubNow()
  useEvery(5_000, loaded.reload)
  sameInTerminal('heimdall events')
  return (
    <div className="run-list">
      <div className="page-head">
        <h1>Timeline</h1>
        <span className="second">
          {loaded.data === undefined
            ? ''
            : `${plural(loaded.data.runs.length, 'run')}, those that changed last first; each has its timeline, its decisions and its recording`}
        </span>
      </div>
      <section className="pane" aria-label="Runs">
        <Part what="runs" loaded={loaded}>
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
                linkOf={({ run_id }) => placeLink('timeline', run_id)}
              />
            )
          }
        </Part>
      </section>
    </div>
  )
}
