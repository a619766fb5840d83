// Decisions: each tool call with its rule, its reason, what was counted, and what the agent did next.
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Call, DecisionsReply, DecisionWord as Word } from '../../../src/hub/contract.ts'
import { get, type Query } from '../live/api.ts'
import { useHub, useHubNow, useWatch } from '../live/hooks.ts'
import { onLog } from '../live/watch.ts'
import { AgentName } from '../parts/agent-mark.tsx'
import { Button, Chip } from '../parts/controls.tsx'
import { Broken, Empty, Loading } from '../parts/days.tsx'
import { argumentsLine, clock, clockWithSeconds, plural, shortRun, whole } from '../parts/format.ts'
import { Icon } from '../parts/icons.tsx'
import { type Column, LongTable, neighbour } from '../parts/long-table.tsx'
import { DecisionWord } from '../parts/state.tsx'
import { decisionWord } from '../parts/words.ts'
import { sameInTerminal } from '../shell/foot.tsx'
import { useKeys } from '../shell/keys.ts'
import { go, placeLink, refine, usePlace } from '../shell/place.ts'
import { CallDetail } from './call-detail.tsx'
import { ReplayDialog } from './replay-dialog.tsx'

const CHIPS: readonly Word[] = ['refused_with_hint', 'blocked', 'throttled', 'run_ended', 'allowed']
const PAGE = 200

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

/** A tool that is not as it was pinned, or a path that another holds, is refused by no rule. */
export const unruled = ({ decision }: Call): string => (decision === 'allowed' ? 'no rule matched' : 'not by a rule')

export function countText(call: Call): string {
  const { counters, rule } = call
  const [first] = counters
  if (first === undefined) return rule === null ? unruled(call) : '–'
  const limit = first.limit === null ? '' : ` of ${first.limit}`
  return `${first.before} → ${first.after}${limit}, ${first.name.replace(/ of .*$/, '')}`
}

export default function DecisionsScreen({ selected }: { readonly selected: string | null }): ReactNode {
  const { query } = usePlace()
  const asked: Query = {
    agent: query.get('agent') ?? undefined,
    run: query.get('run') ?? undefined,
    rule: query.get('rule') ?? undefined,
    decision: query.get('decision') ?? undefined,
    text: query.get('text') ?? undefined,
    since: query.get('since') ?? undefined,
    until: query.get('until') ?? undefined,
  }
  const list = useCalls(asked)
  const [isReplaying, setIsReplaying] = useState(false)
  const link = (id: string): string => placeLink('decisions', id, Object.fromEntries(query))
  const ids = useMemo(() => list.calls.map(callId), [list.calls])
  const shown = selected ?? ids[0] ?? null
  const move = (by: number): void => {
    const next = neighbour(ids, shown, by)
    if (next !== undefined) go(link(next))
  }
  useKeys({ j: () => move(1), k: () => move(-1) })
  sameInTerminal(`heimdall events${asked['agent'] === undefined ? '' : ` --agent ${String(asked['agent'])}`}`)
  return (
    <div className={selected === null ? 'decisions' : 'decisions of-one'}>
      <a className="button all-calls" href={placeLink('decisions', null, Object.fromEntries(query))}>
        <Icon name="left" size={14} /> All calls
      </a>
      <div className="page-head">
        <h1>Decisions</h1>
        <Counts counts={list.counts} since={list.since} />
        <span className="grow" />
        <Button onPress={() => setIsReplaying(true)}>Replay under another policy…</Button>
      </div>
      <Filters counts={list.counts} calls={list.calls} />
      {list.news > 0 && (
        <button type="button" className="news" onClick={list.takeNews}>
          {list.news} new
        </button>
      )}
      <section className="pane decisions-list" aria-label="Calls">
        {list.error !== undefined && list.calls.length === 0 ? (
          <Broken what="No decisions" error={list.error} />
        ) : list.isLoading && list.calls.length === 0 ? (
          <Loading what="decisions" />
        ) : list.calls.length === 0 ? (
          <Empty title="No calls here">
            Each tool call would be here with the rule that decided it. Put an agent’s servers behind the shim:{' '}
            <code>heimdall mcp import</code>
          </Empty>
        ) : (
          <LongTable
            label="Calls"
            columns={COLUMNS}
            rows={list.calls}
            idOf={callId}
            selected={shown}
            linkOf={(call) => link(callId(call))}
            onEnd={list.more}
          />
        )}
      </section>
      {shown !== null && <CallDetail id={shown} />}
      {isReplaying && (
        <ReplayDialog run={query.get('run') ?? shown?.split('/')[0]} onClose={() => setIsReplaying(false)} />
      )}
    </div>
  )
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
  const { query } = usePlace()
  const agents = useWatch((watch) => watch.order)
  const chosenRule = query.get('rule')
  const rules = useMemo(
    () => [...new Set([chosenRule, ...calls.map(({ rule }) => rule)])].filter((rule) => rule !== null).sort(),
    [calls, chosenRule],
  )
  const [text, setText] = useState(query.get('text') ?? '')
  useEffect(() => {
    const timer = setTimeout(() => refine({ text }), 250)
    return () => clearTimeout(timer)
  }, [text])
  const chosen = query.get('decision')
  return (
    <div className="filters" role="search">
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
        <select
          className="field"
          value={query.get('agent') ?? ''}
          onChange={(event) => refine({ agent: event.target.value })}
        >
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
            value={query.get('rule') ?? ''}
            onChange={(event) => refine({ rule: event.target.value })}
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
            onPress={() => refine({ decision: chosen === decision ? null : decision })}
          >
            <span className={`state ${tone}`}>
              <Icon name={glyph} size={12} />
            </span>
            {word.replace(' with a hint', '')} {counts !== undefined && <b>{whole(counts[decision])}</b>}
          </Chip>
        )
      })}
      {query.get('run') !== null && (
        <Chip isOn onPress={() => refine({ run: null })}>
          run {shortRun(query.get('run') ?? '')} ✕
        </Chip>
      )}
    </div>
  )
}

interface Calls {
  readonly calls: readonly Call[]
  readonly counts: DecisionsReply['counts'] | undefined
  readonly since: string | null
  readonly error: ReturnType<typeof useHub>['error']
  readonly isLoading: boolean
  readonly news: number
  readonly takeNews: () => void
  readonly more: () => void
}

/** Pages, newest first. What comes meanwhile waits behind a button, so that no row moves under the reader. */
function useCalls(asked: Query): Calls {
  const key = JSON.stringify(asked)
  const first = useHub<DecisionsReply>('decisions', { ...asked, limit: PAGE })
  const [rest, setRest] = useState<{ key: string; calls: readonly Call[]; next: string | null }>({
    key,
    calls: [],
    next: null,
  })
  const [news, setNews] = useState(0)
  const isAsking = useRef(false)
  useEffect(
    () =>
      onLog(({ calls }) => {
        if (calls.length > 0) setNews((count) => count + calls.length)
      }),
    [],
  )
  const own = rest.key === key ? rest : { key, calls: [], next: null }
  const next = own.calls.length > 0 ? own.next : (first.data?.next ?? null)
  const more = useCallback(() => {
    if (next === null || isAsking.current) return
    isAsking.current = true
    get<DecisionsReply>('decisions', { ...(JSON.parse(key) as Query), limit: PAGE, before: next }).then(
      (reply) => {
        isAsking.current = false
        setRest((before) => ({
          key,
          calls: [...(before.key === key ? before.calls : []), ...reply.calls],
          next: reply.next,
        }))
      },
      () => {
        // The list stays as it is; scrolling again asks again.
        isAsking.current = false
      },
    )
  }, [key, next])
  const calls = useMemo(() => [...(first.data?.calls ?? []), ...own.calls], [first.data, own.calls])
  return {
    calls,
    counts: first.data?.counts,
    since: first.data?.since ?? null,
    error: first.error,
    isLoading: first.isLoading,
    news,
    takeNews: () => {
      setNews(0)
      setRest({ key, calls: [], next: null })
      first.reload()
    },
    more,
  }
}
