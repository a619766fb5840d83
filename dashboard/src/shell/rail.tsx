// The rail: projects, screens with their counts, the time that is shown, and the reader's taste.
import { type ReactNode, useEffect, useRef } from 'react'
import { useWatch } from '../live/hooks.ts'
import { Key, Segments } from '../parts/controls.tsx'
import { Brand, Icon, type IconName } from '../parts/icons.tsx'
import { go, placeLink, readPlace, usePlace } from './place.ts'
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

/** The list of runs, and a run that is over, are the past; one that goes on is now, on its timeline too. */
function useIsPast(screen: string): boolean {
  const { of: run } = usePlace()
  const isRunning = useWatch(({ agents }) =>
    [...agents.values()].some(({ run_id }) => run_id !== null && run_id === run),
  )
  return screen === 'timeline' && !isRunning
}

/** What was looked at before the past was: now leads back to it. */
let before = placeLink('needs-you')

function show(time: 'now' | 'past'): void {
  if (time === 'now') go(before)
  else {
    if (readPlace(location.hash).screen !== 'timeline') before = location.hash
    go(placeLink('timeline'))
  }
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
            { value: 'now', text: 'Now', title: 'Back to what you looked at' },
            { value: 'past', text: 'Past…', title: 'To the runs on the Timeline, each from its beginning to its end' },
          ]}
          chosen={isPast ? 'past' : 'now'}
          onChoose={show}
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

/** In sight on a phone; the others come in from the right when the thumb pushes. */
const AT_THE_THUMB = 4

/** The phone's way between screens, under the thumb. */
export function Tabs({ screen, onSearch }: { readonly screen: string; readonly onSearch: () => void }): ReactNode {
  const waits = useWatch((watch) => watch.totals?.waits ?? 0)
  const tabs = useRef<HTMLElement>(null)
  useEffect(() => tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'nearest' }), [screen])
  const tab = (entry: Entry): ReactNode => (
    <a
      key={entry.screen}
      href={placeLink(entry.screen)}
      aria-current={shownAs(screen) === entry.screen ? 'page' : undefined}
    >
      <Icon name={entry.icon} size={18} />
      {entry.word}
      {entry.screen === 'needs-you' && waits > 0 && <b className="count">{waits}</b>}
    </a>
  )
  return (
    <nav className="tabs" aria-label="Screens, at the thumb" ref={tabs}>
      {ENTRIES.slice(0, AT_THE_THUMB).map(tab)}
      <button type="button" onClick={onSearch}>
        <Icon name="search" size={18} />
        Search
      </button>
      {ENTRIES.slice(AT_THE_THUMB).map(tab)}
    </nav>
  )
}
