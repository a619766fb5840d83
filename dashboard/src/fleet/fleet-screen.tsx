// Fleet: a card per agent, who needs you first; tiles under the word of their state when there are many.
import { type ReactNode, useEffect } from 'react'
import type { AgentCard, CardState } from '../../../src/hub/contract.ts'
import { wantScreens } from '../live/feed.ts'
import { useHubNow, useWatch } from '../live/hooks.ts'
import { Chip, Segments } from '../parts/controls.tsx'
import { Empty, Loading } from '../parts/days.tsx'
import { plural } from '../parts/format.ts'
import { Icon } from '../parts/icons.tsx'
import { useSteady } from '../parts/steady.ts'
import { STATE } from '../parts/words.ts'
import { sameInTerminal } from '../shell/foot.tsx'
import { useKeys } from '../shell/keys.ts'
import { go, placeLink, refine, usePlace } from '../shell/place.ts'
import { Card } from './card.tsx'
import { FleetTable } from './fleet-table.tsx'
import { Tiles } from './tiles.tsx'

const FEW = 8
const TILES_FROM = 61
const LINES = { few: 24, many: 7 }

/** Words of the chips: what they count, in the order of the eye. */
const CHIPS: readonly { readonly word: string; readonly states: readonly CardState[]; readonly value: string }[] = [
  { value: 'needs_you', word: 'need you', states: ['needs_you', 'collision'] },
  { value: 'collision', word: 'of them a collision', states: ['collision'] },
  { value: 'looping', word: 'looping', states: ['looping'] },
  { value: 'stuck', word: 'stuck', states: ['stuck'] },
  { value: 'lost', word: 'lost', states: ['lost'] },
  { value: 'stale', word: 'stale', states: ['stale'] },
  { value: 'working', word: 'working', states: ['working'] },
  { value: 'idle', word: 'idle', states: ['idle'] },
  { value: 'ended', word: 'ended', states: ['done', 'cancelled', 'failed'] },
]

const chipGlyph = (value: string): ReactNode => (
  <span className={`state ${value === 'ended' ? 'plain' : STATE[value as CardState].tone}`}>
    <Icon name={value === 'ended' ? 'square' : STATE[value as CardState].glyph} size={12} />
  </span>
)

export function FleetScreen(): ReactNode {
  const agents = useWatch((watch) => watch.agents)
  const order = useWatch((watch) => watch.order)
  const isKnown = useWatch((watch) => watch.shownAt !== null)
  const { query } = usePlace()
  const wanted = query.get('state')
  const look = query.get('as') === 'table' ? 'table' : 'grid'
  const all = order.flatMap((id) => agents.get(id) ?? [])
  const chosen = CHIPS.find(({ value }) => value === wanted)
  const listed = chosen === undefined ? all : all.filter(({ state }) => chosen.states.includes(state))
  const steady = useSteady(listed, (agent) => agent.agent_id)
  const isMany = all.length >= TILES_FROM
  const lines = all.length <= FEW ? LINES.few : LINES.many
  useEffect(() => {
    wantScreens(isMany || look === 'table' ? 0 : lines)
    return () => wantScreens(0)
  }, [isMany, look, lines])
  useMovingFocus()
  sameInTerminal('heimdall top')
  if (!isKnown) return <Loading what="the fleet" />
  return (
    <>
      <div className="page-head">
        <h1>Fleet</h1>
        <span className="second">
          {plural(all.length, 'agent')},{' '}
          {isMany ? 'grouped by state, oldest first in each group' : 'who needs you first'}
        </span>
        {!isMany && (
          <div className="chips">
            {CHIPS.map(({ value, word, states }) => {
              const count = all.filter(({ state }) => states.includes(state)).length
              if (count === 0) return null
              return (
                <Chip
                  key={value}
                  isOn={wanted === value}
                  onPress={() => refine({ state: wanted === value ? null : value })}
                >
                  {chipGlyph(value)} <b>{count}</b> {word}
                </Chip>
              )
            })}
          </div>
        )}
        <span className="grow" />
        <Segments
          label="Look"
          of={[
            { value: 'grid', text: isMany ? 'Tiles' : 'Grid', icon: 'grid' },
            { value: 'table', text: 'Table', icon: 'lanes' },
          ]}
          chosen={look}
          onChoose={(value) => refine({ as: value === 'table' ? 'table' : null })}
        />
      </div>
      {all.length === 0 && (
        <Empty title="No agents yet">
          Start one and it appears here by itself: <code>heimdall run --agent amber-otter claude</code>
        </Empty>
      )}
      {steady.news > 0 && (
        <button type="button" className="news" onClick={steady.take}>
          {steady.news} new
        </button>
      )}
      <div {...steady.hold}>
        <Shown agents={steady.shown} look={look} isMany={isMany} lines={lines} isFew={all.length <= FEW} />
      </div>
    </>
  )
}

interface ShownProps {
  readonly agents: readonly AgentCard[]
  readonly look: 'grid' | 'table'
  readonly isMany: boolean
  readonly isFew: boolean
  readonly lines: number
}

function Shown({ agents, look, isMany, isFew, lines }: ShownProps): ReactNode {
  const now = useHubNow()
  if (look === 'table') return <FleetTable agents={agents} now={now} />
  if (isMany) return <Tiles agents={agents} now={now} />
  return (
    <ul className={isFew ? 'cards few' : 'cards'}>
      {agents.map((agent) => (
        <li key={agent.agent_id}>
          <Card agent={agent} now={now} lines={lines} />
        </li>
      ))}
    </ul>
  )
}

/** j and k go from card to card, whatever they look like. */
function useMovingFocus(): void {
  const move = (by: number): void => {
    const those = [...document.querySelectorAll<HTMLElement>('[data-agent]')]
    const at = those.findIndex((element) => element === document.activeElement)
    those[Math.min(those.length - 1, Math.max(0, at + by))]?.focus()
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    t: () => {
      const agent = (document.activeElement as HTMLElement | null)?.dataset['agent']
      if (agent !== undefined) go(placeLink('session', agent))
    },
  })
}
