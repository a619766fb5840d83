// For commands that run until SIGINT or SIGTERM.

/** `told` resolves at the first signal; `over` removes the listeners. */
export function untilSignal(): { readonly told: Promise<void>; readonly over: () => void } {
  let tell: () => void = () => undefined
  const told = new Promise<void>((resolve) => {
    tell = resolve
  })
  process.once('SIGINT', tell).once('SIGTERM', tell)
  return { told, over: () => void process.off('SIGINT', tell).off('SIGTERM', tell) }
}
