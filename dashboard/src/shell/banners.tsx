// What is missing, what still works, what to do: one banner per trouble, which goes by itself.
import type { ReactNode } from 'react'
import { tryNow } from '../live/feed.ts'
import { useBrowserNow, useWatch } from '../live/hooks.ts'
import { Button, Copy } from '../parts/controls.tsx'
import { Banner } from '../parts/days.tsx'
import { age, clockWithSeconds, plural } from '../parts/format.ts'

const BACK_SHOWN_MS = 8_000
/** A short break is nobody's business. */
const LOST_SHOWN_MS = 1_500

export function Banners(): ReactNode {
  const connection = useWatch((watch) => watch.connection)
  const shownAt = useWatch((watch) => watch.shownAt)
  const banners = useWatch((watch) => watch.banners)
  const now = useBrowserNow()
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
            <Button size="small" onPress={tryNow}>
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
