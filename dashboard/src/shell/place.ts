// Where the page is: after the #, so that it is shared by a link and never sent to a server.
import { useMemo, useSyncExternalStore } from 'react'
import { untwisted } from '../live/api.ts'

interface Place {
  /** `fleet`, `session`, … */
  readonly screen: string
  /** What the screen is about: an agent, a run, a path. */
  readonly of: string | null
  readonly query: URLSearchParams
}

export const SCREENS = [
  'needs-you',
  'fleet',
  'session',
  'claims',
  'decisions',
  'timeline',
  'tasks',
  'tokens',
  'parts',
] as const

/** A link that was cut in the middle of a letter is read as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}

export function readPlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [screen = '', ...rest] = path.split('/')
  const of = rest.length === 0 ? null : untwisted(rest.map(decoded).join('/'))
  return {
    screen: (SCREENS as readonly string[]).includes(screen) ? screen : 'needs-you',
    of: of === '' ? null : of,
    query: new URLSearchParams(query),
  }
}

export type PlaceQuery = Readonly<Record<string, string | null | undefined>>

/** The link to a place. */
export function placeLink(screen: string, of: string | null = null, query: PlaceQuery = {}): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value != null && value !== '') words.set(name, value)
  const text = words.toString()
  return `#/${screen}${of === null ? '' : `/${encodeURIComponent(of)}`}${text === '' ? '' : `?${text}`}`
}

export function go(link: string): void {
  location.hash = link
}

/** One step back, as long as that is still here: a key must not lead away from the page. */
export function back(): void {
  const { navigation } = window as { readonly navigation?: { readonly canGoBack: boolean } }
  if (navigation?.canGoBack === true) history.back()
  else go(placeLink('needs-you'))
}

/** Changes what the address says of the place, without a step in the history. */
export function refine(query: PlaceQuery): void {
  const { screen, of, query: before } = readPlace(location.hash)
  const link = placeLink(screen, of, { ...Object.fromEntries(before), ...query })
  if (link === location.hash) return
  history.replaceState(null, '', link)
  window.dispatchEvent(new HashChangeEvent('hashchange'))
}

function onHash(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

export function usePlace(): Place {
  const hash = useSyncExternalStore(onHash, () => location.hash)
  return useMemo(() => readPlace(hash), [hash])
}
