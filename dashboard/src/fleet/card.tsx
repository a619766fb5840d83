// The card of an agent: a solid band when it waits or collides, an outline when it loops, dashed when stale.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AgentCard, CardState } from '../../../src/hub/contract.ts'
import { AgentMark } from '../components/agent-mark.tsx'
import { clock, dollars, plural, shortAge, sinceMs, tokenCount } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { ScreenText } from '../components/screen-text.tsx'
import { stateOf, WAIT } from '../components/words.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './fleet.module.css'

/** What it asks, what is wrong with it, or its last line. */
export function useSays(agent: AgentCard): { readonly text: string; readonly tone: string } {
  const wait = useStore((state) => state.waits.find(({ wait_id }) => wait_id === agent.wait_ids[0]))
  if (wait !== undefined)
    return {
      text:
        wait.collision === null
          ? `${WAIT[wait.kind].word}: ${wait.title}`
          : `Wants ${wait.collision.scope.replace(/.*\/(?=.)/, '')} from ${wait.collision.holder}`,
      tone: wait.kind === 'collision' ? 'is-clash' : 'is-lamp',
    }
  const [problem] = agent.problems
  if (problem !== undefined)
    return { text: asSentence(problem.text), tone: problem.kind === 'looping' ? 'is-clash' : 'is-stale' }
  if (agent.ended_at !== null)
    return {
      text: `${agent.state === 'cancelled' ? 'Somebody ended it' : 'Ended'} ${clock(agent.ended_at, Date.parse(agent.ended_at))}${agent.exit_code === null ? '' : `, exit ${agent.exit_code}`}`,
      tone: '',
    }
  const said = (agent.last_line ?? '').replace(/^[●•◦*❯>$%\s]+/u, '')
  return { text: said === '' && agent.state === 'idle' ? 'Ready.' : said, tone: '' }
}

const asSentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** Since when it has its state. */
export const sinceOf = (agent: AgentCard): string | null => agent.evidence.since ?? agent.ended_at ?? agent.started_at

const BANDED: readonly CardState[] = ['needs_you', 'collision']

export function Card({
  agent,
  now,
  lines,
}: {
  readonly agent: AgentCard
  readonly now: number
  readonly lines: number
}): ReactNode {
  // An ended session keeps its last screen.
  const session = agent.session_id ?? (agent.ended_at === null ? null : agent.agent_id)
  const screen = useStore(({ screens }) => (session === null ? undefined : screens.get(session)))
  const { text, tone } = useSays(agent)
  const { word, glyph, tone: stateTone } = stateOf(agent)
  const since = sinceOf(agent)
  const evidence = `${agent.evidence.source}${agent.evidence.detail === null ? '' : `: ${agent.evidence.detail}`}`
  return (
    <Link
      className={cx('column', css.card, stateTone)}
      to="/session/$agent"
      params={{ agent: agent.agent_id }}
      data-agent={agent.agent_id}
      aria-label={`${agent.agent_id}, ${word}, ${text}`}
    >
      <span className={css.band} title={`seen by ${evidence}`}>
        <span className={BANDED.includes(agent.state) ? css.bandWord : `state ${stateTone}`}>
          <Icon name={agent.state === 'needs_you' ? 'diamond' : glyph} size={12} />
          {word}
        </span>
        <span className="age">{since === null ? '' : shortAge(sinceMs(since, now))}</span>
      </span>
      <span className={cx('row', css.cardName)}>
        <AgentMark name={agent.agent_id} />
        <b className="cut">{agent.agent_id}</b>
      </span>
      <span className={cx('cut second', css.cardTask)}>{agent.task?.title ?? '– no task'}</span>
      <span className={cx('column', css.thumb)} style={{ height: `${lines * 8.5 + 6}px` }}>
        <ScreenText screen={screen} lines={lines} />
      </span>
      <span className={cx('cut', css.cardSays, tone)}>{text}</span>
      <span className={cx('middle', css.cardFoot)}>
        <span
          title={`${plural(agent.claims.length, 'claim')}: ${agent.claims.flatMap(({ scopes }) => scopes).join(', ')}`}
        >
          <Icon name="lock" size={11} /> {agent.claims.length}
        </span>
        <span title={agent.tokens === null ? 'tokens not known' : `tokens: ${agent.tokens.source}`}>
          {agent.tokens === null ? '–' : tokenCount(agent.tokens.total)}
        </span>
        <span title={agent.tokens?.cost_usd == null ? 'cost not known' : 'cost'}>
          {agent.tokens?.cost_usd == null ? '–' : dollars(agent.tokens.cost_usd)}
        </span>
        <span className={cx('cut', css.host)}>
          {agent.host === 'unknown' ? '' : agent.host}
          {agent.machine !== null && ` on ${agent.machine}`}
        </span>
      </span>
      {agent.branch !== null && <span className="hidden-text">on {agent.branch}</span>}
    </Link>
  )
}
