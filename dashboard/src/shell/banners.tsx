// Banners: what is missing, what still works, what to do. Each goes by itself.
import type { ReactNode } from 'react'
import { Button, Copy } from '../components/controls.tsx'
import { Banner } from '../components/feedback.tsx'
import { age, clockWithSeconds, plural } from '../components/format.ts'
import { useFeed } from '../data/feed.ts'
import { useStore } from '../data/store.ts'

const BACK_SHOWN_MS = 8_000
/** A shorter break is not reported. */
const LOST_SHOWN_MS = 1_500

export function Banners(): ReactNode {
  const connection = useStore((state) => state.connection)
  const shownAt = useStore((state) => state.shownAt)
  const banners = useStore((state) => state.banners)
  const now = useStore((state) => state.nowMs)
  const feed = useFeed()
  return (
    <div className="banners">
      {connection.status === 'lost' && now - connection.lostAt >= LOST_SHOWN_MS && (
        <Banner
          icon="offline"
          title={
            connection.isTaken
              ? `Another program answers at ${location.host}.`
              : `Hub not reached for ${age(now - connection.lostAt)}.`
          }
          action={
            <Button size="small" onPress={() => feed.reconnect()}>
              Try now
            </Button>
          }
        >
          {connection.isTaken &&
            'It did not prove that it is your hub, and was sent nothing. Do not reload this page before your hub is back; if it is, heimdall open prints a new link. '}
          Agents go on.{shownAt !== null && ` Shown: ${clockWithSeconds(shownAt)}.`} Trying again in{' '}
          {age(Math.max(0, connection.retryAt - now) + 999)}.
        </Banner>
      )}
      {connection.status === 'live' && connection.backSince !== null && now - connection.backSince < BACK_SHOWN_MS && (
        <Banner icon="check" title="Back.">
          Caught up {plural(connection.caughtUp ?? 0, 'event')}.
        </Banner>
      )}
      {banners.map((banner) => (
        <Banner
          key={banner.banner_id}
          kind="harm"
          icon="cross"
          title={`${banner.missing.replace(/\.$/, '')}: ${banner.code}.`}
          action={banner.mend !== null && <Copy text={banner.mend} className="button small" />}
        >
          {banner.still_works}
        </Banner>
      ))}
    </div>
  )
}
