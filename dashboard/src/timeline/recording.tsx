// The recorded terminal of a run, played next to its events. Loaded on demand.
import { type ReactNode, Suspense, useState } from 'react'
import type { RunRow } from '../../../src/hub/contract.ts'
import { lazyScreen } from '../data/lazy-screen.ts'
import { Button } from '../components/controls.tsx'
import { Loading } from '../components/feedback.tsx'

const Player = lazyScreen(() => import('./player.tsx'))

export function Recording({ run, seekTo }: { readonly run: RunRow; readonly seekTo: number | null }): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <section className="pane recording" aria-label="Recording">
      <header>
        <h3 className="grow">Recording</h3>
        {!isOpen && (
          <Button size="small" icon="terminal" onPress={() => setIsOpen(true)}>
            Play its terminal
          </Button>
        )}
      </header>
      {isOpen ? (
        <Suspense fallback={<Loading what="the player" />}>
          <Player run={run.run_id} seekTo={seekTo} />
        </Suspense>
      ) : (
        <p className="meta padded">Plays beside the events: what is selected is where it stands.</p>
      )}
    </section>
  )
}
