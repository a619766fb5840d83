// A link to a wait that is not open: what became of it, as far as that is known. Nothing else is shown in its place, since a key would answer that.
import type { ReactNode } from 'react'
import type { AnsweredWait } from '../../../src/hub/contract.ts'
import { Empty } from '../parts/days.tsx'
import { clock } from '../parts/format.ts'
import { placeLink } from '../shell/place.ts'

interface NotOpenProps {
  readonly wait: string
  readonly answered: readonly AnsweredWait[]
  readonly now: number
}

export function NotOpen({ wait, answered, now }: NotOpenProps): ReactNode {
  const ended = answered.find(({ wait_id }) => wait_id === wait)
  return (
    <Empty title="This wait is not open">
      <p className="cut">
        {ended === undefined
          ? `Nothing that waits now has the id ${wait}: it is over, or the link was cut.`
          : `${ended.agent_id}, ${clock(ended.at, now)}: ${ended.outcome}`}
      </p>
      <a href={placeLink('needs-you')}>What waits now</a>
    </Empty>
  )
}
