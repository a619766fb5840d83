// The screen of a session on a phone: its text wrapped to the width, since a terminal of a hundred columns would be cut in the middle of every line.
import type { ReactNode } from 'react'
import type { ScreensReply } from '../../../src/hub/contract.ts'
import { useEvery, useHub } from '../live/hooks.ts'
import { ScreenText } from '../parts/screen-text.tsx'

const LINES = 24

export function WrappedScreen({ session }: { readonly session: string }): ReactNode {
  const { data, reload } = useHub<ScreensReply>('screens', { lines: LINES, sessions: session })
  useEvery(1_000, reload)
  const screen = data?.screens[0]
  // One on another machine is not drawn here: then the terminal is all there is.
  if (screen === undefined) return null
  return (
    <div className="wrapped-screen terminal-ground" tabIndex={0} role="region" aria-label="Its screen, wrapped">
      <ScreenText screen={screen} lines={LINES} />
    </div>
  )
}
