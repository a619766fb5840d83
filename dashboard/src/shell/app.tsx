// The frame of the page: rail, watch line, screen, foot. What a screen is about is in the address.
import { type ReactNode, Suspense, useMemo, useState } from 'react'
import { FirstRunScreen } from '../first-run/first-run-screen.tsx'
import { FleetScreen } from '../fleet/fleet-screen.tsx'
import { useWatch } from '../live/hooks.ts'
import { later } from '../live/later.ts'
import { NeedsYouScreen } from '../needs-you/needs-you-screen.tsx'
import { keepNeighboursApart, Letters, lettersOf } from '../parts/agent-mark.tsx'
import { Contained } from '../parts/contained.tsx'
import { Loading } from '../parts/days.tsx'
import { SearchBox } from '../search/search-box.tsx'
import { Banners } from './banners.tsx'
import { Foot } from './foot.tsx'
import { useKeys } from './keys.ts'
import { KeysDialog } from './keys-dialog.tsx'
import { onAnnouncement } from './notices.ts'
import { back, go, placeLink, usePlace } from './place.ts'
import { Rail, Tabs } from './rail.tsx'
import { NoProject, SignedOut } from './sign-in.tsx'
import { useTaste } from './taste.ts'
import { Top } from './top.tsx'

const SessionScreen = later(() => import('../session/session-screen.tsx'))
const ClaimsScreen = later(() => import('../claims/claims-screen.tsx'))
const DecisionsScreen = later(() => import('../decisions/decisions-screen.tsx'))
const TimelineScreen = later(() => import('../timeline/timeline-screen.tsx'))
const TasksScreen = later(() => import('../tasks/tasks-screen.tsx'))
const TokensScreen = later(() => import('../tokens/tokens-screen.tsx'))

export function App(): ReactNode {
  const { screen, of } = usePlace()
  const isSignedOut = useWatch(({ connection }) => connection.status === 'signed-out')
  const missing = useWatch(({ connection }) => (connection.status === 'no-project' ? connection.hub : undefined))
  const agents = useWatch((watch) => watch.agents)
  const letters = useMemo(() => {
    keepNeighboursApart(agents.values())
    return lettersOf(agents.keys())
  }, [agents])
  const [over, setOver] = useState<'keys' | 'search' | null>(null)
  const [said, setSaid] = useState('')
  onAnnouncement(setSaid)
  useKeys({
    'g n': () => go(placeLink('needs-you')),
    'g f': () => go(placeLink('fleet')),
    'g c': () => go(placeLink('claims')),
    'g d': () => go(placeLink('decisions')),
    'g t': () => go(placeLink('timeline')),
    'g k': () => go(placeLink('tasks')),
    'g o': () => go(placeLink('tokens')),
    '/': () => setOver('search'),
    'ctrl-k': () => setOver('search'),
    '?': () => setOver('keys'),
    c: () => void navigator.clipboard.writeText(location.href),
    Escape: back,
  })
  if (isSignedOut) return <SignedOut />
  return (
    <Letters value={letters}>
      {/* Before the frame: after it, it would make the page a pixel longer than the window. */}
      <p className="hidden-text" role="status" aria-live="polite">
        {said}
      </p>
      <div className="frame">
        <a className="hidden-text" href="#main">
          To the content
        </a>
        <Rail screen={screen} onKeys={() => setOver('keys')} />
        <Top onSearch={() => setOver('search')} />
        <main className={`main at-${screen}`} id="main" tabIndex={-1}>
          <Banners />
          <Suspense fallback={<Loading what="this screen" />}>
            <Contained what={screen} where={location.hash}>
              {missing === undefined ? <ScreenOf screen={screen} of={of} /> : <NoProject hub={missing} />}
            </Contained>
          </Suspense>
        </main>
        <Foot />
        <Tabs screen={screen} onSearch={() => setOver('search')} />
      </div>
      {over === 'keys' && <KeysDialog onClose={() => setOver(null)} />}
      {over === 'search' && <SearchBox onClose={() => setOver(null)} onKeys={() => setOver('keys')} />}
    </Letters>
  )
}

function ScreenOf({ screen, of }: { readonly screen: string; readonly of: string | null }): ReactNode {
  // Not between two questions of a task either: Needs you still shows what became of the answer to the first.
  const isFirstRun = useWatch(({ totals, hasHadWork }) => totals !== null && !hasHadWork)
  const { toured } = useTaste()
  switch (screen) {
    case 'fleet':
      return <FleetScreen />
    case 'claims':
      return <ClaimsScreen path={of} />
    case 'decisions':
      return <DecisionsScreen selected={of} />
    case 'timeline':
      return <TimelineScreen run={of} />
    case 'tasks':
      return <TasksScreen selected={of} />
    case 'tokens':
      return <TokensScreen />
    default:
      if (screen === 'session' && of !== null) return <SessionScreen agent={of} />
      return isFirstRun && !toured ? <FirstRunScreen /> : <NeedsYouScreen selected={of} />
  }
}
