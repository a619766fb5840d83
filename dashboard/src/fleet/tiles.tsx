// Many agents: tiles under the word of their state, who needs you large, the rest small.
import type { ReactNode } from 'react'
import type { AgentCard, CardState } from '../../../src/hub/contract.ts'
import { age, shortAge, sinceMs } from '../parts/format.ts'
import { Icon } from '../parts/icons.tsx'
import { STATE } from '../parts/words.ts'
import { placeLink } from '../shell/place.ts'
import { sinceOf, useSays } from './card.tsx'

interface Group {
  readonly word: string
  readonly tone: string
  readonly states: readonly CardState[]
  readonly isWide?: boolean
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
    states: ['looping', 'stuck', 'stale'],
    note: (agents) => `${countOf(agents, 'looping')} loop, ${countOf(agents, 'stale')} are stale`,
  },
  { word: 'Working', tone: 'working', states: ['working'], note: () => 'number: time since it began' },
  { word: 'Idle', tone: 'idle', states: ['idle'], note: () => 'ready for a task' },
  { word: 'Ended', tone: 'done', states: ['done', 'failed'], note: () => 'number: time since the end' },
]

export function Tiles({ agents, now }: { readonly agents: readonly AgentCard[]; readonly now: number }): ReactNode {
  return GROUPS.map((group) => {
    const those = agents.filter(({ state }) => group.states.includes(state))
    const [first] = group.states
    if (those.length === 0 || first === undefined) return null
    return (
      <section key={group.word} className="tile-group" aria-label={group.word}>
        <h2 className={`state ${group.tone}`}>
          <Icon name={STATE[first].glyph} size={13} />
          {group.word} <b>{those.length}</b> <span className="meta">{group.note(those, now)}</span>
        </h2>
        <ul className={group.isWide === true ? 'tiles wide' : 'tiles'}>
          {those.map((agent) => (
            <li key={agent.agent_id}>
              <Tile agent={agent} now={now} isWide={group.isWide === true} />
            </li>
          ))}
        </ul>
      </section>
    )
  })
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
    <a
      className={`tile ${tone}`}
      href={placeLink('session', agent.agent_id)}
      data-agent={agent.agent_id}
      aria-label={`${agent.agent_id}, ${word}, ${text}`}
    >
      <span className={`state ${tone}`}>
        <Icon name={glyph} size={11} />
      </span>
      <b className={isWide ? '' : 'cut'}>{agent.agent_id}</b>
      {isWide && <span className="second cut grow">{text}</span>}
      <span className="age">{loops != null ? `${loops}×` : since === null ? '' : shortAge(sinceMs(since, now))}</span>
    </a>
  )
}
