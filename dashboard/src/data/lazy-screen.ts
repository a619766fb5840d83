// Screens and players that are loaded on demand. Code that could not be loaded while the hub was away is loaded when it is back.
import { type ComponentType, lazy, type LazyExoticComponent } from 'react'
import { hubIsProved } from './client.ts'
import { useStore } from './store.ts'

/** How long it may take until a lost hub is noticed. */
const NOTICED_MS = 3_000

export function lazyScreen<Props>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() =>
    hubIsProved()
      .then(load)
      .catch(async (error: unknown) => {
        const isAway = await connectionBecomes((isLive) => !isLive, NOTICED_MS)
        // The hub answers but does not have this file: it is of another version.
        if (!isAway) throw error
        await connectionBecomes((isLive) => isLive, Infinity)
        // A browser does not fetch a module twice. The address says which screen is shown.
        location.reload()
        return new Promise<never>(() => undefined)
      }),
  )
}

/** Resolves once the condition holds for the connection to the hub; with false after the timeout. */
function connectionBecomes(wanted: (isLive: boolean) => boolean, timeoutMs: number): Promise<boolean> {
  const holds = (): boolean => wanted(useStore.getState().connection.status === 'live')
  if (holds()) return Promise.resolve(true)
  return new Promise((resolve) => {
    const end = (result: boolean): void => {
      unsubscribe()
      clearTimeout(timer)
      resolve(result)
    }
    const unsubscribe = useStore.subscribe(() => {
      if (holds()) end(true)
    })
    const timer = timeoutMs === Infinity ? undefined : setTimeout(() => end(false), timeoutMs)
  })
}
