// The live feed: one WebSocket per tab. It patches the store, invalidates queries, and reconnects where it stopped.
import type { QueryClient } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { FeedMessage, HubReply, LiveEvents } from '../../../src/hub/contract.ts'
import { chosenProject, dropPass, get, parseReply, socketUrl } from './client.ts'
import { HubError } from './hub-error.ts'
import type { FeedNews } from './query-client.ts'
import { hasOtherWaits, patchFleet, useStore } from './store.ts'

const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 15_000]
/** Queries are invalidated twice a second at most. */
const INVALIDATE_MS = 500
/** A socket of a tab that was hidden for longer may be dead without an event. */
const ASLEEP_MS = 60_000

const { getState, setState, subscribe } = useStore

export class Feed {
  readonly #queries: QueryClient
  /** Resolves when the key of the link, if there was one, has been redeemed. */
  readonly #signedIn: Promise<void>
  #socket: WebSocket | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #invalidation: ReturnType<typeof setTimeout> | undefined
  #news: FeedNews[] = []
  #lastId = ''
  #failures = 0
  /** Reconnected by the page itself: not worth a banner. */
  #isPlanned = false
  /** Counts connection attempts, so that a superseded one ends where it waits. */
  #attempt = 0

  constructor(queries: QueryClient, signedIn: Promise<void>) {
    this.#queries = queries
    this.#signedIn = signedIn
  }

  /** Returns how to stop. */
  start(): () => void {
    const over = new AbortController()
    const { signal } = over
    let hiddenAt = 0
    const isLost = (): boolean => getState().connection.status === 'lost'
    document.addEventListener(
      'visibilitychange',
      () => {
        if (document.visibilityState === 'hidden') hiddenAt = Date.now()
        else if (isLost()) this.reconnect()
        else if (this.#socket !== undefined && Date.now() - hiddenAt > ASLEEP_MS) void this.#open()
      },
      { signal },
    )
    // A page in the back-forward cache keeps no connection.
    window.addEventListener('pagehide', () => this.#close(), { signal })
    window.addEventListener('pageshow', ({ persisted }) => persisted && this.reconnect(), { signal })
    window.addEventListener('online', () => isLost() && this.reconnect(), { signal })
    const unsubscribe = subscribe(({ screenLines, connection }, before) => {
      if (screenLines === before.screenLines || connection.status !== 'live') return
      this.#isPlanned = true
      void this.#open()
    })
    void this.#signedIn.then(() => {
      if (!signal.aborted) void this.#connect()
    })
    return () => {
      over.abort()
      unsubscribe()
      clearTimeout(this.#retry)
      clearTimeout(this.#invalidation)
      this.#invalidation = undefined
      this.#close()
    }
  }

  /** "Try now". */
  reconnect(): void {
    this.#failures = 0
    void this.#connect()
  }

  async #connect(): Promise<void> {
    clearTimeout(this.#retry)
    const attempt = (this.#attempt += 1)
    try {
      const hub = await get<HubReply>('hub')
      if (attempt !== this.#attempt) return
      setState({ hub, banners: hub.banners, skewMs: Date.parse(hub.now) - Date.now() })
      const wanted = chosenProject()
      if (wanted !== null && !hub.projects.some(({ project }) => project === wanted))
        return setState({ connection: { status: 'no-project', hub } })
    } catch (error) {
      if (attempt !== this.#attempt) return
      const code = error instanceof HubError ? error.code : ''
      const isTaken = code === 'HUB_NOT_PROVED'
      // A page that shows nothing yet says what to type; one that shows a fleet keeps it and retries.
      if (code === 'HUB_TOKEN_REQUIRED' || (isTaken && getState().hub === null))
        return setState({ connection: { status: 'signed-out', isTaken } })
      return this.#lost(isTaken)
    }
    await this.#open()
  }

  async #open(): Promise<void> {
    const attempt = (this.#attempt += 1)
    let url: string
    try {
      const { screenLines } = getState()
      const screens = screenLines === 0 ? undefined : screenLines
      url = await socketUrl('events', { after: this.#lastId || undefined, screens })
    } catch {
      // The hub or the browser's storage failed: both are tried again.
      return attempt === this.#attempt ? this.#lost() : undefined
    }
    if (attempt !== this.#attempt) return
    this.#socket?.close()
    const socket = new WebSocket(url)
    this.#socket = socket
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      if (socket === this.#socket) this.#receive(parseReply(data) as FeedMessage)
    }
    socket.onclose = () => {
      if (socket === this.#socket) this.#lost()
    }
  }

  #close(): void {
    this.#attempt += 1
    const socket = this.#socket
    this.#socket = undefined
    socket?.close()
  }

  /** `isTaken`: another program answers at the address. */
  #lost(isTaken = false): void {
    dropPass()
    this.#close()
    const { connection } = getState()
    const waitMs = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)] ?? 15_000
    this.#failures += 1
    const lostAt = connection.status === 'lost' ? connection.lostAt : Date.now()
    setState({ connection: { status: 'lost', lostAt, retryAt: Date.now() + waitMs, isTaken } })
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => void this.#connect(), waitMs)
  }

  #receive({ id, ...message }: FeedMessage): void {
    if (id !== undefined) this.#lastId = id
    switch (message.event) {
      case 'hello':
        return this.#greeted(message.data)
      case 'state': {
        const before = getState()
        const fleet = patchFleet(before, message.data)
        setState(fleet)
        // Queries of the first screen were sent before the first snapshot.
        if (before.shownAt === null) return
        return this.#invalidate({
          rows: [],
          calls: [],
          hasEntries: fleet.totals?.seq !== before.totals?.seq,
          agents: message.data.agents.flatMap(({ agent_id, state }) =>
            before.agents.get(agent_id)?.state === state ? [] : [agent_id],
          ),
          hasWaits: hasOtherWaits(before.waits, fleet.waits),
        })
      }
      case 'log': {
        const { rows, calls } = message.data
        setState(({ callsReceived }) => ({ callsReceived: callsReceived + calls.length }))
        return this.#invalidate({ rows, calls, hasEntries: calls.length === 0, agents: [], hasWaits: false })
      }
      case 'screens':
        return setState(({ screens }) => ({
          screens: new Map([...screens, ...message.data.screens.map((screen) => [screen.session_id, screen] as const)]),
        }))
    }
  }

  #greeted({ reset, caught_up }: LiveEvents['hello']): void {
    const wasLost = getState().connection.status === 'lost' && !this.#isPlanned
    this.#failures = 0
    this.#isPlanned = false
    setState({
      connection: {
        status: 'live',
        caughtUp: wasLost ? (caught_up ?? 0) : null,
        backSince: wasLost ? Date.now() : null,
      },
    })
    // After a reset the hub has other stores; otherwise what failed while it was away is asked for again.
    void this.#queries.invalidateQueries(reset ? {} : { predicate: ({ state }) => state.error !== null })
  }

  #invalidate(news: FeedNews): void {
    this.#news.push(news)
    this.#invalidation ??= setTimeout(() => {
      const all = this.#news
      this.#news = []
      this.#invalidation = undefined
      void this.#queries.invalidateQueries({
        predicate: ({ meta }) => meta?.isStaleAfter !== undefined && all.some(meta.isStaleAfter),
      })
    }, INVALIDATE_MS)
  }
}

export const FeedContext = createContext<Feed | null>(null)

export function useFeed(): Feed {
  const feed = useContext(FeedContext)
  if (feed === null) throw new Error('no feed above this component')
  return feed
}
