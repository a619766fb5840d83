// The rail: projects, screens with their counts, the shown time, and the reader's preferences.
import { Link, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { Key, Segments } from '../components/controls.tsx'
import { Brand, Icon } from '../components/icons.tsx'
import { toggleDensity, usePreferences, useTheme, useToggleTheme } from '../data/preferences.ts'
import { useStore } from '../data/store.ts'
import { SCREENS } from './screens.ts'
import { cx } from '../components/cx.ts'
import css from './shell.module.css'

function Count({ screen }: { readonly screen: string }): ReactNode {
  const totals = useStore((state) => state.totals)
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
  const hub = useStore((state) => state.hub)
  const projects = hub?.projects ?? []
  const chosen = new URLSearchParams(location.search).get('project') ?? projects[0]?.project ?? ''
  return (
    <label className={cx('middle', css.project)}>
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

/** The list of runs, and a run that is over, are the past; a run that is active is now, on its timeline too. */
function useIsPast(screen: string): boolean {
  const { run } = useParams({ strict: false })
  const isActive = useStore(({ agents }) =>
    [...agents.values()].some(({ run_id }) => run_id !== null && run_id === run),
  )
  return screen === 'timeline' && !isActive
}

function ShownTime({ screen }: { readonly screen: string }): ReactNode {
  const navigate = useNavigate()
  const href = useLocation({ select: (location) => location.href })
  const show = (time: 'now' | 'past'): void => {
    if (time === 'now') return void navigate({ href: useStore.getState().presentHref })
    if (screen !== 'timeline') useStore.setState({ presentHref: href })
    void navigate({ to: '/timeline/{-$run}', params: { run: undefined } })
  }
  return (
    <Segments
      label="Shown time"
      of={[
        { value: 'now', text: 'Now', title: 'Back to what you looked at' },
        { value: 'past', text: 'Past…', title: 'To the runs on the Timeline, each from its beginning to its end' },
      ]}
      chosen={useIsPast(screen) ? 'past' : 'now'}
      onChoose={show}
    />
  )
}

export function Rail({ screen, onKeys }: { readonly screen: string; readonly onKeys: () => void }): ReactNode {
  const { theme, density } = usePreferences()
  const shownTheme = useTheme()
  const toggleTheme = useToggleTheme()
  return (
    <aside className={cx('column', css.rail)} aria-label="Screens">
      <p className={cx('middle', css.brand)}>
        <Brand /> <span>Heimdall</span>
      </p>
      <Projects />
      <nav aria-label="Screens">
        {SCREENS.map(({ name, title, icon, link }) => (
          <Link key={name} {...link} aria-current={shownAs(screen) === name ? 'page' : undefined} aria-label={title}>
            <Icon name={icon} size={15} />
            <span>{title}</span>
            <Count screen={name} />
          </Link>
        ))}
      </nav>
      <div className={css.railFoot}>
        <p className="meta">Shown time</p>
        <ShownTime screen={screen} />
        <div className={css.switches}>
          <button type="button" onClick={onKeys}>
            <Key>?</Key> Keys
          </button>
          <span className="grow" />
          <button type="button" aria-label={`Theme: ${theme}. Change`} onClick={toggleTheme}>
            {shownTheme === 'dark' ? 'Dark' : 'Light'}
          </button>
          ·
          <button type="button" aria-label={`Density: ${density}. Change`} onClick={toggleDensity}>
            {density === 'compact' ? 'Compact' : 'Comfortable'}
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
  const waits = useStore((state) => state.totals?.waits ?? 0)
  const tabs = useRef<HTMLElement>(null)
  useEffect(() => tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'nearest' }), [screen])
  const tab = ({ name, title, icon, link }: (typeof SCREENS)[number]): ReactNode => (
    <Link key={name} {...link} aria-current={shownAs(screen) === name ? 'page' : undefined}>
      <Icon name={icon} size={18} />
      {title}
      {name === 'needs-you' && waits > 0 && <b className="count">{waits}</b>}
    </Link>
  )
  return (
    <nav className={css.tabs} aria-label="Screens, at the thumb" ref={tabs}>
      {SCREENS.slice(0, AT_THE_THUMB).map(tab)}
      <button type="button" onClick={onSearch}>
        <Icon name="search" size={18} />
        Search
      </button>
      {SCREENS.slice(AT_THE_THUMB).map(tab)}
    </nav>
  )
}
