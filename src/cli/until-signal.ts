// For commands that run until they are told to stop.

/** Resolves at the first SIGINT or SIGTERM; `over` lets go of them. */
export function untilSignal(): { readonly told: Promise<void>; readonly over: () => void } {
  let tell: () => void = () => undefined
  const told = new Promise<void>((resolve) => {
    tell = resolve
  })
  process.once('SIGINT', tell).once('SIGTERM', tell)
  return { told, over: () => void process.off('SIGINT', tell).off('SIGTERM', tell) }
}
