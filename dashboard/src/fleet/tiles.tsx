// Many agents: tiles under the word of their state, who needs you large, the rest small.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AgentCard, CardState } from '../../../src/hub/contract.ts'
import { age, sinceMs } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { STATE } from '../components/words.ts'
import { sinceOf, useSays } from './card.tsx'
import { cx } from '../components/cx.ts'
import css from './fleet.module.css'

interface Group {
  readonly word: string
  readonly tone: string
  readonly states: readonly CardState[]
  readonly isWide?: boolean
  /** Next to another group. */
  readonly isHalf?: boolean
  /** What the figure on a tile counts. */
  readonly note: (agents: readonly AgentCard[], now: number) => string
}

const countOf = (agents: readonly AgentCard[], state: CardState): number =>
  agents.filter((agent) => agent.state === state).length

const GROUPS: readonly Group[] = [
  {
    word: 'Needs you',
    tone: 'needs-you',
    states: ['needs_you', 'collision'],
    isWide: true,
    note: (agents, now) => {
      const oldest = Math.max(...agents.map((agent) => sinceMs(sinceOf(agent) ?? '', now) || 0))
      const collisions = countOf(agents, 'collision')
      return `oldest ${age(oldest)}${collisions === 0 ? '' : `; ${collisions} of them collisions, shown on the claims map`}`
    },
  },
  {
    word: 'To look at',
    tone: 'looping',
    states: ['looping', 'stuck', 'lost', 'stale'],
    note: (agents) => {
      const counts = {
        loop: countOf(agents, 'looping'),
        stuck: countOf(agents, 'stuck'),
        lost: countOf(agents, 'lost'),
        stale: countOf(agents, 'stale'),
      }
      return Object.entries(counts)
        .flatMap(([word, count]) => (count === 0 ? [] : [`${count} ${word}`]))
        .join(', ')
    },
  },
  { word: 'Working', tone: 'working', states: ['working'], note: () => 'number: time since it began' },
  {
    word: 'Idle',
    tone: 'idle',
    states: ['idle'],
    isHalf: true,
    note: () => 'number: time since it last did something',
  },
  {
    word: 'Ended',
    tone: 'done',
    states: ['done', 'cancelled', 'failed'],
    isHalf: true,
    note: () => 'number: time since the end',
  },
]

/** 42m, 72m, 5h, 3d: as much as a tile has room for. */
function tileAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return `${Math.floor(ms / 1_000)}s`
  if (minutes < 100) return `${minutes}m`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours}h` : `${Math.round(hours / 24)}d`
}

export function Tiles({ agents, now }: { readonly agents: readonly AgentCard[]; readonly now: number }): ReactNode {
  const groups = GROUPS.map((group) => {
    const those = agents.filter(({ state }) => group.states.includes(state))
    const [first] = group.states
    if (those.length === 0 || first === undefined) return null
    return (
      <section
        key={group.word}
        className={group.isHalf === true ? cx(css.tileGroup, css.half) : css.tileGroup}
        aria-label={group.word}
      >
        <h2 className={`state ${group.tone}`}>
          <Icon name={STATE[first].glyph} size={13} />
          {group.word} <b>{those.length}</b> <span className="meta">{group.note(those, now)}</span>
        </h2>
        <ul className={group.isWide === true ? cx(css.tiles, css.wide) : css.tiles}>
          {those.map((agent) => (
            <li key={agent.agent_id}>
              <Tile agent={agent} now={now} isWide={group.isWide === true} />
            </li>
          ))}
        </ul>
      </section>
    )
  })
  return <div className={css.tileGroups}>{groups}</div>
}

function Tile({
  agent,
  now,
  isWide,
}: {
  readonly agent: AgentCard
  readonly now: number
  readonly isWide: boolean
}): ReactNode {
  const { text } = useSays(agent)
  const { word, glyph, tone } = STATE[agent.state]
  const loops = agent.problems.find(({ kind }) => kind === 'looping')?.count
  const since = sinceOf(agent)
  return (
    <Link
      className={cx('middle', css.tile, tone)}
      to="/session/$agent"
      params={{ agent: agent.agent_id }}
      data-agent={agent.agent_id}
      aria-label={`${agent.agent_id}, ${word}, ${text}`}
    >
      <span className={`state ${tone}`}>
        <Icon name={glyph} size={11} />
      </span>
      <b className={isWide ? '' : 'cut'}>{agent.agent_id}</b>
      {isWide && <span className="second cut grow">{text}</span>}
      <span className="age">
        {loops != null ? `${loops}×` : since === null ? '' : (isWide ? age : tileAge)(sinceMs(since, now))}
      </span>
    </Link>
  )
}
