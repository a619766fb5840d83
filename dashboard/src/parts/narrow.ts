// Whether the window is a phone's.
import { useSyncExternalStore } from 'react'

const narrow = window.matchMedia('(max-width: 640px)')

function onWidth(listener: () => void): () => void {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

export const useNarrow = (): boolean => useSyncExternalStore(onWidth, () => narrow.matches)
