// The last lines of one session's terminal as text, polled: next to a wait, and on a phone. A card has the same text from the feed.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { screenQuery } from '../data/queries.ts'
import { cx } from './cx.ts'
import { ScreenText } from './screen-text.tsx'

interface LiveScreenProps {
  readonly session: string
  readonly lines: number
  readonly label: string
  readonly className?: string | undefined
  /** Sessions on other machines have no text: then nothing is shown, instead of the reason. */
  readonly isOptional?: boolean
}

export function LiveScreen({ session, lines, label, className, isOptional = false }: LiveScreenProps): ReactNode {
  const { data, error } = useQuery(screenQuery(session, lines))
  const screen = data?.screens[0]
  if (screen === undefined && isOptional) return null
  return (
    <div className={cx('terminal-ground', className)} tabIndex={0} role="region" aria-label={label}>
      {error !== null && screen === undefined ? (
        <p className="second">
          No screen: {error.code}. {error.message}
        </p>
      ) : (
        <ScreenText screen={screen} lines={lines} />
      )}
    </div>
  )
}
