// The tabs below the terminal: changes, claims, calls, recording.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, Suspense } from 'react'
import type { AgentCard } from '../../../src/hub/contract.ts'
import { lazyScreen } from '../data/lazy-screen.ts'
import { Empty, Loading, QueryPart } from '../components/feedback.tsx'
import { age, argumentsLine, clock, clockWithSeconds, whole } from '../components/format.ts'
import { DecisionWord } from '../components/state.tsx'
import { Changes, ChangesSum } from './changes.tsx'
import { useHubNow } from '../data/clock.ts'
import { changesQuery, latestCallsQuery } from '../data/queries.ts'
import { cx } from '../components/cx.ts'
import css from './session.module.css'

const Player = lazyScreen(() => import('../timeline/player.tsx'))

const CALLS_MAX = 200

export type LowerTab = 'changes' | 'claims' | 'calls' | 'recording'

interface LowerProps {
  readonly agent: AgentCard
  readonly tab: LowerTab
  readonly onTab: (tab: LowerTab) => void
}

export function Lower({ agent, tab, onTab }: LowerProps): ReactNode {
  const { since } = getRouteApi('/session/$agent').useSearch()
  const changes = useQuery(changesQuery(agent.agent_id, since))
  const tabs: readonly { readonly value: LowerTab; readonly word: string; readonly count: number | null }[] = [
    { value: 'changes', word: 'Changes', count: changes.data?.files.length ?? null },
    { value: 'claims', word: 'Claims', count: agent.claims.length },
    { value: 'calls', word: 'Calls', count: agent.calls },
    // Of one that has ended it stands in the place of the terminal.
    ...(agent.run_id === null || agent.session_id === null
      ? []
      : [{ value: 'recording' as const, word: 'Recording', count: null }]),
  ]
  return (
    <section className={cx('pane column', css.lower)} aria-label="Changes, claims and calls">
      <header>
        <div className={cx('grow', css.lowerTabs)} role="tablist">
          {tabs.map(({ value, word, count }) => (
            <button
              key={value}
              type="button"
              role="tab"
              className={css.tab}
              aria-selected={tab === value}
              onClick={() => onTab(value)}
            >
              {word} {count !== null && <span className="quiet">{whole(count)}</span>}
            </button>
          ))}
        </div>
        {tab === 'changes' && <ChangesSum agent={agent} query={changes} />}
      </header>
      <div className="fill scroll" role="tabpanel" aria-label={tab}>
        {tab === 'changes' ? (
          <Changes agent={agent} query={changes} />
        ) : tab === 'claims' ? (
          <Claims agent={agent} />
        ) : tab === 'recording' && agent.run_id !== null ? (
          <Suspense fallback={<Loading what="the player" />}>
            <Player run={agent.run_id} seekTo={null} />
          </Suspense>
        ) : (
          <Calls agent={agent} />
        )}
      </div>
    </section>
  )
}

function Claims({ agent }: { readonly agent: AgentCard }): ReactNode {
  const now = useHubNow()
  if (agent.claims.length === 0)
    return (
      <Empty title="Holds nothing">
        It would hold paths after <code>heimdall claim PATH</code>.
      </Empty>
    )
  return (
    <table className="table">
      <thead>
        <tr>
          <th>Scope</th>
          <th>Epoch</th>
          <th>Task</th>
          <th>Since</th>
          <th>Lease ends</th>
        </tr>
      </thead>
      <tbody>
        {agent.claims.map((claim) => (
          <tr key={claim.claim_id}>
            <td className="mono">{claim.scopes.join(', ')}</td>
            <td>{claim.epoch}</td>
            <td className="second">{claim.task ?? claim.intent ?? '–'}</td>
            <td>{clock(claim.since, now)}</td>
            <td className={claim.lease === 'lapsed' ? 'is-stale' : 'second'}>
              {claim.lease === 'lapsed'
                ? 'lapsed'
                : `in ${age(Math.max(0, Date.parse(claim.expires_at) - now))} if silent`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Calls({ agent }: { readonly agent: AgentCard }): ReactNode {
  const query = useQuery(latestCallsQuery(agent.agent_id, CALLS_MAX))
  return (
    <QueryPart what="calls" query={query}>
      {({ calls }) =>
        calls.length === 0 ? (
          <Empty title="No calls yet">
            Calls through the shim or the host’s hooks would be here, each with its decision.
          </Empty>
        ) : (
          <table className="table">
            <thead>
              <tr>
                <th>Time</th>
                <th>Call</th>
                <th>Arguments</th>
                <th>Decision</th>
                <th>Rule</th>
                <th>What it did next</th>
              </tr>
            </thead>
            <tbody>
              {calls.map((call) => (
                <tr key={`${call.run_id} ${call.call_id}`}>
                  <td className="quiet">{clockWithSeconds(call.at)}</td>
                  <td className="mono">
                    <span className="quiet">{call.server} · </span>
                    {call.tool}
                  </td>
                  <td className={cx('mono cut', css.args)}>{argumentsLine(call.args)}</td>
                  <td>
                    <DecisionWord call={call} isShort />
                  </td>
                  <td className="mono second">{call.rule ?? '–'}</td>
                  <td className="second">{call.next?.text ?? ''}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )
      }
    </QueryPart>
  )
}
