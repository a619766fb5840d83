// Session: the question and its answers, the live terminal, the conversation, and what changed.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, Suspense, useState } from 'react'
import type { AgentCard, WaitCard } from '../../../src/hub/contract.ts'
import { lazyScreen } from '../data/lazy-screen.ts'
import { Answers } from '../needs-you/answers.tsx'
import { AgentMark } from '../components/agent-mark.tsx'
import { Button } from '../components/controls.tsx'
import { Empty, Loading, QueryPart } from '../components/feedback.tsx'
import { age, clock, clockWithSeconds, dollars, plural, shortRun, sinceMs } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { StateWord } from '../components/state.tsx'
import { seenBy } from '../components/words.ts'
import { useTerminalCommand } from '../shell/foot.tsx'
import { EndDialog, PassOnDialog } from './acts.tsx'
import { Conversation } from './conversation.tsx'
import { FreeAnswer } from './free-answer.tsx'
import { Lower, type LowerTab } from './lower.tsx'
import { SessionTerminal } from './terminal.tsx'
import { useHubNow } from '../data/clock.ts'
import { agentQuery } from '../data/queries.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './session.module.css'

const Player = lazyScreen(() => import('../timeline/player.tsx'))

const route = getRouteApi('/session/$agent')

export default function SessionScreen(): ReactNode {
  const { agent: id } = route.useParams()
  const live = useStore((state) => state.agents.get(id))
  // The hub also knows agents that are no longer in the fleet.
  const query = useQuery({ ...agentQuery(id), enabled: live === undefined })
  if (live !== undefined) return <Session agent={live} />
  return (
    <QueryPart what={`agent ${id}`} query={query}>
      {({ agent }) => <Session agent={agent} />}
    </QueryPart>
  )
}

const PHONE_TABS = ['screen', 'talk', 'changes', 'claims'] as const

function Session({ agent }: { readonly agent: AgentCard }): ReactNode {
  const waits = useStore((state) => state.waits)
  const wait = waits.find(({ agent_id, snoozed_until }) => agent_id === agent.agent_id && snoozed_until === null)
  const { tab = 'changes', part: phoneTab = 'screen' } = route.useSearch()
  const navigate = route.useNavigate()
  const show = (search: { tab?: string; part?: string }): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...search }), replace: true })
  useTerminalCommand(agent.command)
  return (
    <div className={cx('fill', css.session)} data-part={phoneTab}>
      <Head key={agent.agent_id} agent={agent} wait={wait} />
      <nav className={css.phoneTabs} aria-label="Parts">
        {PHONE_TABS.map((part) => (
          <button
            key={part}
            type="button"
            aria-pressed={phoneTab === part}
            onClick={() => show({ part, ...((part === 'changes' || part === 'claims') && { tab: part }) })}
          >
            {part[0]?.toUpperCase()}
            {part.slice(1)}
          </button>
        ))}
      </nav>
      <div className={css.sessionLeft}>
        <SessionOrRecording agent={agent} />
        <Lower agent={agent} tab={tab as LowerTab} onTab={(chosen) => show({ tab: chosen })} />
      </div>
      <section className={cx('pane column', css.talk)} aria-label="Conversation">
        <Conversation agent={agent} wait={wait} />
        <Reply agent={agent} wait={wait} />
      </section>
    </div>
  )
}

/** The live terminal, or the recording of a run that has ended. */
function SessionOrRecording({ agent }: { readonly agent: AgentCard }): ReactNode {
  const { session_id: session, run_id: run, ended_at: ended } = agent
  if (session !== null) return <SessionTerminal key={session} session={session} />
  if (ended !== null && run !== null)
    return (
      <section className={cx('pane column', css.terminal, css.recorded)} aria-label="Recorded terminal">
        <header>
          <Icon name="terminal" size={13} />
          <h3>Terminal</h3>
          <span className="second grow cut">recorded; its session ended {clockWithSeconds(ended)}</span>
        </header>
        <Suspense fallback={<Loading what="the player" />}>
          <Player run={run} seekTo={null} />
        </Suspense>
      </section>
    )
  return (
    <section className="pane">
      <Empty title="No terminal">
        {ended === null
          ? 'This agent does not run in a session of ours; its notes, claims and calls are here all the same.'
          : 'Its session has ended, and no record of its run is here.'}
      </Empty>
    </section>
  )
}

function Reply({ agent, wait }: { readonly agent: AgentCard; readonly wait: WaitCard | undefined }): ReactNode {
  if (agent.session_id === null && wait === undefined) return null
  return (
    <div className={wait === undefined ? css.reply : cx('waits', css.reply)}>
      {wait !== undefined && (
        <>
          <p className="row phone-only">
            <StateWord state={wait.kind === 'collision' ? 'collision' : 'needs_you'} />
            <span className="second">asked of you at {clockWithSeconds(wait.since)}</span>
          </p>
          <Answers
            key={wait.wait_id}
            wait={{ ...wait, answers: wait.answers.filter(({ needs_text, act }) => !needs_text || act !== 'type') }}
            isShort
          />
        </>
      )}
      {agent.session_id !== null && agent.ended_at === null && (
        <FreeAnswer key={agent.agent_id} agent={agent.agent_id} isAsked={wait !== undefined} />
      )}
    </div>
  )
}

function Head({ agent, wait }: { readonly agent: AgentCard; readonly wait: WaitCard | undefined }): ReactNode {
  const now = useHubNow()
  const [over, setOver] = useState<'pass' | 'end' | null>(null)
  const since = agent.evidence.since
  const endedMs = agent.ended_at === null ? now : Date.parse(agent.ended_at)
  const who = [
    agent.host === 'unknown' ? null : agent.host,
    agent.task === null ? null : [...new Set([agent.task.title, agent.task.task_id])].join(' · '),
  ].filter((fact) => fact !== null)
  const facts = [
    agent.run_id === null
      ? null
      : `run ${shortRun(agent.run_id)}${agent.started_at === null ? '' : `, ${age(sinceMs(agent.started_at, endedMs))}`}`,
    agent.machine === null ? null : `on ${agent.machine}`,
    agent.calls === null
      ? null
      : `${plural(agent.calls, 'call')}${agent.tokens?.cost_usd == null ? '' : `, ${dollars(agent.tokens.cost_usd)}`}`,
  ].filter((fact) => fact !== null)
  return (
    <header className={cx('middle', css.sessionHead)}>
      <Link className={css.phoneBack} to={wait === undefined ? '/fleet' : '/needs-you/{-$wait}'} aria-label="Back">
        <Icon name="left" size={18} />
      </Link>
      <AgentMark name={agent.agent_id} large />
      <div className="grow">
        <div className="row">
          <h1 className="session-name">{agent.agent_id}</h1>
          <StateWord state={agent.state} />
          {since !== null && <span className="second">for {age(sinceMs(since, now))}</span>}
          <span className="quiet cut">
            seen by {seenBy(agent.evidence.source)}
            {since !== null && `, ${clockWithSeconds(since)}`}
          </span>
        </div>
        <p className={cx('meta cut', css.sessionFacts)}>
          {who.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
          {agent.branch !== null && (
            <span className="mono">
              <Icon name="branch" size={11} /> {agent.branch}
            </span>
          )}
          {facts.map((fact) => (
            <span key={fact} title={agent.run_id !== null && fact.startsWith('run ') ? agent.run_id : undefined}>
              {fact}
            </span>
          ))}
          {agent.waited !== null && agent.waited.count > 0 && (
            <span title={agent.waited.source}>
              waited {age(agent.waited.ms)} for you, {plural(agent.waited.count, 'time')}
            </span>
          )}
          {agent.guard !== null && (
            <span title={agent.guard.evidence}>
              {agent.guard.kind}: {agent.guard.by.join(', ') || agent.guard.evidence}
            </span>
          )}
          {agent.problems.map((problem) => (
            <span
              key={problem.kind}
              className={problem.kind === 'looping' ? 'is-clash' : 'is-stale'}
              title={problem.evidence.source}
            >
              {problem.text}
            </span>
          ))}
          {agent.ended_at === null && (agent.liveness === 'stale' || agent.liveness === 'evicted') && (
            <span className="is-stale">{agent.liveness}</span>
          )}
        </p>
      </div>
      <div className={cx('row', css.sessionActs)}>
        <Button icon="arrow" onPress={() => setOver('pass')}>
          Pass on…
        </Button>
        {agent.run_id !== null && (
          <Link className="button" to="/timeline/{-$run}" params={{ run: agent.run_id }}>
            Timeline
          </Link>
        )}
        {agent.session_id !== null && agent.ended_at === null && (
          <Button kind="harm" onPress={() => setOver('end')}>
            End…
          </Button>
        )}
        {agent.ended_at !== null && <span className="quiet">ended {clock(agent.ended_at, now)}</span>}
      </div>
      {over === 'pass' && <PassOnDialog agent={agent} onClose={() => setOver(null)} />}
      {over === 'end' && <EndDialog agent={agent} onClose={() => setOver(null)} />}
    </header>
  )
}
