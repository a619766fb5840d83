// Needs you: everything that waits for a human, oldest first, answered in place.
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import type { AnsweredWait, WaitCard, WaitsReply } from '../../../src/hub/contract.ts'
import { AgentName } from '../components/agent-mark.tsx'
import { Key } from '../components/controls.tsx'
import { Empty, Loading } from '../components/feedback.tsx'
import { age, clock, closeAge, plural, sinceMs } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { WaitWord } from '../components/state.tsx'
import { useStableList } from '../components/stable-list.ts'
import { whoWaits } from '../components/words.ts'
import { useTerminalCommand } from '../shell/foot.tsx'
import { useListKeys } from '../shell/keys.tsx'
import { NotOpen } from './not-open.tsx'
import { WaitDetail } from './wait-detail.tsx'
import { post, segment } from '../data/client.ts'
import { useHubNow } from '../data/clock.ts'
import { waitsQuery } from '../data/queries.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './needs-you.module.css'

const SNOOZE_MINUTES = 15

export function NeedsYouScreen(): ReactNode {
  // Also shown for an address that no route matches.
  const { wait: selected = null } = useParams({ strict: false })
  const navigate = useNavigate()
  const waits = useStore((state) => state.waits)
  const isKnown = useStore((state) => state.shownAt !== null)
  const now = useHubNow()
  const list = useStableList(waits, (wait) => wait.wait_id)
  // A wait stays in sight while the outcome of its answer is shown, also when it is over: another one in its place would
  // receive the next key. Answering selects a wait that was only shown because it is the first.
  const [last, setLast] = useState<WaitCard | undefined>()
  const [answered, setAnswered] = useState<string | null>(null)
  useEffect(() => setAnswered(null), [selected])
  const wanted = selected ?? answered
  const open = wanted === null ? waits[0] : waits.find(({ wait_id }) => wait_id === wanted)
  useEffect(() => {
    if (open !== undefined) setLast(open)
  }, [open])
  const shown = open ?? (last?.wait_id === wanted ? last : undefined)
  const lost = shown === undefined ? selected : null
  const isEmpty = shown === undefined && lost === null
  // The worker of a task may run on another machine.
  const hasSession = useStore(({ agents }) => shown?.agent_id != null && agents.has(shown.agent_id))
  useTerminalCommand('heimdall status')

  const openSession = (): void => {
    if (shown?.agent_id != null) void navigate({ to: '/session/$agent', params: { agent: shown.agent_id } })
  }
  const snooze = useMutation({
    mutationFn: (wait: string) => post(`waits/${segment(wait)}/snooze`, { minutes: SNOOZE_MINUTES }),
  })
  const at = list.shown.findIndex(({ wait_id }) => wait_id === shown?.wait_id)
  const select = ({ wait_id: wait }: WaitCard): void => void navigate({ to: '/needs-you/{-$wait}', params: { wait } })
  useListKeys(list.shown, at, select, {
    ...(hasSession && { t: openSession, Enter: openSession }),
    ...(shown !== undefined && { z: () => snooze.mutate(shown.wait_id) }),
  })

  const { data: history } = useQuery(waitsQuery())

  if (!isKnown) return <Loading what="the waits" />
  const count = waits.filter(({ snoozed_until }) => snoozed_until === null).length
  return (
    <>
      <div className={css.needsHead}>
        <div>
          <h1 className="large">
            {count === 0 ? 'Nothing waits for you' : count === 1 ? '1 waits for you' : `${count} wait for you`}
          </h1>
          {shown !== undefined && (
            <p className="second">Oldest first. Answer here; the item leaves by itself when the agent goes on.</p>
          )}
        </div>
        <Sums waits={waits} history={history} />
      </div>
      <div className={isEmpty ? cx('fill', css.needs, css.nobody) : cx('fill', css.needs)}>
        <section className={cx('pane column scroll', css.inbox)} aria-label="Waits" {...list.hold}>
          {list.news > 0 && (
            <button type="button" className="news" onClick={list.showNews}>
              {list.news} new
            </button>
          )}
          {lost !== null && (
            <div className={css.inPlace}>
              <NotOpen wait={lost} answered={history?.answered ?? []} now={now} />
            </div>
          )}
          <ul className="inbox-list">
            {list.shown.map((wait) => (
              <li key={wait.wait_id}>
                <Row wait={wait} isOpen={wait.wait_id === shown?.wait_id} now={now} />
                {wait.wait_id === shown?.wait_id && (
                  <div className={css.inPlace}>
                    <WaitDetail wait={wait} isPhone next={undefined} />
                  </div>
                )}
              </li>
            ))}
          </ul>
          {isEmpty && <NoWaits last={history?.answered[0]} now={now} />}
          <AnsweredList answered={history?.answered ?? []} now={now} />
          {shown !== undefined && (
            <p className={cx('meta', css.inboxKeys)}>
              <Key>j</Key> <Key>k</Key> move <AnswerKeys count={shown.answers.length} /> <Key>t</Key> open terminal{' '}
              <Key>z</Key> snooze
            </p>
          )}
        </section>
        {!isEmpty && (
          <section className={cx('pane column scroll', css.waitPane)} aria-label="The wait">
            {shown === undefined ? (
              <NotOpen wait={lost ?? ''} answered={history?.answered ?? []} now={now} />
            ) : (
              <WaitDetail
                wait={shown}
                isGone={open === undefined && last === shown}
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

/** As many as there are choices; each has one digit. */
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
    <Link
      className={css.inboxRow}
      to="/needs-you/{-$wait}"
      params={{ wait: wait.wait_id }}
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
      <span className={cx('cut', css.title)}>
        <bdi>{wait.title}</bdi>
      </span>
      <span className="row">
        <AgentName name={whoWaits(wait)} />
        <span className={cx('meta cut', css.seen)}>{seenBy(wait)}</span>
      </span>
    </Link>
  )
}

/** The source of the wait, as far as it fits. */
const seenBy = ({ why, evidence }: WaitCard): string =>
  why.find(({ label }) => label === 'Seen by')?.text ?? evidence.source

interface SumsProps {
  readonly waits: readonly WaitCard[]
  readonly history: WaitsReply | undefined
}

function Sums({ waits, history: data }: SumsProps): ReactNode {
  const now = useHubNow()
  const waitingMs = waits.reduce((sum, wait) => sum + sinceMs(wait.since, now), 0)
  return (
    <div className={css.needsSums}>
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
    <div className={css.answered}>
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

function NoWaits({ last, now }: { readonly last: AnsweredWait | undefined; readonly now: number }): ReactNode {
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
