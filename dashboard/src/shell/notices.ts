// One notice per wait, and it goes when the wait goes: the title's count, a polite line, and the system's if it was allowed.
import { onWatchChange, watchNow } from '../live/watch.ts'
import { WAIT, whoWaits } from '../parts/words.ts'
import { go, placeLink } from './place.ts'
import { tasteNow } from './taste.ts'

const shown = new Map<string, Notification>()
const told = new Set<string>()
let isFirst = true

/** What a screen reader is told of a new wait; set by the page. */
let announce: (text: string) => void = () => undefined
export function onAnnouncement(listener: (text: string) => void): void {
  announce = listener
}

function follow(): void {
  const { waits, shownAt } = watchNow()
  if (shownAt === null) return
  const open = waits.filter(({ snoozed_until }) => snoozed_until === null)
  document.title = open.length === 0 ? 'Heimdall' : `(${open.length}) Heimdall`
  const ids = new Set(open.map(({ wait_id }) => wait_id))
  for (const [id, notice] of shown)
    if (!ids.has(id)) {
      notice.close()
      shown.delete(id)
    }
  for (const id of told) if (!ids.has(id)) told.delete(id)
  for (const wait of open) {
    if (told.has(wait.wait_id)) continue
    told.add(wait.wait_id)
    // What waited before the page was opened is on the page, and no news.
    if (isFirst) continue
    announce(`${whoWaits(wait)}: ${WAIT[wait.kind].word}, ${wait.title}`)
    if (!tasteNow().notices || Notification.permission !== 'granted') continue
    const notice = new Notification(`${WAIT[wait.kind].word}: ${whoWaits(wait)}`, {
      body: wait.title,
      tag: wait.wait_id,
    })
    notice.onclick = () => {
      window.focus()
      go(placeLink('needs-you', wait.wait_id))
    }
    shown.set(wait.wait_id, notice)
  }
  isFirst = false
}

export function startNotices(): void {
  onWatchChange(follow)
}
