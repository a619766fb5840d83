// Lists that do not move under the pointer or the focus: what is new waits behind a button until the reader lets go.
import { type FocusEvent, useRef, useState } from 'react'

export interface Steady<T> {
  readonly shown: readonly T[]
  readonly news: number
  readonly take: () => void
  readonly hold: {
    readonly onPointerEnter: () => void
    readonly onPointerLeave: () => void
    readonly onFocus: (event: FocusEvent) => void
    readonly onBlur: (event: FocusEvent) => void
  }
}

/** What leaves the list goes at once; what comes in, and a new order, waits while the list is held. */
export function useSteady<T>(items: readonly T[], idOf: (item: T) => string): Steady<T> {
  const [pointed, setPointed] = useState(false)
  const [focused, setFocused] = useState(false)
  const order = useRef<readonly string[]>([])
  const byId = new Map(items.map((item) => [idOf(item), item]))
  if (!pointed && !focused) order.current = [...byId.keys()]
  const shown = order.current.flatMap((id) => byId.get(id) ?? [])
  const take = (): void => {
    order.current = [...byId.keys()]
    setPointed(false)
  }
  return {
    shown,
    news: items.length - shown.length,
    take,
    hold: {
      onPointerEnter: () => setPointed(true),
      onPointerLeave: () => setPointed(false),
      // Focus by a click is no sign of reading on.
      onFocus: ({ target }) => setFocused(target.matches(':focus-visible')),
      onBlur: () => setFocused(false),
    },
  }
}
