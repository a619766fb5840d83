// The watch line: one tick per agent, tall for you, low for idle. It answers the first question on every screen.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { CardState } from '../../../src/hub/contract.ts'
import { Key } from '../components/controls.tsx'
import { age, plural, sinceMs } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { STATE } from '../components/words.ts'
import { useHubNow } from '../data/clock.ts'
import { useStore } from '../data/store.ts'
import { NEEDS_YOU } from './screens.ts'
import { cx } from '../components/cx.ts'
import css from './shell.module.css'

const TALLEST_FIRST: readonly CardState[] = [
  'needs_you',
  'collision',
  'looping',
  'stuck',
  'lost',
  'stale',
  'working',
  'idle',
  'done',
  'cancelled',
  'failed',
]
const DENSE_FROM = 61

export function WatchLine(): ReactNode {
  const agents = useStore((state) => state.agents)
  const order = useStore((state) => state.order)
  const shown = order.flatMap((id) => agents.get(id) ?? [])
  const rank = (state: CardState): number => (state === 'collision' ? 0 : TALLEST_FIRST.indexOf(state))
  const ticks = shown.map((agent, place) => ({ agent, place }))
  ticks.sort((one, other) => rank(one.agent.state) - rank(other.agent.state) || one.place - other.place)
  return (
    <div
      className={shown.length >= DENSE_FROM ? cx(css.watchLine, css.dense) : css.watchLine}
      role="img"
      aria-label={spoken(shown.map(({ state }) => state))}
    >
      {ticks.map(({ agent }) => (
        <i
          key={agent.agent_id}
          className={STATE[agent.state].tone}
          title={`${agent.agent_id}: ${STATE[agent.state].word}`}
        />
      ))}
    </div>
  )
}

function spoken(states: readonly CardState[]): string {
  const parts = TALLEST_FIRST.flatMap((state) => {
    const count = states.filter((each) => each === state).length
    return count === 0 ? [] : [`${count} ${STATE[state].word.toLowerCase()}`]
  })
  return parts.length === 0 ? 'No agents' : parts.join(', ')
}

const waitText = (waits: number): string =>
  waits === 0 ? 'Nothing waits for you' : waits === 1 ? '1 waits for you' : `${waits} wait for you`

export function Top({ onSearch }: { readonly onSearch: () => void }): ReactNode {
  const totals = useStore((state) => state.totals)
  const now = useHubNow()
  return (
    <header className={cx('middle', css.top)}>
      {totals === null || totals.agents === 0 ? (
        <span className="quiet">{totals === null ? '' : 'No agents yet'}</span>
      ) : (
        <>
          <b className={css.topCount} aria-hidden="true">
            {waitText(totals.waits)}
          </b>
          <WatchLine />
          <div className={css.sums}>
            {totals.waits > 0 ? (
              <Link {...NEEDS_YOU} className="row">
                <Icon name="lamp" size={13} />
                <b className="is-lamp">{waitText(totals.waits)}</b>
                {totals.oldest_wait_since !== null && (
                  <span className="second">oldest {age(sinceMs(totals.oldest_wait_since, now))}</span>
                )}
              </Link>
            ) : (
              <span className="second">Nothing waits for you</span>
            )}
            {totals.collisions > 0 && (
              <Link to="/claims/$" params={{ _splat: undefined }} className="row is-clash">
                <Icon name="bow" size={13} />
                <b>{plural(totals.collisions, 'collision')}</b>
              </Link>
            )}
            <span className="second">{plural(totals.agents, 'agent')}</span>
          </div>
        </>
      )}
      <button type="button" className={css.searchOpen} onClick={onSearch}>
        <Icon name="search" size={14} />
        Search or run a command
        <Key>/</Key>
      </button>
    </header>
  )
}
