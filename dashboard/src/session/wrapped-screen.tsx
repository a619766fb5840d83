// The screen of a session on a phone: text wrapped to the width, since a terminal of a hundred columns does not fit.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ScreenText } from '../components/screen-text.tsx'
import { screenQuery } from '../data/queries.ts'
import { cx } from '../components/cx.ts'
import css from './session.module.css'

const LINES = 24

export function WrappedScreen({ session }: { readonly session: string }): ReactNode {
  const { data } = useQuery(screenQuery(session, LINES))
  const screen = data?.screens[0]
  // Sessions on other machines have no text here, only the terminal.
  if (screen === undefined) return null
  return (
    <div
      className={cx('terminal-ground', css.wrappedScreen)}
      tabIndex={0}
      role="region"
      aria-label="Its screen, wrapped"
    >
      <ScreenText screen={screen} lines={LINES} />
    </div>
  )
}
