// Tokens and cost: since when, cached apart, by whom; briefs against the whole text, with method and n.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type CSSProperties, type ReactNode, useMemo } from 'react'
import type { Tokens, TokensReply } from '../../../src/hub/contract.ts'
import { AgentName } from '../components/agent-mark.tsx'
import { Empty, QueryPart } from '../components/feedback.tsx'
import { age, clock, dollars, plural, sinceMs, tokenCount, whole } from '../components/format.ts'
import { useTerminalCommand } from '../shell/foot.tsx'
import { Bars } from './bars.tsx'
import { useHubNow } from '../data/clock.ts'
import { tokensQuery } from '../data/queries.ts'
import { cx } from '../components/cx.ts'
import css from './tokens.module.css'

export default function TokensScreen(): ReactNode {
  const query = useQuery(tokensQuery())
  useTerminalCommand('heimdall tokens report')
  return (
    <QueryPart what="tokens" query={query}>
      {(reply) => (
        <>
          <Sums reply={reply} />
          <div className={css.tokensPanes}>
            <Hours reply={reply} />
            <Briefs reply={reply} />
          </div>
          <ByAgent reply={reply} />
        </>
      )}
    </QueryPart>
  )
}

function Sums({ reply: { total, waits_cost, by_agent } }: { readonly reply: TokensReply }): ReactNode {
  const now = useHubNow()
  if (total === null)
    return (
      <div className="page-head">
        <h1>Tokens</h1>
        <span className="second">Nothing has been counted yet.</span>
      </div>
    )
  const since = total.since === null ? '' : ` since ${clock(total.since, now)}`
  return (
    <div className={css.tokensSums}>
      <h1 className="hidden-text">Tokens</h1>
      <div>
        <p className="meta">Cost{since}</p>
        <p className="one-number">{total.cost_usd === null ? 'not known' : dollars(total.cost_usd)}</p>
        <p className="second">
          {total.prices_of === null
            ? 'no prices: tokens only'
            : `prices of ${total.prices_of}, all ${by_agent.length} metered agents`}
        </p>
      </div>
      <div>
        <p className="meta">Tokens</p>
        <p className="one-number">{tokenCount(total.total)}</p>
        <p className="second">
          {tokenCount(total.cached)} cached reads, {tokenCount(total.uncached)} not cached
        </p>
      </div>
      {waits_cost !== null && (
        <div>
          <p className="meta">Cost of waits</p>
          <p className="one-number">{dollars(waits_cost.cost_usd)}</p>
          <p className="second">
            {waits_cost.how}, {plural(waits_cost.waits, 'wait')}
          </p>
        </div>
      )}
      <p className="meta grow number">source: {total.source}</p>
    </div>
  )
}

function Hours({ reply }: { readonly reply: TokensReply }): ReactNode {
  const bars = useMemo(
    () => reply.by_hour.map(({ hour, cached, uncached }) => ({ atMs: Date.parse(hour), cached, uncached })),
    [reply.by_hour],
  )
  return (
    <section className="pane padded" aria-label="Tokens per hour">
      <div className="row">
        <h2 className="grow">Tokens per hour</h2>
        <span className="meta legend">
          <i className="uncached" /> not cached <i className="cached" /> cached reads
        </span>
      </div>
      {bars.length === 0 ? (
        <Empty title="No hour has any yet">
          What a host counts of its model is read from its own transcript while a run goes on.
        </Empty>
      ) : (
        <>
          <Bars label="Tokens per hour" bars={bars} height={230} along="hours" />
          <Youngest hour={reply.by_hour.at(-1)?.hour} />
        </>
      )}
    </section>
  )
}

/** The last bar still grows: it is no quiet hour. */
function Youngest({ hour }: { readonly hour: string | undefined }): ReactNode {
  const now = useHubNow()
  const agedMs = hour === undefined ? Infinity : sinceMs(hour, now)
  if (hour === undefined || agedMs >= 3_600_000) return null
  return (
    <p className="meta">
      the hour of {clock(hour, now)} is {age(agedMs)} old
    </p>
  )
}

function Briefs({ reply: { briefs, tokenizer } }: { readonly reply: TokensReply }): ReactNode {
  return (
    <section className="pane" aria-label="Briefs">
      <div className={cx('row', css.paneTitle)}>
        <h2 className="grow">Briefs: measured against the whole text</h2>
        {tokenizer !== null && <span className="meta">counted with {tokenizer}</span>}
      </div>
      {briefs.length === 0 ? (
        <Empty title="No brief was measured yet">
          <code>heimdall brief build</code> counts the tokens of a brief; <code>heimdall tokens baseline</code> those of
          the full text.
        </Empty>
      ) : (
        <table className="table">
          <thead>
            <tr>
              <th>Role</th>
              <th className="number">Baseline</th>
              <th className="number">Measured</th>
              <th className="number">Difference</th>
              <th className="number">n</th>
              <th>How</th>
            </tr>
          </thead>
          <tbody>
            {briefs.map((brief) => (
              <tr key={brief.role}>
                <td className="strong">{brief.role}</td>
                <td className="number second">{brief.baseline === null ? '–' : whole(brief.baseline)}</td>
                <td className="number">{brief.measured === null ? '–' : whole(brief.measured)}</td>
                <td className={brief.difference === null ? 'number quiet' : 'number strong'}>
                  {differenceText(brief)}
                </td>
                <td className="number second">{brief.n}</td>
                <td className="second">{brief.how}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

/** Without a baseline there is no percentage. */
function differenceText({ difference, baseline, measured }: TokensReply['briefs'][number]): string {
  if (measured === null) return 'not measured'
  if (baseline === null || difference === null) return 'no baseline'
  const percent = Math.round(difference * 100)
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${Math.abs(percent)} %`
}

function ByAgent({ reply: { by_agent } }: { readonly reply: TokensReply }): ReactNode {
  const most = Math.max(1, ...by_agent.map(({ tokens }) => tokens.total))
  const weight = ({ cost_usd, total }: Tokens): number => cost_usd ?? total / 1e9
  const dearest = [...by_agent].sort((one, other) => weight(other.tokens) - weight(one.tokens))
  return (
    <section className={cx('pane padded', css.byAgentPane)} aria-label="By agent">
      <div className={cx('row', css.byAgentHead)}>
        <h2>By agent</h2>
        {by_agent[0] !== undefined && (
          <>
            <span className="meta grow">{plural(by_agent.length, 'agent')}, dearest first</span>
            <span className="meta">source: {by_agent[0].tokens.source}</span>
          </>
        )}
      </div>
      {by_agent.length === 0 && (
        <Empty title="No agent has been counted yet">
          Claude Code, Codex and Gemini CLI count; of other programs nothing is known, and nothing is guessed.
        </Empty>
      )}
      <ul className={css.byAgent} style={{ '--rows': Math.ceil(dearest.length / 2) } as CSSProperties}>
        {dearest.map(({ agent_id, task, tokens }) => (
          <li key={agent_id}>
            <Link to="/session/$agent" params={{ agent: agent_id }} className={css.byAgentRow}>
              <AgentName name={agent_id} />
              <span className={css.share} aria-hidden="true">
                <i className="cached" style={{ width: `${(tokens.cached / most) * 100}%` }} />
                <i className="uncached" style={{ width: `${(tokens.uncached / most) * 100}%` }} />
              </span>
              <span className="number second">{tokenCount(tokens.total)}</span>
              <b className="number">{tokens.cost_usd === null ? '–' : dollars(tokens.cost_usd)}</b>
              <span className="second cut">{task ?? ''}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
