// Session: the question and its answers, the live terminal, the conversation beside it, and what changed.
import { type ReactNode, Suspense, useState } from 'react'
import type { AgentCard, AgentReply, WaitCard } from '../../../src/hub/contract.ts'
import { useHub, useHubNow, useWatch } from '../live/hooks.ts'
import { later } from '../live/later.ts'
import { Answers } from '../needs-you/answers.tsx'
import { AgentMark } from '../parts/agent-mark.tsx'
import { Button } from '../parts/controls.tsx'
import { Empty, Loading, Part } from '../parts/days.tsx'
import { age, clock, clockWithSeconds, dollars, plural, shortRun, sinceMs } from '../parts/format.ts'
import { Icon } from '../parts/icons.tsx'
import { StateWord } from '../parts/state.tsx'
import { seenBy } from '../parts/words.ts'
import { sameInTerminal } from '../shell/foot.tsx'
import { placeLink, refine, usePlace } from '../shell/place.ts'
import { EndDialog, PassOnDialog } from './acts.tsx'
import { Conversation } from './conversation.tsx'
import { FreeAnswer } from './free-answer.tsx'
import { Lower, type LowerTab } from './lower.tsx'
import { SessionTerminal } from './terminal.tsx'

const Player = later(() => import('../timeline/player.tsx'))

export default function SessionScreen({ agent: id }: { readonly agent: string }): ReactNode {
  const live = useWatch((watch) => watch.agents.get(id))
  // One that is not in the fleet any more is still known to the hub.
  const asked = useHub<AgentReply>(live === undefined ? `agents/${encodeURIComponent(id)}` : null)
  if (live !== undefined) return <Session agent={live} />
  return (
    <Part what={`agent ${id}`} loaded={asked}>
      {({ agent }) => <Session agent={agent} />}
    </Part>
  )
}

const PHONE_TABS = ['screen', 'talk', 'changes', 'claims'] as const

function Session({ agent }: { readonly agent: AgentCard }): ReactNode {
  const waits = useWatch((watch) => watch.waits)
  const wait = waits.find(({ agent_id, snoozed_until }) => agent_id === agent.agent_id && snoozed_until === null)
  const { query } = usePlace()
  const tab = (query.get('tab') ?? 'changes') as LowerTab
  const phoneTab = query.get('part') ?? 'screen'
  const choose = (chosen: LowerTab): void => refine({ tab: chosen })
  sameInTerminal(agent.command)
  return (
    <div className="session" data-part={phoneTab}>
      <Head key={agent.agent_id} agent={agent} wait={wait} />
      <nav className="phone-tabs" aria-label="Parts">
        {PHONE_TABS.map((part) => (
          <button
            key={part}
            type="button"
            aria-pressed={phoneTab === part}
            onClick={() => refine({ part, ...(part === 'changes' || part === 'claims' ? { tab: part } : {}) })}
          >
            {part[0]?.toUpperCase()}
            {part.slice(1)}
          </button>
        ))}
      </nav>
      <div className="session-left">
        <TerminalPlace agent={agent} />
        <Lower agent={agent} tab={tab} onTab={choose} />
      </div>
      <section className="pane talk" aria-label="Conversation">
        <Conversation agent={agent} wait={wait} />
        <Reply agent={agent} wait={wait} />
      </section>
    </div>
  )
}

/** Live while there is a session; of a run that has ended, as it was recorded. */
function TerminalPlace({ agent }: { readonly agent: AgentCard }): ReactNode {
  const { session_id: session, run_id: run, ended_at: ended } = agent
  if (session !== null) return <SessionTerminal key={session} session={session} />
  if (ended !== null && run !== null)
    return (
      <section className="pane terminal recorded" aria-label="Recorded terminal">
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
    <div className={wait === undefined ? 'reply' : 'reply waits'}>
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
    <header className="session-head">
      <a className="phone-back" href={placeLink(wait === undefined ? 'fleet' : 'needs-you')} aria-label="Back">
        <Icon name="left" size={18} />
      </a>
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
        <p className="session-facts meta cut">
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
      <div className="row session-acts">
        <Button icon="arrow" onPress={() => setOver('pass')}>
          Pass on…
        </Button>
        {agent.run_id !== null && (
          <a className="button" href={placeLink('timeline', agent.run_id)}>
            Timeline
          </a>
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
