// New waits: the count in the title, a line for screen readers, and a desktop notification if allowed. Each goes with its wait.
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef } from 'react'
import type { WaitCard } from '../../../src/hub/contract.ts'
import { WAIT, whoWaits } from '../components/words.ts'
import { usePreferences } from '../data/preferences.ts'
import { useStore } from '../data/store.ts'

/** Called once, by the root component. */
export function useNotifications(): void {
  const waits = useStore((state) => state.waits)
  const isKnown = useStore((state) => state.shownAt !== null)
  const isAllowed = usePreferences((preferences) => preferences.desktopNotifications)
  const navigate = useNavigate()
  /** Open waits that were announced; undefined before the first snapshot, whose waits are no news. */
  const announced = useRef<ReadonlySet<string> | undefined>(undefined)
  const shown = useRef(new Map<string, Notification>())
  const notify = useEffectEvent((wait: WaitCard) => {
    useStore.setState({ announcement: `${whoWaits(wait)}: ${WAIT[wait.kind].word}, ${wait.title}` })
    if (!isAllowed || Notification.permission !== 'granted') return
    const notification = new Notification(`${WAIT[wait.kind].word}: ${whoWaits(wait)}`, {
      body: wait.title,
      tag: wait.wait_id,
    })
    notification.onclick = () => {
      window.focus()
      void navigate({ to: '/needs-you/{-$wait}', params: { wait: wait.wait_id } })
    }
    shown.current.set(wait.wait_id, notification)
  })
  useEffect(() => {
    if (!isKnown) return
    const open = waits.filter(({ snoozed_until }) => snoozed_until === null)
    document.title = open.length === 0 ? 'Heimdall' : `(${open.length}) Heimdall`
    const ids = new Set(open.map(({ wait_id }) => wait_id))
    for (const [id, notification] of shown.current)
      if (!ids.has(id)) {
        notification.close()
        shown.current.delete(id)
      }
    const before = announced.current
    announced.current = ids
    if (before !== undefined) for (const wait of open) if (!before.has(wait.wait_id)) notify(wait)
  }, [waits, isKnown])
}
