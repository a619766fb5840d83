// What the reader has chosen: theme, density, keys. Stored in this browser alone.
import { create } from 'zustand'
import { persist } from 'zustand/middleware'
import { useMediaQuery } from '../components/media-query.ts'

interface Preferences {
  readonly theme: 'dark' | 'light' | 'system'
  readonly density: 'compact' | 'comfortable'
  /** Single letters are commands. */
  readonly letters: boolean
  readonly desktopNotifications: boolean
  /** The first-run screen was dismissed. */
  readonly toured: boolean
}

export const usePreferences = create<Preferences>()(
  persist(
    (): Preferences => ({
      theme: 'system',
      density: 'compact',
      letters: true,
      desktopNotifications: false,
      toured: false,
    }),
    { name: 'heimdall.preferences' },
  ),
)

/** The theme that is shown: the system's, unless one was chosen. */
export function useTheme(): 'dark' | 'light' {
  const theme = usePreferences((preferences) => preferences.theme)
  const isSystemLight = useMediaQuery('(prefers-color-scheme: light)')
  return theme === 'system' ? (isSystemLight ? 'light' : 'dark') : theme
}

export function useToggleTheme(): () => void {
  const theme = useTheme()
  return () => usePreferences.setState({ theme: theme === 'dark' ? 'light' : 'dark' })
}

export function toggleDensity(): void {
  usePreferences.setState(({ density }) => ({ density: density === 'compact' ? 'comfortable' : 'compact' }))
}
