// Keys: screens say which they take, the topmost that knows a key gets it. None is taken from a field or a terminal.
import { useEffect, useRef } from 'react'
import { tasteNow } from './taste.ts'

export type Keys = Readonly<Record<string, () => void>>

const layers: { readonly keys: () => Keys; readonly isAlone: boolean }[] = []
/** The first of two keys; it stands until the next one, however long somebody needs. */
let first: string | undefined

/** One that is only read takes no key: such is a terminal that somebody else types into. */
const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLTextAreaElement && target.readOnly)

function find(name: string): (() => void) | undefined {
  for (let index = layers.length - 1; index >= 0; index--) {
    const layer = layers[index]
    const act = layer?.keys()[name]
    if (act !== undefined) return act
    if (layer?.isAlone === true) return undefined
  }
  return undefined
}

function hear(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return
  const name = event.ctrlKey || event.metaKey ? `ctrl-${event.key.toLowerCase()}` : event.key
  if (isField(event.target) && name !== 'Escape' && !name.startsWith('ctrl-')) return
  // Out of a field leads one escape, away from the screen the next. A dialog goes with whatever is in it.
  if (name === 'Escape' && isField(event.target) && (event.target as HTMLElement).closest('[role=dialog]') === null) {
    ;(event.target as HTMLElement).blur()
    return
  }
  const isLetter = event.key.length === 1 && !name.startsWith('ctrl-')
  if (isLetter && !tasteNow().letters && event.key !== '?') return
  // Enter and space belong to the button or link that has the focus.
  const onControl =
    event.target instanceof HTMLElement && event.target.closest('button,a,[role=option],summary') !== null
  if ((name === 'Enter' || name === ' ') && onControl) return
  const pair = first === undefined ? undefined : `${first} ${name}`
  first = name === 'g' ? name : undefined
  const act = (pair === undefined ? undefined : find(pair)) ?? find(name)
  if (act === undefined) return
  event.preventDefault()
  act()
}

export function listenToKeys(): void {
  window.addEventListener('keydown', hear)
}

/** While the component is shown. `isAlone`: keys below it sleep, as under a dialog. */
export function useKeys(keys: Keys, isAlone = false): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const layer = { keys: () => latest.current, isAlone }
    layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [isAlone])
}
