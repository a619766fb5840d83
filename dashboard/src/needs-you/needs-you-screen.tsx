// Needs you: everything that waits for a person, oldest first, answered in place.
import { type ReactNode, useEffect, useState } from 'react'
import type { AnsweredWait, WaitCard, WaitsReply } from '../../../src/hub/contract.ts'
import { post, segment } from '../live/api.ts'
import { useHub, useHubNow, useWatch } from '../live/hooks.ts'
import { AgentName } from '../parts/agent-mark.tsx'
import { Key } from '../parts/controls.tsx'
import { Empty, Loading } from '../parts/days.tsx'
import { age, clock, closeAge, plural, sinceMs } from '../parts/format.ts'
import { Icon } from '../parts/icons.tsx'
import { WaitWord } from '../parts/state.tsx'
import { useSteady } from '../parts/steady.ts'
import { whoWaits } from '../parts/words.ts'
import { sameInTerminal } from '../shell/foot.tsx'
import { useKeys } from '../shell/keys.ts'
import { go, placeLink } from '../shell/place.ts'
import { NotOpen } from './not-open.tsx'
import { WaitDetail } from './wait-detail.tsx'

const SNOOZE_MINUTES = 15

export function NeedsYouScreen({ selected }: { readonly selected: string | null }): ReactNode {
  const waits = useWatch((watch) => watch.waits)
  const isKnown = useWatch((watch) => watch.shownAt !== null)
  const now = useHubNow()
  const steady = useSteady(waits, (wait) => wait.wait_id)
  // The one that is looked at stays in sight while its answer is shown, also when it is no longer a wait: another in its
  // place would have the next key. Whoever answers looks at it, without having chosen it.
  const [kept, setKept] = useState<WaitCard | undefined>()
  const [answered, setAnswered] = useState<string | null>(null)
  useEffect(() => setAnswered(null), [selected])
  const lookedAt = selected ?? answered
  const open = lookedAt === null ? waits[0] : waits.find(({ wait_id }) => wait_id === lookedAt)
  useEffect(() => {
    if (open !== undefined) setKept(open)
  }, [open])
  const shown = open ?? (kept?.wait_id === lookedAt ? kept : undefined)
  const lost = shown === undefined ? selected : null
  const isNobody = shown === undefined && lost === null
  // The worker of a task may be an agent of no session here.
  const hasSession = useWatch(({ agents }) => shown?.agent_id != null && agents.has(shown.agent_id))
  sameInTerminal('heimdall status')

  const move = (by: number): void => {
    const list = steady.shown
    const at = list.findIndex(({ wait_id }) => wait_id === shown?.wait_id)
    const next = list[Math.min(list.length - 1, Math.max(0, at + by))]
    if (next !== undefined) go(placeLink('needs-you', next.wait_id))
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(shown !== undefined &&
      hasSession && {
        t: () => go(placeLink('session', shown.agent_id)),
        Enter: () => go(placeLink('session', shown.agent_id)),
      }),
    ...(shown !== undefined && {
      z: () => void post(`waits/${segment(shown.wait_id)}/snooze`, { minutes: SNOOZE_MINUTES }),
    }),
  })

  const { data: told, reload } = useHub<WaitsReply>('waits')
  useEffect(reload, [reload, waits.length])

  if (!isKnown) return <Loading what="who waits" />
  const count = waits.filter(({ snoozed_until }) => snoozed_until === null).length
  return (
    <>
      <div className="needs-head">
        <div>
          <h1 className="large">
            {count === 0 ? 'Nothing waits for you' : count === 1 ? '1 waits for you' : `${count} wait for you`}
          </h1>
          {shown !== undefined && (
            <p className="second">Oldest first. Answer here; the item leaves by itself when the agent goes on.</p>
          )}
        </div>
        <Sums waits={waits} told={told} />
      </div>
      <div className={isNobody ? 'needs nobody' : 'needs'}>
        <section className="pane inbox" aria-label="Waits" {...steady.hold}>
          {steady.news > 0 && (
            <button type="button" className="news" onClick={steady.take}>
              {steady.news} new
            </button>
          )}
          {lost !== null && (
            <div className="in-place">
              <NotOpen wait={lost} answered={told?.answered ?? []} now={now} />
            </div>
          )}
          <ul className="inbox-list">
            {steady.shown.map((wait) => (
              <li key={wait.wait_id}>
                <Row wait={wait} isOpen={wait.wait_id === shown?.wait_id} now={now} />
                {wait.wait_id === shown?.wait_id && (
                  <div className="in-place">
                    <WaitDetail wait={wait} isPhone next={undefined} />
                  </div>
                )}
              </li>
            ))}
          </ul>
          {isNobody && <NobodyWaits last={told?.answered[0]} now={now} />}
          <AnsweredList answered={told?.answered ?? []} now={now} />
          {shown !== undefined && (
            <p className="inbox-keys meta">
              <Key>j</Key> <Key>k</Key> move <AnswerKeys count={shown.answers.length} /> <Key>t</Key> open terminal{' '}
              <Key>z</Key> snooze
            </p>
          )}
        </section>
        {!isNobody && (
          <section className="pane wait-pane" aria-label="The wait">
            {shown === undefined ? (
              <NotOpen wait={lost ?? ''} answered={told?.answered ?? []} now={now} />
            ) : (
              <WaitDetail
                wait={shown}
                isGone={open === undefined && kept === shown}
                onAnswer={setAnswered}
                next={waits[waits.findIndex(({ wait_id }) => wait_id === shown.wait_id) + 1]}
              />
            )}
          </section>
        )}
      </div>
    </>
  )
}

/** As many as there are; each has one digit. */
function AnswerKeys({ count }: { readonly count: number }): ReactNode {
  if (count === 0) return null
  return (
    <>
      <Key>1</Key>
      {count > 1 && (
        <>
          {' '}
          … <Key>{Math.min(9, count)}</Key>
        </>
      )}{' '}
      answer
    </>
  )
}

function Row({
  wait,
  isOpen,
  now,
}: {
  readonly wait: WaitCard
  readonly isOpen: boolean
  readonly now: number
}): ReactNode {
  return (
    <a
      className="inbox-row"
      href={placeLink('needs-you', wait.wait_id)}
      aria-current={isOpen ? 'true' : undefined}
      data-wait={wait.wait_id}
    >
      <span className="row">
        <WaitWord kind={wait.kind} />
        <span className={isOpen ? 'age is-lamp strong' : 'age'}>
          {wait.snoozed_until === null
            ? closeAge(sinceMs(wait.since, now))
            : `snoozed until ${clock(wait.snoozed_until, now)}`}
        </span>
      </span>
      <span className="title cut">
        <bdi>{wait.title}</bdi>
      </span>
      <span className="row">
        <AgentName name={whoWaits(wait)} />
        <span className="meta seen cut">{seenBy(wait)}</span>
      </span>
    </a>
  )
}

/** Who has seen it and by what, as far as it fits. */
const seenBy = ({ why, evidence }: WaitCard): string =>
  why.find(({ label }) => label === 'Seen by')?.text ?? evidence.source

interface SumsProps {
  readonly waits: readonly WaitCard[]
  readonly told: WaitsReply | undefined
}

function Sums({ waits, told: data }: SumsProps): ReactNode {
  const now = useHubNow()
  const waitingMs = waits.reduce((sum, wait) => sum + sinceMs(wait.since, now), 0)
  return (
    <div className="needs-sums">
      {waits.length > 0 && (
        <p>
          <b className="strong">{age(waitingMs)}</b> <span className="second">of agent time spent waiting now</span>
        </p>
      )}
      {data !== undefined && data.answered_count > 0 && (
        <p className="meta">
          {plural(data.answered_count, 'wait')} answered
          {data.answered_since !== null && ` since ${clock(data.answered_since, now)}`}
          {data.median_answer_ms !== null && `, median ${age(data.median_answer_ms)}`}
        </p>
      )}
    </div>
  )
}

interface AnsweredProps {
  readonly answered: readonly AnsweredWait[]
  readonly now: number
}

function AnsweredList({ answered, now }: AnsweredProps): ReactNode {
  const recent = answered.filter(({ at }) => sinceMs(at, now) < 3_600_000).slice(0, 8)
  if (recent.length === 0) return null
  return (
    <div className="answered">
      <p className="meta">Over in the last hour</p>
      <ul>
        {recent.map((wait) => (
          <li key={`${wait.wait_id} ${wait.at}`} className="row">
            <Icon name={wait.is_answer ? 'check' : 'ring'} size={12} />
            <span className="second">{wait.agent_id}</span>
            <span className="cut quiet grow">{wait.outcome}</span>
            <time className="quiet">{clock(wait.at, now)}</time>
          </li>
        ))}
      </ul>
    </div>
  )
}

function NobodyWaits({ last, now }: { readonly last: AnsweredWait | undefined; readonly now: number }): ReactNode {
  return (
    <Empty
      title={
        last === undefined ? 'No wait yet' : `Last wait ${last.is_answer ? 'answered' : 'over'} ${clock(last.at, now)}`
      }
    >
      An agent that asks for a permission, an answer or a way out of a collision comes here by itself.
    </Empty>
  )
}
