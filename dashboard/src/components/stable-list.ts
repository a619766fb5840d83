// Lists that do not move under the pointer or the focus: new items wait behind a button until the reader lets go.
import { type FocusEvent, useState } from 'react'

interface StableList<T> {
  readonly shown: readonly T[]
  /** How many items wait. */
  readonly news: number
  readonly showNews: () => void
  readonly hold: {
    readonly onPointerEnter: () => void
    readonly onPointerLeave: () => void
    readonly onFocus: (event: FocusEvent) => void
    readonly onBlur: (event: FocusEvent) => void
  }
}

/** Removed items leave at once; new items and a new order wait while the list is held. */
export function useStableList<T>(items: readonly T[], idOf: (item: T) => string): StableList<T> {
  const [isPointed, setIsPointed] = useState(false)
  const [isFocused, setIsFocused] = useState(false)
  /** Ids in the order in which they are held. */
  const [held, setHeld] = useState<readonly string[] | null>(null)
  const byId = new Map(items.map((item) => [idOf(item), item]))
  const isHeld = isPointed || isFocused
  const order = isHeld && held !== null ? held : [...byId.keys()]
  const shown = order.flatMap((id) => byId.get(id) ?? [])
  const hold = (): void => {
    if (!isHeld) setHeld([...byId.keys()])
  }
  return {
    shown,
    news: items.length - shown.length,
    showNews: () => {
      setHeld([...byId.keys()])
      setIsPointed(false)
    },
    hold: {
      onPointerEnter: () => {
        hold()
        setIsPointed(true)
      },
      onPointerLeave: () => setIsPointed(false),
      // Focus by a click is no sign of reading on.
      onFocus: ({ target }) => {
        hold()
        setIsFocused(target.matches(':focus-visible'))
      },
      onBlur: () => setIsFocused(false),
    },
  }
}
