// The hub's time. One timer in the root component updates the store, so that all ages change together.
import { useEffect } from 'react'
import { useStore } from './store.ts'

/** Called once, by the root component. */
export function useClock(): void {
  useEffect(() => {
    const timer = setInterval(() => useStore.setState({ nowMs: Date.now() }), 1_000)
    return () => clearInterval(timer)
  }, [])
}

/** The hub's time now, to the second. It stops while the hub is not reached, since what is shown is of that time. */
export function useHubNow(): number {
  return useStore(
    ({ nowMs, skewMs, connection }) => (connection.status === 'lost' ? connection.lostAt : nowMs) + skewMs,
  )
}
