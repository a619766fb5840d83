// The fleet as a table: the same order, more of each agent in one line.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AgentCard } from '../../../src/hub/contract.ts'
import { AgentName } from '../components/agent-mark.tsx'
import { dollars, plural, shortAge, sinceMs, tokenCount } from '../components/format.ts'
import { StateWord } from '../components/state.tsx'
import { sinceOf, useSays } from './card.tsx'
import { cx } from '../components/cx.ts'
import css from './fleet.module.css'

export function FleetTable({
  agents,
  now,
}: {
  readonly agents: readonly AgentCard[]
  readonly now: number
}): ReactNode {
  return (
    <div className={cx('pane scroll-x', css.tablePane)}>
      <table className="table">
        <thead>
          <tr>
            <th>Agent</th>
            <th>State</th>
            <th className="number">For</th>
            <th className="wide-only">Task</th>
            <th>Last line, or what it asks</th>
            <th className="wide-only" title="+ files that are not committed">
              Branch
            </th>
            <th className="number wide-only">Claims</th>
            <th className="number wide-only">Calls</th>
            <th className="number wide-only">Tokens</th>
            <th className="number wide-only">Cost</th>
            <th className="wide-only">Client</th>
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <Row key={agent.agent_id} agent={agent} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ agent, now }: { readonly agent: AgentCard; readonly now: number }): ReactNode {
  const { text, tone } = useSays(agent)
  const since = sinceOf(agent)
  return (
    <tr>
      <td>
        <Link to="/session/$agent" params={{ agent: agent.agent_id }} data-agent={agent.agent_id}>
          <AgentName name={agent.agent_id} />
        </Link>
      </td>
      <td title={agent.evidence.source}>
        <StateWord state={agent.state} liveness={agent.liveness} />
      </td>
      <td className="number">{since === null ? '' : shortAge(sinceMs(since, now))}</td>
      <td className={cx('second cut wide-only', css.task)} title={agent.task?.title}>
        {agent.task?.title ?? '– no task'}
      </td>
      <td className={cx('cut', css.wide, tone)} title={text}>
        {text}
      </td>
      <td
        className="mono wide-only"
        title={agent.uncommitted === null ? undefined : `${plural(agent.uncommitted, 'file')} not committed`}
      >
        {agent.branch ?? '–'}
        {agent.uncommitted !== null && agent.uncommitted > 0 && <span className="quiet"> +{agent.uncommitted}</span>}
      </td>
      <td className="number wide-only">{agent.claims.length === 0 ? '–' : agent.claims.length}</td>
      <td className="number wide-only">{agent.calls ?? '–'}</td>
      <td className="number wide-only">{agent.tokens === null ? '–' : tokenCount(agent.tokens.total)}</td>
      <td className="number wide-only">{agent.tokens?.cost_usd == null ? '–' : dollars(agent.tokens.cost_usd)}</td>
      <td className="second wide-only">{agent.host === 'unknown' || agent.host === '' ? '–' : agent.host}</td>
    </tr>
  )
}
