// The last lines of a terminal as text: for thumbnails and for "its screen now". Never a live terminal.
import { memo, type ReactNode } from 'react'
import type { Thumbnail } from '../../../src/hub/contract.ts'

function Lines({ screen, lines }: { readonly screen: Thumbnail | undefined; readonly lines: number }): ReactNode {
  const shown = (screen?.lines ?? []).slice(-lines)
  return (
    <pre className="screen-text" data-screen={screen?.session_id}>
      {shown.map((line, index) => (
        <span key={index}>
          {line.map(([text, tone], part) => (
            <span key={part} className={tone === 'plain' ? undefined : `tone-${tone}`}>
              {text}
            </span>
          ))}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

export const ScreenText = memo(Lines)
