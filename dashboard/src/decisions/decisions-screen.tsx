// Decisions: each tool call with its rule, reason and counters, and what the agent did next.
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, linkOptions } from '@tanstack/react-router'
import { type ReactNode, useCallback, useEffect, useEffectEvent, useMemo, useState } from 'react'
import type { Call, DecisionsReply, DecisionWord as Word } from '../../../src/hub/contract.ts'
import { AgentName } from '../components/agent-mark.tsx'
import { Button, Chip } from '../components/controls.tsx'
import { Empty, QueryPart } from '../components/feedback.tsx'
import { argumentsLine, clock, clockWithSeconds, plural, shortRun, whole } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { type Column, LongTable } from '../components/long-table.tsx'
import { DecisionWord } from '../components/state.tsx'
import { decisionWord } from '../components/words.ts'
import { useTerminalCommand } from '../shell/foot.tsx'
import { useListKeys } from '../shell/keys.tsx'
import { CallDetail } from './call-detail.tsx'
import { ReplayDialog } from './replay-dialog.tsx'
import { useHubNow } from '../data/clock.ts'
import { type CallFilter, callsQuery } from '../data/queries.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './decisions.module.css'

const CHIPS: readonly Word[] = ['refused_with_hint', 'blocked', 'throttled', 'run_ended', 'allowed']

export const callId = (call: Pick<Call, 'run_id' | 'call_id'>): string => `${call.run_id}/${call.call_id}`

const COLUMNS: readonly Column<Call>[] = [
  { head: 'Time', width: '76px', cell: (call) => <span className="quiet">{clockWithSeconds(call.at)}</span> },
  {
    head: 'Agent',
    width: 'minmax(110px, 1fr)',
    onPhone: 'minmax(0, 1fr)',
    cell: (call) => (call.agent_id === null ? '–' : <AgentName name={call.agent_id} />),
  },
  {
    head: 'Call',
    width: 'minmax(130px, 1.6fr)',
    onPhone: 'minmax(0, 1fr)',
    cell: (call) => (
      <span className="mono">
        {call.server !== null && <span className="quiet">{call.server} · </span>}
        {call.tool ?? 'a call without a name'}
      </span>
    ),
  },
  {
    head: 'Arguments',
    width: 'minmax(120px, 1.8fr)',
    cell: (call) => <span className="mono second">{argumentsLine(call.args)}</span>,
  },
  { head: 'Decision', width: '128px', onPhone: '106px', cell: (call) => <DecisionWord call={call} isShort /> },
  { head: 'Rule', width: 'minmax(80px, 1fr)', cell: (call) => <span className="mono second">{call.rule ?? '–'}</span> },
  {
    head: 'Count, before → after',
    width: 'minmax(120px, 1fr)',
    cell: (call) => <span className="quiet">{countText(call)}</span>,
  },
  {
    head: 'What it did next',
    width: 'minmax(110px, 1.2fr)',
    cell: (call) => <span className={call.next === null ? 'quiet' : 'second'}>{call.next?.text ?? 'nothing yet'}</span>,
  },
]

/** A changed tool, or a path that another agent holds, is refused without a rule. */
export const unruled = ({ decision }: Call): string => (decision === 'allowed' ? 'no rule matched' : 'not by a rule')

export function countText(call: Call): string {
  const { counters, rule } = call
  const [first] = counters
  if (first === undefined) return rule === null ? unruled(call) : '–'
  const limit = first.limit === null ? '' : ` of ${first.limit}`
  return `${first.before} → ${first.after}${limit}, ${first.name.replace(/ of .*$/, '')}`
}

const route = getRouteApi('/decisions/{-$run}/{-$call}')

export default function DecisionsScreen(): ReactNode {
  const { run, call } = route.useParams()
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const { calls, counts, since, query, news, showNews } = useCalls(filter)
  const [isReplaying, setIsReplaying] = useState(false)
  const ids = useMemo(() => calls.map(callId), [calls])
  const selected = run === undefined || call === undefined ? null : callId({ run_id: run, call_id: call })
  const shown = selected ?? ids[0] ?? null
  const [shownRun, shownCall] = shown?.split('/') ?? []
  const linkOf = (id: string) => {
    const [run_, call_] = id.split('/')
    return linkOptions({ to: '/decisions/{-$run}/{-$call}', params: { run: run_, call: call_ }, search: filter })
  }
  useListKeys(ids, shown === null ? -1 : ids.indexOf(shown), (id) => void navigate(linkOf(id)))
  useTerminalCommand(`heimdall events${filter.agent === undefined ? '' : ` --agent ${filter.agent}`}`)
  return (
    <div className={selected === null ? cx('column fill', css.decisions) : cx('column fill', css.decisions, css.ofOne)}>
      <Link
        className={cx('button', css.allCalls)}
        to="/decisions/{-$run}/{-$call}"
        params={{ run: undefined, call: undefined }}
        search={filter}
      >
        <Icon name="left" size={14} /> All calls
      </Link>
      <div className="page-head">
        <h1>Decisions</h1>
        <Counts counts={counts} since={since} />
        <span className="grow" />
        <Button onPress={() => setIsReplaying(true)}>Replay under another policy…</Button>
      </div>
      <Filters counts={counts} calls={calls} />
      {news > 0 && (
        <button type="button" className="news" onClick={showNews}>
          {news} new
        </button>
      )}
      <section className={cx('pane', css.decisionsList)} aria-label="Calls">
        <QueryPart what="decisions" query={query}>
          {() =>
            calls.length === 0 ? (
              <Empty title="No calls here">
                Each tool call would be here with the rule that decided it. Put an agent’s servers behind the shim:{' '}
                <code>heimdall mcp import</code>
              </Empty>
            ) : (
              <LongTable
                label="Calls"
                columns={COLUMNS}
                rows={calls}
                idOf={callId}
                selected={shown}
                linkOf={(one) => linkOf(callId(one))}
                onEnd={query.loadMore}
              />
            )
          }
        </QueryPart>
      </section>
      {shownRun !== undefined && shownCall !== undefined && <CallDetail run={shownRun} call={shownCall} />}
      {isReplaying && <ReplayDialog run={filter.run ?? shownRun} onClose={() => setIsReplaying(false)} />}
    </div>
  )
}

/** Pages, newest first. New calls wait behind a button, so that no row moves while the list is read. */
function useCalls(filter: CallFilter) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(callsQuery(filter))
  const received = useStore((state) => state.callsReceived)
  const [receivedBefore, setReceivedBefore] = useState(received)
  const queries = useQueryClient()
  const calls = useMemo(() => data?.pages.flatMap((page) => page.calls) ?? [], [data])
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  return {
    calls,
    counts: data?.pages[0]?.counts,
    since: data?.pages[0]?.since ?? null,
    query: { data, error, loadMore },
    news: received - receivedBefore,
    showNews: () => {
      setReceivedBefore(received)
      // From the first page on: the others are loaded again when they are scrolled to.
      void queries.resetQueries(callsQuery(filter))
    },
  }
}

function Counts({
  counts,
  since,
}: {
  readonly counts: DecisionsReply['counts'] | undefined
  readonly since: string | null
}): ReactNode {
  const now = useHubNow()
  if (counts === undefined) return null
  const of = (word: Word): number => counts[word]
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return (
    <span className="second">
      <b className="strong">{whole(all)}</b> {all === 1 ? 'call' : 'calls'}
      {since !== null && ` since ${clock(since, now)}`}: <b className="strong">{whole(of('allowed'))}</b> allowed,{' '}
      <b className={of('refused_with_hint') === 0 ? 'strong' : 'is-clash'}>
        {whole(of('refused_with_hint'))} refused with a hint
      </b>
      , {whole(of('throttled'))} throttled, {whole(of('blocked'))} blocked, {plural(of('run_ended'), 'run')} ended.
    </span>
  )
}

interface FiltersProps {
  readonly counts: DecisionsReply['counts'] | undefined
  readonly calls: readonly Call[]
}

function Filters({ counts, calls }: FiltersProps): ReactNode {
  const { agent, run, rule: chosenRule = null, decision: chosen, text: wanted = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const filterBy = (changed: CallFilter): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...changed }), replace: true })
  const agents = useStore((state) => state.order)
  const rules = useMemo(
    () => [...new Set([chosenRule, ...calls.map(({ rule }) => rule)])].filter((rule) => rule !== null).sort(),
    [calls, chosenRule],
  )
  const [text, setText] = useState(wanted)
  const filterByText = useEffectEvent(() => {
    if (text !== wanted) filterBy({ text })
  })
  useEffect(() => {
    const timer = setTimeout(() => filterByText(), 250)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div className={cx('middle', css.filters)} role="search">
      <label className="field">
        <Icon name="search" size={14} />
        <span className="hidden-text">Tool, path, rule or reason</span>
        <input
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="tool, path, rule or reason"
        />
      </label>
      <label>
        <span className="hidden-text">Agent</span>
        <select className="field" value={agent ?? ''} onChange={(event) => filterBy({ agent: event.target.value })}>
          <option value="">All agents</option>
          {agents.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      {rules.length > 0 && (
        <label>
          <span className="hidden-text">Rule</span>
          <select
            className="field"
            value={chosenRule ?? ''}
            onChange={(event) => filterBy({ rule: event.target.value })}
          >
            <option value="">All rules</option>
            {rules.map((rule) => (
              <option key={rule}>{rule}</option>
            ))}
          </select>
        </label>
      )}
      {CHIPS.map((decision) => {
        const { word, glyph, tone } = decisionWord({ decision, enforced: true })
        return (
          <Chip
            key={decision}
            isOn={chosen === decision}
            onPress={() => filterBy({ decision: chosen === decision ? undefined : decision })}
          >
            <span className={`state ${tone}`}>
              <Icon name={glyph} size={12} />
            </span>
            {word.replace(' with a hint', '')} {counts !== undefined && <b>{whole(counts[decision])}</b>}
          </Chip>
        )
      })}
      {run !== undefined && (
        <Chip isOn onPress={() => filterBy({ run: undefined })}>
          run {shortRun(run)} ✕
        </Chip>
      )}
    </div>
  )
}
