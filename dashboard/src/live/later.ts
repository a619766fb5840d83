// Parts of the page that are loaded when they are wanted. One that could not be while the hub was away comes when it is back.
import { type ComponentType, lazy, type LazyExoticComponent } from 'react'
import { hubIsProved } from './api.ts'
import { onWatchChange, watchNow } from './watch.ts'

/** How long it may take until a lost hub is noticed. */
const NOTICED_MS = 3_000

interface Loading<Props> {
  readonly default: ComponentType<Props>
}

export function later<Props>(load: () => Promise<Loading<Props>>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(() =>
    hubIsProved()
      .then(load)
      .catch(async (error: unknown) => {
        const isAway = await became((isLive) => !isLive, NOTICED_MS)
        // The hub answers, and has not what this page wants: it is of another version.
        if (!isAway) throw error
        await became((isLive) => isLive, Infinity)
        // A browser that could not fetch a module does not try it twice. Where the page is stands in the address.
        location.reload()
        return new Promise<never>(() => undefined)
      }),
  )
}

/** Resolves when that holds of the line to the hub; with false after so long. */
function became(wanted: (isLive: boolean) => boolean, waitMs: number): Promise<boolean> {
  const holds = (): boolean => wanted(watchNow().connection.status === 'live')
  if (holds()) return Promise.resolve(true)
  return new Promise((resolve) => {
    const end = (is: boolean): void => {
      stop()
      clearTimeout(timer)
      resolve(is)
    }
    const stop = onWatchChange(() => {
      if (holds()) end(true)
    })
    const timer = waitMs === Infinity ? undefined : setTimeout(() => end(false), waitMs)
  })
}
