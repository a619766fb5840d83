// The rail: projects, screens with their counts, the time that is shown, and the reader's taste.
import type { ReactNode } from 'react'
import { useWatch } from '../live/hooks.ts'
import { Key, Segments } from '../parts/controls.tsx'
import { Brand, Icon, type IconName } from '../parts/icons.tsx'
import { go, placeLink, usePlace } from './place.ts'
import { choose, shownTheme, useTaste } from './taste.ts'

interface Entry {
  readonly screen: string
  readonly word: string
  readonly icon: IconName
}

const ENTRIES: readonly Entry[] = [
  { screen: 'needs-you', word: 'Needs you', icon: 'diamond' },
  { screen: 'fleet', word: 'Fleet', icon: 'grid' },
  { screen: 'claims', word: 'Claims', icon: 'map' },
  { screen: 'decisions', word: 'Decisions', icon: 'shield' },
  { screen: 'timeline', word: 'Timeline', icon: 'lanes' },
  { screen: 'tasks', word: 'Tasks', icon: 'list' },
  { screen: 'tokens', word: 'Tokens', icon: 'bars' },
]

function Count({ screen }: { readonly screen: string }): ReactNode {
  const totals = useWatch((watch) => watch.totals)
  if (totals === null) return null
  if (screen === 'needs-you') return <b className={totals.waits > 0 ? 'count lamp' : 'count'}>{totals.waits}</b>
  if (screen === 'fleet') return <b className="count">{totals.agents}</b>
  if (screen === 'claims' && totals.collisions > 0)
    return (
      <b className="count clash">
        <Icon name="bow" size={12} /> {totals.collisions}
      </b>
    )
  return null
}

/** A session is looked at from the fleet. */
const shownAs = (screen: string): string => (screen === 'session' ? 'fleet' : screen)

function Projects(): ReactNode {
  const hub = useWatch((watch) => watch.hub)
  const projects = hub?.projects ?? []
  const chosen = new URLSearchParams(location.search).get('project') ?? projects[0]?.project ?? ''
  return (
    <label className="project">
      <Icon name="folder" size={14} />
      <span className="hidden-text">Project</span>
      <select
        value={chosen}
        title={projects.find(({ project }) => project === chosen)?.root}
        onChange={(event) => {
          location.search = new URLSearchParams({ project: event.target.value }).toString()
        }}
      >
        {projects.map(({ project, name }) => (
          <option key={project} value={project}>
            {name}
          </option>
        ))}
      </select>
      <Icon name="down" size={12} />
    </label>
  )
}

/** A run that is over is the past; one that goes on is now, on its timeline too. */
function useIsPast(screen: string): boolean {
  const { of: run } = usePlace()
  const isRunning = useWatch(({ agents }) =>
    [...agents.values()].some(({ run_id }) => run_id !== null && run_id === run),
  )
  return screen === 'timeline' && run !== null && !isRunning
}

export function Rail({ screen, onKeys }: { readonly screen: string; readonly onKeys: () => void }): ReactNode {
  const taste = useTaste()
  const isPast = useIsPast(screen)
  return (
    <aside className="rail" aria-label="Screens">
      <p className="brand">
        <Brand /> <span>Heimdall</span>
      </p>
      <Projects />
      <nav aria-label="Screens">
        {ENTRIES.map((entry) => (
          <a
            key={entry.screen}
            href={placeLink(entry.screen)}
            aria-current={shownAs(screen) === entry.screen ? 'page' : undefined}
            aria-label={entry.word}
          >
            <Icon name={entry.icon} size={15} />
            <span>{entry.word}</span>
            <Count screen={entry.screen} />
          </a>
        ))}
      </nav>
      <div className="rail-foot">
        <p className="meta">Shown time</p>
        <Segments
          label="Shown time"
          of={[
            { value: 'now', text: 'Now' },
            { value: 'past', text: 'Past…' },
          ]}
          chosen={isPast ? 'past' : 'now'}
          onChoose={(value) => go(placeLink(value === 'past' ? 'timeline' : 'needs-you'))}
        />
        <div className="switches">
          <button type="button" onClick={onKeys}>
            <Key>?</Key> Keys
          </button>
          <span className="grow" />
          <button
            type="button"
            aria-label={`Theme: ${taste.theme}. Change`}
            onClick={() => choose({ theme: shownTheme() === 'dark' ? 'light' : 'dark' })}
          >
            {shownTheme() === 'dark' ? 'Dark' : 'Light'}
          </button>
          ·
          <button
            type="button"
            aria-label={`Density: ${taste.density}. Change`}
            onClick={() => choose({ density: taste.density === 'compact' ? 'comfortable' : 'compact' })}
          >
            {taste.density === 'compact' ? 'Compact' : 'Comfortable'}
          </button>
        </div>
      </div>
    </aside>
  )
}

/** The phone's way between screens, under the thumb. */
export function Tabs({ screen, onSearch }: { readonly screen: string; readonly onSearch: () => void }): ReactNode {
  const waits = useWatch((watch) => watch.totals?.waits ?? 0)
  return (
    <nav className="tabs" aria-label="Screens, at the thumb">
      {ENTRIES.slice(0, 4).map((entry) => (
        <a
          key={entry.screen}
          href={placeLink(entry.screen)}
          aria-current={shownAs(screen) === entry.screen ? 'page' : undefined}
        >
          <Icon name={entry.icon} size={18} />
          {entry.word}
          {entry.screen === 'needs-you' && waits > 0 && <b className="count">{waits}</b>}
        </a>
      ))}
      <button type="button" onClick={onSearch}>
        <Icon name="search" size={18} />
        Search
      </button>
    </nav>
  )
}
