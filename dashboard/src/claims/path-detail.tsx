// One path: its holders, who wants it, what you can do, and its history.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ClaimsReply, WhyReply } from '../../../src/hub/contract.ts'
import { Answers } from '../needs-you/answers.tsx'
import { AgentName } from '../components/agent-mark.tsx'
import { Copy } from '../components/controls.tsx'
import { QueryPart } from '../components/feedback.tsx'
import { age, clock, plural } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { StateWord } from '../components/state.tsx'
import { rowGlyph, rowTone } from '../components/words.ts'
import { useHubNow } from '../data/clock.ts'
import { whyQuery } from '../data/queries.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './claims.module.css'

export function PathDetail({ path, reply }: { readonly path: string; readonly reply: ClaimsReply }): ReactNode {
  const query = useQuery(whyQuery(path))
  const incursion = reply.incursions.find(({ scope, is_open }) => is_open && scope === path)
  const wait = useStore((state) => state.waits.find(({ collision }) => collision?.scope === path))
  return (
    <section
      className={
        incursion === undefined
          ? cx('pane inspector scroll', css.pathDetail)
          : cx('pane inspector harm scroll', css.pathDetail)
      }
      aria-label="This path"
    >
      <div className={incursion === undefined ? css.pathHead : cx('harm', css.pathHead)}>
        <h2 className={incursion === undefined ? '' : 'is-clash'}>
          {incursion !== undefined && <Icon name="bow" size={14} />}{' '}
          {incursion === undefined ? 'This path' : 'Two agents want one path'}
        </h2>
        <p className="mono wrap">{path}</p>
      </div>
      <QueryPart what={path} query={query}>
        {(why) => (
          <>
            <Holders why={why} />
            {incursion !== undefined && <Wants incursion={incursion} queue={reply.queue} />}
            {wait !== undefined && (
              <div className={css.pathPart}>
                <h3>What you can do</h3>
                <Answers wait={wait} isShort />
              </div>
            )}
            <History why={why} />
            <p className={css.pathPart}>
              <Copy text={why.command} className="button small mono" />
            </p>
          </>
        )}
      </QueryPart>
    </section>
  )
}

function Holders({ why }: { readonly why: WhyReply }): ReactNode {
  const now = useHubNow()
  if (why.holders.length === 0) return <p className={cx('second', css.pathPart)}>Free: the first claim gets it.</p>
  return why.holders.map(({ claim, held, kind, hint }) => (
    <div key={claim.claim_id} className={css.pathPart}>
      <Party does="holds" agent={claim.agent_id} />
      <p className="second wrap">
        <code>{held}</code> since {clock(claim.since, now)}, epoch {claim.epoch}, lease{' '}
        {claim.lease === 'live' ? age(Math.max(0, Date.parse(claim.expires_at) - now)) : claim.lease}
        {claim.task !== null && `, for ${claim.task}`}
        {kind === 'partial' && ', overlaps in part'}
      </p>
      <p className="meta wrap">{hint}</p>
    </div>
  ))
}

/** An agent that holds or wants the path, and its state. */
function Party({ does, agent: id }: { readonly does: string; readonly agent: string }): ReactNode {
  const agent = useStore(({ agents }) => agents.get(id))
  return (
    <p className="row">
      <span className="quiet">{does}</span>
      <Link to="/session/$agent" params={{ agent: id }} className="strong">
        <AgentName name={id} />
      </Link>
      <span className="grow" />
      {agent !== undefined && <StateWord state={agent.state} liveness={agent.liveness} />}
    </p>
  )
}

function Wants({
  incursion,
  queue,
}: {
  readonly incursion: ClaimsReply['incursions'][number]
  readonly queue: ClaimsReply['queue']
}): ReactNode {
  const now = useHubNow()
  const place = queue.find(({ agent_id }) => agent_id === incursion.incoming)?.place
  return (
    <div className={css.pathPart}>
      <Party does="wants" agent={incursion.incoming} />
      <p className="second wrap">
        {incursion.kind} overlap, {plural(incursion.attempts, 'attempt')} since {clock(incursion.at, now)}
        {place !== undefined && `, place ${place} in the queue`}
      </p>
    </div>
  )
}

function History({ why }: { readonly why: WhyReply }): ReactNode {
  const now = useHubNow()
  return (
    <div className={css.pathPart}>
      <h3>History of this path</h3>
      {why.history.length === 0 && <p className="second">No events yet.</p>}
      <ul className={css.pathHistory}>
        {why.history.map((row) => (
          <li key={row.row_id} className="row">
            <time className="quiet">{clock(row.at, now)}</time>
            <span className={rowTone(row) || 'quiet'}>
              <Icon name={rowGlyph(row)} size={12} />
            </span>
            <span className="wrap">
              {row.label} {isNamed(row) && <span className="second">{row.actor}</span>}{' '}
              <span className="quiet">{row.text}</span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The text of many rows begins with the actor. */
const isNamed = ({ actor, text }: WhyReply['history'][number]): boolean => actor !== null && !text.startsWith(actor)
