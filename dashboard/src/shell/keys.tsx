// Keyboard shortcuts: components register the keys that they handle; the topmost layer that knows a key gets it. Fields and terminals keep their keys.
import { createContext, type ReactNode, useContext, useEffect, useEffectEvent, useState } from 'react'
import { usePreferences } from '../data/preferences.ts'

type Keys = Readonly<Record<string, () => void>>

interface Layer {
  readonly find: (name: string) => (() => void) | undefined
  /** Layers below receive nothing, as under a dialog. */
  readonly isModal: boolean
}

class KeyLayers {
  readonly #layers: Layer[] = []
  /** The first of two keys. There is no timeout for the second. */
  #first: string | undefined

  add(layer: Layer): () => void {
    this.#layers.push(layer)
    return () => void this.#layers.splice(this.#layers.indexOf(layer), 1)
  }

  handle(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.altKey) return
    const name = event.ctrlKey || event.metaKey ? `ctrl-${event.key.toLowerCase()}` : event.key
    if (isField(event.target) && name !== 'Escape' && !name.startsWith('ctrl-')) return
    // The first Escape leaves a field, the next one the screen. A dialog closes with its fields.
    if (name === 'Escape' && isField(event.target) && event.target.closest('[role=dialog]') === null) {
      event.target.blur()
      return
    }
    const isLetter = event.key.length === 1 && !name.startsWith('ctrl-')
    if (isLetter && !usePreferences.getState().letters && event.key !== '?') return
    // Enter and Space belong to the focused button or link.
    const isOnControl =
      event.target instanceof HTMLElement && event.target.closest('button,a,[role=option],summary') !== null
    if ((name === 'Enter' || name === ' ') && isOnControl) return
    const pair = this.#first === undefined ? undefined : `${this.#first} ${name}`
    this.#first = name === 'g' ? name : undefined
    const act = (pair === undefined ? undefined : this.#find(pair)) ?? this.#find(name)
    if (act === undefined) return
    event.preventDefault()
    act()
  }

  #find(name: string): (() => void) | undefined {
    for (const layer of this.#layers.toReversed()) {
      const act = layer.find(name)
      if (act !== undefined || layer.isModal) return act
    }
    return undefined
  }
}

/** A read-only field takes no keys: that is a terminal that is only watched. */
const isField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLTextAreaElement && target.readOnly)

const KeysContext = createContext(new KeyLayers())

export function KeysProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [layers] = useState(() => new KeyLayers())
  useEffect(() => {
    const over = new AbortController()
    window.addEventListener('keydown', (event) => layers.handle(event), { signal: over.signal })
    return () => over.abort()
  }, [layers])
  return <KeysContext value={layers}>{children}</KeysContext>
}

/** While the component is mounted. */
export function useKeys(keys: Keys, isModal = false): void {
  const layers = useContext(KeysContext)
  const find = useEffectEvent((name: string) => keys[name])
  useEffect(() => layers.add({ find: (name) => find(name), isModal }), [layers, isModal])
}

/** j and k select the next and the previous item of a list; further keys of the same component come along. */
export function useListKeys<T>(items: readonly T[], at: number, select: (item: T) => void, more: Keys = {}): void {
  const move = (by: number): void => {
    const next = items[Math.min(items.length - 1, Math.max(0, at + by))]
    if (next !== undefined) select(next)
  }
  useKeys({ j: () => move(1), k: () => move(-1), ...more })
}
