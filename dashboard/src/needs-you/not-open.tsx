// A link to a wait that is not open: its outcome, as far as it is known. No other wait is shown in its place, since a key would answer that one.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AnsweredWait } from '../../../src/hub/contract.ts'
import { NEEDS_YOU } from '../shell/screens.ts'
import { Empty } from '../components/feedback.tsx'
import { clock } from '../components/format.ts'

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
      <Link {...NEEDS_YOU}>What waits now</Link>
    </Empty>
  )
}
