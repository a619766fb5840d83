// One wait: what is asked, its answers, what it touches, why you are asked, and its screen.
import { Link, useNavigate } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import type { WaitCard } from '../../../src/hub/contract.ts'
import { AgentMark } from '../components/agent-mark.tsx'
import { Button, Copy } from '../components/controls.tsx'
import { age, clockWithSeconds, sinceMs } from '../components/format.ts'
import { LiveScreen } from '../components/live-screen.tsx'
import { StateWord } from '../components/state.tsx'
import { seenBy, WAIT, whoWaits } from '../components/words.ts'
import { Answers } from './answers.tsx'
import { useHubNow } from '../data/clock.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './needs-you.module.css'

const LINES = 16

const ASKS: Readonly<Record<WaitCard['kind'], string>> = {
  permission: 'It asks for permission to run',
  question: 'It asks',
  needs_input: 'It needs',
  collision: 'Two agents want one path',
  budget: 'It stopped at its budget',
  tool_changed: 'A tool is not what it was when a person approved it',
}

/** For a task whose worker asks. */
const TASK_ASKS: Partial<Record<WaitCard['kind'], string>> = {
  permission: 'Its worker must be allowed something, and only where it runs; the task goes on by itself then',
  question: 'Its worker asks',
  needs_input: 'The task was given up on',
}

export const isOfTask = ({ evidence }: WaitCard): boolean => evidence.source === 'task'

interface WaitDetailProps {
  readonly wait: WaitCard
  readonly next: WaitCard | undefined
  readonly isGone?: boolean
  readonly onAnswer?: (waitId: string) => void
  /** In the list itself, under the thumb. */
  readonly isPhone?: boolean
}

export function WaitDetail({ wait, next, isGone = false, onAnswer, isPhone = false }: WaitDetailProps): ReactNode {
  const who = whoWaits(wait)
  const agent = useStore((state) => state.agents.get(who))
  const now = useHubNow()
  const navigate = useNavigate()
  const open = (): void => void navigate({ to: '/session/$agent', params: { agent: who } })
  const reason = wait.why.find(({ label }) => label !== 'Seen by')
  return (
    <>
      {!isPhone && (
        <header className={css.waitHead}>
          <AgentMark name={who} large />
          <div className="grow">
            <p className="row">
              <b className={cx('cut', css.waitName)}>{who}</b>
              <span className="second cut">{[agent?.host, agent?.task?.title].filter(Boolean).join(' · ')}</span>
            </p>
            <p className="row meta">
              {isGone ? (
                <span className="state plain">{agent?.ended_at == null ? '✓ It went on' : '■ It ended'}</span>
              ) : (
                <StateWord state={wait.kind === 'collision' ? 'collision' : 'needs_you'} />
              )}
              <span className="second">
                since {clockWithSeconds(wait.since)} ({age(sinceMs(wait.since, now))})
              </span>
              <span className="cut">seen by {seenBy(wait.evidence.source)}</span>
            </p>
          </div>
          {isOfTask(wait) && wait.task !== null && (
            <Link className="button" to="/tasks/{-$task}" params={{ task: wait.task }}>
              Open task
            </Link>
          )}
          {agent !== undefined && (
            <Button icon="terminal" after="t" onPress={open}>
              Open session
            </Button>
          )}
          <Copy text={wait.command} label="Command" className="button plain" />
        </header>
      )}
      <div className={wait.kind === 'collision' ? 'ask harm' : 'ask'}>
        <p className="second">{(isOfTask(wait) ? TASK_ASKS[wait.kind] : undefined) ?? ASKS[wait.kind]}</p>
        <p className={wait.kind === 'permission' && !isOfTask(wait) ? 'asked mono' : 'asked'} dir="auto">
          {wait.asked}
        </p>
        {isPhone && (
          <p className="meta">
            {reason !== undefined && `${reason.label} ${reason.text}. `}Seen by {wait.evidence.source} at{' '}
            {clockWithSeconds(wait.since)}
          </p>
        )}
        <Answers
          key={wait.wait_id}
          wait={wait}
          isOver={isGone}
          isShort={isPhone}
          withKeys={!isPhone}
          {...(onAnswer !== undefined && { onAnswer })}
        />
        {isPhone && agent !== undefined && (
          <Button icon="terminal" onPress={open}>
            See its screen
          </Button>
        )}
      </div>
      {!isPhone && (
        <div className={cx('column fill', css.waitBody)}>
          <div className={css.waitFacts}>
            <Facts title="What it touches" facts={wait.touches} none="nothing is known of what it touches" />
            <Facts title="Why you are asked" facts={wait.why} none={wait.evidence.detail ?? wait.evidence.source} />
          </div>
          {wait.pin !== null && wait.pin.diff.length > 0 && <PinDiff diff={wait.pin.diff} />}
          {wait.session_id !== null && (
            <section className={cx('column', css.screenNow)}>
              <h3>
                Its screen now <span className="meta">last {LINES} lines, read only, live</span>
              </h3>
              <LiveScreen session={wait.session_id} lines={LINES} label="Its screen now" />
            </section>
          )}
          <p className={cx('meta', css.waitFoot)}>
            <span className="grow">
              {next === undefined
                ? ''
                : `Next: ${whoWaits(next)}, ${WAIT[next.kind].word.toLowerCase()}, ${age(sinceMs(next.since, now))}`}
            </span>
            {whatIsRecorded(wait)}
          </p>
        </div>
      )}
    </>
  )
}

/** Keys go into a session as from any terminal, and snoozing is not recorded; all other answers are recorded with a name. */
function whatIsRecorded({ answers }: WaitCard): string {
  const isTyped = answers.some(({ act }) => act === 'type')
  const isNamed = answers.some(({ act }) => act !== 'type' && act !== 'wait')
  if (!isTyped) return isNamed ? 'Answers are recorded as human, with the time.' : ''
  const typed = answers.some(({ act, needs_text }) => act === 'type' && !needs_text)
    ? 'A number types that choice into the session'
    : 'Words are typed into the session'
  return `${typed}; no record names who typed.${isNamed ? ' Other answers are recorded as human, with the time.' : ''}`
}

function Facts({
  title,
  facts,
  none,
}: {
  readonly title: string
  readonly facts: WaitCard['why']
  readonly none: string
}): ReactNode {
  return (
    <section>
      <h3>{title}</h3>
      {facts.length === 0 ? (
        <p className="quiet">{none}</p>
      ) : (
        <dl className="facts">
          {facts.map(({ label, text, evidence }) => (
            <Fragment key={label}>
              <dt>{label}</dt>
              <dd title={evidence ?? undefined}>{text}</dd>
            </Fragment>
          ))}
        </dl>
      )}
    </section>
  )
}

function PinDiff({ diff }: { readonly diff: readonly string[] }): ReactNode {
  return (
    <section>
      <h3>What changed in the tool</h3>
      <pre className={cx('scroll', css.pinDiff)}>
        {diff.map((line, index) => (
          <span key={index} className={line.startsWith('+') ? 'is-work' : line.startsWith('-') ? 'is-clash' : 'second'}>
            {line}
            {'\n'}
          </span>
        ))}
      </pre>
    </section>
  )
}
