// The frame of the page: rail, watch line, screen, foot.
import { Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import { AgentMarks, marksOf } from '../components/agent-mark.tsx'
import { useClock } from '../data/clock.ts'
import { useFeed } from '../data/feed.ts'
import { usePreferences, useTheme } from '../data/preferences.ts'
import { keyIn, redeemKey } from '../data/sign-in.ts'
import { useStore } from '../data/store.ts'
import { SearchBox } from '../search/search-box.tsx'
import { Banners } from './banners.tsx'
import { Foot } from './foot.tsx'
import { useKeys } from './keys.tsx'
import { KeysDialog } from './keys-dialog.tsx'
import { useNotifications } from './notifications.ts'
import { Rail, Tabs } from './rail.tsx'
import { NEEDS_YOU, SCREENS } from './screens.ts'
import { NoProject, SignedOut } from './sign-in.tsx'
import { Top } from './top.tsx'
import { cx } from '../components/cx.ts'
import css from './shell.module.css'

export function App(): ReactNode {
  useFeedAndSignIn()
  useClock()
  useNotifications()
  useDocumentTheme()
  const isSignedOut = useStore(({ connection }) => connection.status === 'signed-out')
  const missing = useStore(({ connection }) => (connection.status === 'no-project' ? connection.hub : undefined))
  const announcement = useStore((state) => state.announcement)
  const agents = useStore((state) => state.agents)
  const marks = useMemo(() => marksOf([...agents.values()]), [agents])
  const screen = useLocation({ select: ({ pathname }) => pathname.split('/')[1] ?? '' })
  const [dialog, setDialog] = useState<'keys' | 'search' | null>(null)
  useShortcuts(setDialog)
  if (isSignedOut) return <SignedOut />
  return (
    <AgentMarks value={marks}>
      {/* Before the frame: after it, it would make the page a pixel longer than the window. */}
      <p className="hidden-text" role="status" aria-live="polite">
        {announcement}
      </p>
      <div className={css.frame}>
        <a
          className="hidden-text"
          href="#main"
          onClick={(event) => {
            event.preventDefault()
            document.querySelector<HTMLElement>('#main')?.focus()
          }}
        >
          To the content
        </a>
        <Rail screen={screen} onKeys={() => setDialog('keys')} />
        <Top onSearch={() => setDialog('search')} />
        <main className={cx('scroll', css.main)} data-screen={screen} id="main" tabIndex={-1}>
          <Banners />
          {missing === undefined ? <Outlet /> : <NoProject hub={missing} />}
        </main>
        <Foot />
        <Tabs screen={screen} onSearch={() => setDialog('search')} />
      </div>
      {dialog === 'keys' && <KeysDialog onClose={() => setDialog(null)} />}
      {dialog === 'search' && <SearchBox onClose={() => setDialog(null)} onKeys={() => setDialog('keys')} />}
    </AgentMarks>
  )
}

/** A one-time link that is followed in a tab that has the page already changes the address alone. */
function useFeedAndSignIn(): void {
  const feed = useFeed()
  const navigate = useNavigate()
  useEffect(() => {
    const stop = feed.start()
    // From the event: the router may have replaced the address by now.
    const onHashChange = ({ newURL }: HashChangeEvent): void => {
      const key = keyIn(newURL)
      if (key === undefined) return
      void navigate({ ...NEEDS_YOU, replace: true })
      void redeemKey(key).then(() => feed.reconnect())
    }
    window.addEventListener('hashchange', onHashChange)
    return () => {
      stop()
      window.removeEventListener('hashchange', onHashChange)
    }
  }, [feed, navigate])
}

function useDocumentTheme(): void {
  const theme = useTheme()
  const density = usePreferences((preferences) => preferences.density)
  // Before canvases are drawn in its colours.
  useLayoutEffect(() => {
    document.documentElement.dataset['theme'] = theme
    document.documentElement.dataset['density'] = density
  }, [theme, density])
}

function useShortcuts(open: (dialog: 'keys' | 'search') => void): void {
  const navigate = useNavigate()
  const { history } = useRouter()
  useKeys({
    ...Object.fromEntries(SCREENS.map(({ key, link }) => [key, () => void navigate(link)])),
    '/': () => open('search'),
    'ctrl-k': () => open('search'),
    '?': () => open('keys'),
    c: () => void navigator.clipboard.writeText(location.href),
    Escape() {
      // A key must not lead away from the page. The router counts only its own navigations, not edited addresses.
      const { navigation } = window as { readonly navigation?: { readonly canGoBack: boolean } }
      if (navigation?.canGoBack === true) history.back()
      else void navigate(NEEDS_YOU)
    },
  })
}
