// React's way to what the page knows: the watch, the hub's clock, and parts that are asked for when they are looked at.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { Thumbnail } from '../../../src/hub/contract.ts'
import { get, HubError, type Query } from './api.ts'
import { onLog, onScreen, onWatchChange, screenOf, type LogPart, type KnownFleet, watchNow } from './watch.ts'

export function useWatch<T>(part: (watch: KnownFleet) => T): T {
  return useSyncExternalStore(onWatchChange, () => part(watchNow()))
}

export function useScreen(session: string | null): Thumbnail | undefined {
  const subscribe = useCallback(
    (listener: () => void) => (session === null ? () => undefined : onScreen(session, listener)),
    [session],
  )
  return useSyncExternalStore(subscribe, () => (session === null ? undefined : screenOf(session)))
}

// One clock for the page, so that all ages turn at once.
let nowMs = Date.now()
const clockListeners = new Set<() => void>()
let ticking: ReturnType<typeof setInterval> | undefined

function onTick(listener: () => void): () => void {
  clockListeners.add(listener)
  ticking ??= setInterval(() => {
    nowMs = Date.now()
    for (const each of clockListeners) each()
  }, 1_000)
  return () => {
    clockListeners.delete(listener)
    if (clockListeners.size > 0) return
    clearInterval(ticking)
    ticking = undefined
  }
}

/** The hub's time now, to the second. While the hub is away the clock stands: what is shown is of then. */
export function useHubNow(): number {
  const tick = useSyncExternalStore(onTick, () => nowMs)
  const skewMs = useWatch((watch) => watch.skewMs)
  const lostAt = useWatch(({ connection }) => (connection.status === 'lost' ? connection.lostAt : null))
  return Math.max(lostAt ?? tick, 0) + skewMs
}

/** The browser's own clock, for "trying again in 3 s". */
export function useBrowserNow(): number {
  return useSyncExternalStore(onTick, () => nowMs)
}

interface Loaded<T> {
  readonly data: T | undefined
  readonly error: HubError | undefined
  readonly isLoading: boolean
  readonly reload: () => void
}

/** Asks for a part and keeps what it has while it asks again. `path` null asks for nothing. */
export function useHub<T>(path: string | null, query: Query = {}): Loaded<T> {
  const key = path === null ? null : `${path} ${JSON.stringify(query)}`
  const [state, setState] = useState<{ key: string | null; data?: T; error?: HubError }>({ key: null })
  const [round, setRound] = useState(0)
  const generation = useWatch((watch) => watch.generation)
  const asked = useRef({ path, query })
  asked.current = { path, query }
  useEffect(() => {
    const { path, query } = asked.current
    if (path === null) return
    const abort = new AbortController()
    get<T>(path, query, abort.signal).then(
      (data) => setState({ key, data }),
      (error: unknown) => {
        if (abort.signal.aborted) return
        if (!(error instanceof HubError)) throw error
        setState((before) => ({ ...(before.key === key ? before : {}), key, error }))
      },
    )
    return () => abort.abort()
  }, [key, round, generation])
  const reload = useCallback(() => setRound((n) => n + 1), [])
  // What failed while the hub was away is asked for again when it is back.
  const isLive = useWatch(({ connection }) => connection.status === 'live')
  const hasFailed = state.error !== undefined
  useEffect(() => {
    if (isLive && hasFailed) reload()
  }, [isLive])
  const isOf = state.key === key
  return {
    data: isOf ? state.data : undefined,
    error: isOf ? state.error : undefined,
    isLoading: !isOf && path !== null,
    reload,
  }
}

/** Calls back, at most twice a second, when something that matters was put on record. */
export function useOnLog(matters: (part: LogPart) => boolean, act: () => void): void {
  const latest = useRef({ matters, act })
  latest.current = { matters, act }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onLog((part) => {
      if (timer !== undefined || !latest.current.matters(part)) return
      timer = setTimeout(() => {
        timer = undefined
        latest.current.act()
      }, 500)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
}

/** Calls back every so often while somebody looks. */
export function useEvery(everyMs: number, act: () => void): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}
