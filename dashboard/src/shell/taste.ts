// What the reader has chosen: theme, density, keys. Kept in this browser alone.
import { useSyncExternalStore } from 'react'

export interface Taste {
  readonly theme: 'dark' | 'light' | 'system'
  readonly density: 'compact' | 'comfortable'
  /** Single letters as commands. */
  readonly letters: boolean
  /** A note of the system for each wait. */
  readonly notices: boolean
  /** The first-run page was put away. */
  readonly toured: boolean
}

const KEY = 'heimdall.taste'
const STANDARD: Taste = { theme: 'system', density: 'compact', letters: true, notices: false, toured: false }

function read(): Taste {
  try {
    return { ...STANDARD, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Taste>) }
  } catch {
    // Storage that is switched off, or text that is not ours: the standard is good enough.
    return STANDARD
  }
}

let taste = read()
const listeners = new Set<() => void>()
const systemIsLight = matchMedia('(prefers-color-scheme: light)')

export const shownTheme = (): 'dark' | 'light' =>
  taste.theme === 'system' ? (systemIsLight.matches ? 'light' : 'dark') : taste.theme

export function applyTaste(): void {
  document.documentElement.dataset['theme'] = shownTheme()
  document.documentElement.dataset['density'] = taste.density
}

export function choose(part: Partial<Taste>): void {
  taste = { ...taste, ...part }
  try {
    localStorage.setItem(KEY, JSON.stringify(taste))
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
  }
  applyTaste()
  for (const listener of listeners) listener()
}

systemIsLight.addEventListener('change', () => choose({}))

export const tasteNow = (): Taste => taste

export function useTaste(): Taste {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => taste,
  )
}

/** What is drawn by hand is drawn anew when it changes, also when the system's own does. */
export function useShownTheme(): 'dark' | 'light' {
  useTaste()
  return shownTheme()
}
