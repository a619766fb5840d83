// Routes and their parameters. The route stands behind the `#`: every object has a link, and no server sees it.
import {
  createBrowserHistory,
  createRootRoute,
  createRoute,
  createRouter,
  redirect,
  type RouterHistory,
} from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { FirstRunScreen } from './first-run/first-run-screen.tsx'
import { FleetScreen } from './fleet/fleet-screen.tsx'
import { NeedsYouScreen } from './needs-you/needs-you-screen.tsx'
import { Loading, ScreenError } from './components/feedback.tsx'
import { withoutDirectionMarks } from './data/client.ts'
import { lazyScreen } from './data/lazy-screen.ts'
import { usePreferences } from './data/preferences.ts'
import { useStore } from './data/store.ts'
import { App } from './shell/app.tsx'

/** Search parameters of a route: these, as strings. */
const strings =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Readonly<Record<string, unknown>>): { [N in Name]?: string | undefined } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return typeof value === 'string' && value !== '' ? [[name, value]] : []
      }),
    ) as { [N in Name]?: string | undefined }

function HomeScreen(): ReactNode {
  // Not between two questions of a task either: Needs you still shows the outcome of the first answer.
  const isFirstRun = useStore(({ totals, hasHadWork }) => totals !== null && !hasHadWork)
  const toured = usePreferences((preferences) => preferences.toured)
  return isFirstRun && !toured ? <FirstRunScreen /> : <NeedsYouScreen />
}

const root = createRootRoute({ component: App, notFoundComponent: HomeScreen })
const getParentRoute = (): typeof root => root

// Each a constant of its own: created inside of addChildren, routes would lose their types.
const index = createRoute({
  getParentRoute,
  path: '/',
  beforeLoad: () => {
    // oxlint-disable-next-line typescript/only-throw-error -- how TanStack Router redirects
    throw redirect({ to: '/needs-you/{-$wait}', replace: true })
  },
})
const needsYou = createRoute({ getParentRoute, path: '/needs-you/{-$wait}', component: HomeScreen })
const fleet = createRoute({
  getParentRoute,
  path: '/fleet',
  validateSearch: strings('state', 'as'),
  component: FleetScreen,
})
const session = createRoute({
  getParentRoute,
  path: '/session/$agent',
  validateSearch: strings('tab', 'part', 'file', 'since'),
  component: lazyScreen(() => import('./session/session-screen.tsx')),
})
const claims = createRoute({
  getParentRoute,
  path: '/claims/$',
  component: lazyScreen(() => import('./claims/claims-screen.tsx')),
})
const decisions = createRoute({
  getParentRoute,
  path: '/decisions/{-$run}/{-$call}',
  validateSearch: strings('agent', 'run', 'rule', 'decision', 'text', 'since', 'until'),
  component: lazyScreen(() => import('./decisions/decisions-screen.tsx')),
})
const timeline = createRoute({
  getParentRoute,
  path: '/timeline/{-$run}',
  validateSearch: strings('from', 'to', 'call', 'as', 'file'),
  component: lazyScreen(() => import('./timeline/timeline-screen.tsx')),
})
const tasks = createRoute({
  getParentRoute,
  path: '/tasks/{-$task}',
  component: lazyScreen(() => import('./tasks/tasks-screen.tsx')),
})
const tokens = createRoute({
  getParentRoute,
  path: '/tokens',
  component: lazyScreen(() => import('./tokens/tokens-screen.tsx')),
})
const routeTree = root.addChildren([index, needsYou, fleet, session, claims, decisions, timeline, tasks, tokens])

/** A segment of a link that was cut in the middle of a character is taken literally. */
function normalized(segment: string): string {
  try {
    return encodeURIComponent(withoutDirectionMarks(decodeURIComponent(segment)))
  } catch (error) {
    if (error instanceof URIError) return encodeURIComponent(segment)
    throw error
  }
}

// Not createHashHistory: that one joins `?project=ID`, which stands before the `#`, with the parameters of the route.
const history = createBrowserHistory({
  parseLocation() {
    const [path = '', ...search] = location.hash.replace(/^#(key=.*)?\/?/, '').split('?')
    const pathname = `/${path.split('/').map(normalized).join('/')}`
    const query = search.length === 0 ? '' : `?${search.join('?')}`
    const state = window.history.state as RouterHistory['location']['state'] | null
    // An address that was typed, or changed by a link outside of the router, has no state.
    const entry = state ?? { __TSR_index: 0, key: '', __TSR_key: '' }
    return { href: `${pathname}${query}`, pathname, search: query, hash: '', state: entry }
  },
  createHref: (href) => `#${href}`,
})

export const router = createRouter({
  routeTree,
  history,
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch(search) {
    const given = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '')
    const text = new URLSearchParams(given as [string, string][]).toString()
    return text === '' ? '' : `?${text}`
  },
  defaultPendingComponent: () => <Loading what="this screen" />,
  defaultErrorComponent: ScreenError,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
