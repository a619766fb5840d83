// Fleet: a card per agent, who needs you first; tiles under the word of their state when there are many.
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import type { AgentCard, CardState } from '../../../src/hub/contract.ts'
import { Chip, Segments } from '../components/controls.tsx'
import { Empty, Loading } from '../components/feedback.tsx'
import { plural } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { useStableList } from '../components/stable-list.ts'
import { STATE } from '../components/words.ts'
import { useTerminalCommand } from '../shell/foot.tsx'
import { useKeys } from '../shell/keys.tsx'
import { Card } from './card.tsx'
import { FleetTable } from './fleet-table.tsx'
import { Tiles } from './tiles.tsx'
import { useHubNow } from '../data/clock.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './fleet.module.css'

const route = getRouteApi('/fleet')
const FEW = 8
const TILES_FROM = 61
const LINES = { few: 24, many: 7 }

/** The chips, and the states that they count. */
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
  const agents = useStore((state) => state.agents)
  const order = useStore((state) => state.order)
  const isKnown = useStore((state) => state.shownAt !== null)
  const { state: wanted, as } = route.useSearch()
  const navigate = route.useNavigate()
  const look = as === 'table' ? 'table' : 'grid'
  const all = order.flatMap((id) => agents.get(id) ?? [])
  const chosen = CHIPS.find(({ value }) => value === wanted)
  const listed = chosen === undefined ? all : all.filter(({ state }) => chosen.states.includes(state))
  const list = useStableList(listed, (agent) => agent.agent_id)
  const isMany = all.length >= TILES_FROM
  const lines = all.length <= FEW ? LINES.few : LINES.many
  useEffect(() => {
    useStore.setState({ screenLines: isMany || look === 'table' ? 0 : lines })
    return () => useStore.setState({ screenLines: 0 })
  }, [isMany, look, lines])
  useMovingFocus()
  useTerminalCommand('heimdall top')
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
                  onPress={() =>
                    void navigate({
                      to: '.',
                      search: (before) => ({ ...before, state: wanted === value ? undefined : value }),
                      replace: true,
                    })
                  }
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
          onChoose={(value) =>
            void navigate({
              to: '.',
              search: (before) => ({ ...before, as: value === 'table' ? 'table' : undefined }),
              replace: true,
            })
          }
        />
      </div>
      {all.length === 0 && (
        <Empty title="No agents yet">
          Start one and it appears here by itself: <code>heimdall run --agent amber-otter claude</code>
        </Empty>
      )}
      {list.news > 0 && (
        <button type="button" className="news" onClick={list.showNews}>
          {list.news} new
        </button>
      )}
      <div {...list.hold}>
        <Shown agents={list.shown} look={look} isMany={isMany} lines={lines} isFew={all.length <= FEW} />
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
    <ul className={isFew ? cx(css.cards, css.few) : css.cards}>
      {agents.map((agent) => (
        <li key={agent.agent_id}>
          <Card agent={agent} now={now} lines={lines} />
        </li>
      ))}
    </ul>
  )
}

/** j and k move the focus from card to card, row to row, tile to tile. */
function useMovingFocus(): void {
  const navigate = route.useNavigate()
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
      if (agent !== undefined) void navigate({ to: '/session/$agent', params: { agent } })
    },
  })
}
