// Timeline: one run on one axis, its sums above, what is selected below. The range is in the address.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useCallback, useMemo, useState } from 'react'
import type { RunRow, TimelineSpan, TimelineReply } from '../../../src/hub/contract.ts'
import { AgentMark } from '../components/agent-mark.tsx'
import { Button, Copy, Segments } from '../components/controls.tsx'
import { Banner, QueryPart } from '../components/feedback.tsx'
import {
  age,
  clock,
  clockWithSeconds,
  dollars,
  plural,
  shortRun,
  sinceMs,
  tokenCount,
  whole,
} from '../components/format.ts'
import { Icon, type IconName } from '../components/icons.tsx'
import { StateWord } from '../components/state.tsx'
import { useTerminalCommand } from '../shell/foot.tsx'
import { NEEDS_YOU } from '../shell/screens.ts'
import { useKeys } from '../shell/keys.tsx'
import { Bars } from '../tokens/bars.tsx'
import { LanesCanvas } from './lanes-canvas.tsx'
import { lanesOf, namesPx, type TimeRange } from './lanes.ts'
import { Happened } from './happened.tsx'
import { Overview } from './overview.tsx'
import { Recording } from './recording.tsx'
import { RunChanges } from './run-changes.tsx'
import { RunList } from './run-list.tsx'
import { useHubNow } from '../data/clock.ts'
import { timelineQuery } from '../data/queries.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './timeline.module.css'

const route = getRouteApi('/timeline/{-$run}')

export default function TimelineScreen(): ReactNode {
  const { run } = route.useParams()
  return run === undefined ? <RunList /> : <OneRun key={run} run={run} />
}

function OneRun({ run }: { readonly run: string }): ReactNode {
  const { from, to } = route.useSearch()
  const isPart = from !== undefined || to !== undefined
  const all = useQuery(timelineQuery(run))
  // While a new range is loaded, the previous one is shown in its place.
  const part = useQuery({
    ...timelineQuery(run, { from, to }),
    enabled: isPart,
    placeholderData: (previous) => previous ?? all.data,
  })
  useTerminalCommand(`heimdall events --run ${run}`)
  return (
    <QueryPart what={`run ${run}`} query={isPart ? part : all}>
      {(reply) => <Shown reply={reply} whole={all.data ?? reply} />}
    </QueryPart>
  )
}

const sameSpan = (one: TimelineSpan, ref: string | null): boolean =>
  ref !== null && (one.ref === ref || one.ref.endsWith(`/${ref}`))

interface ShownProps {
  /** The part that is looked at. */
  readonly reply: TimelineReply
  readonly whole: TimelineReply
}

function Shown({ reply, whole: all }: ShownProps): ReactNode {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = useCallback(
    (changed: Partial<typeof search>) =>
      void navigate({ to: '.', search: (before) => ({ ...before, ...changed }), replace: true }),
    [navigate],
  )
  const now = useHubNow()
  const endMs = reply.run.ended_at === null ? now : Date.parse(reply.run.ended_at)
  const wholeFrom = Date.parse(reply.run.started_at)
  const wholeTo = Math.max(endMs, wholeFrom + 1_000)
  const [dragged, setDragged] = useState<TimeRange | undefined>()
  const { fromMs, toMs } = dragged ?? rangeWithin(search, { fromMs: wholeFrom, toMs: wholeTo })
  // Open spans grow: redrawn every two seconds, or every minute in a long run.
  const tick = Math.floor(endMs / (endMs - wholeFrom < 600_000 ? 2_000 : 60_000))
  const lanes = useMemo(() => lanesOf(reply.spans, endMs), [reply.spans, tick])
  const allLanes = useMemo(
    () => (all.spans === reply.spans ? lanes : lanesOf(all.spans, endMs)),
    [all.spans, reply.spans, lanes, tick],
  )
  const wanted = search.call ?? null
  const selected = useMemo(() => reply.spans.find((span) => sameSpan(span, wanted)) ?? null, [reply.spans, wanted])
  const isCompact = search.as === 'compact'
  const skewMs = useStore((state) => state.skewMs)
  const show = useCallback(
    (from: number, to: number) => {
      const low = farthest(wholeFrom, wholeTo, -1)
      const high = farthest(wholeFrom, wholeTo, 1)
      change({ from: new Date(Math.max(low, from)).toISOString(), to: new Date(Math.min(high, to)).toISOString() })
    },
    [wholeFrom, wholeTo, change],
  )
  const zoom = (factor: number, atMs = (fromMs + toMs) / 2): void => {
    const width = Math.max(1_000, (toMs - fromMs) * factor)
    const share = (atMs - fromMs) / Math.max(1, toMs - fromMs)
    show(atMs - width * share, atMs + width * (1 - share))
  }
  const shift = (share: number): void => show(fromMs + (toMs - fromMs) * share, toMs + (toMs - fromMs) * share)
  const whole = (): void => change({ from: undefined, to: undefined })
  // Calls that fall together come apart where one looks closer.
  const select = (span: TimelineSpan): void => {
    const from = Date.parse(span.from)
    const to = Date.parse(span.to ?? span.from)
    const aroundMs = Math.max(1_000, to - from) * 2
    change({
      call: span.ref,
      ...(span.count > 1 && {
        from: new Date(from - aroundMs).toISOString(),
        to: new Date(to + aroundMs).toISOString(),
      }),
    })
  }
  useKeys({
    '+': () => zoom(0.6),
    '=': () => zoom(0.6),
    '-': () => zoom(1.6),
    ArrowLeft: () => shift(-0.25),
    ArrowRight: () => shift(0.25),
    '0': whole,
  })
  const bars = useMemo(() => barsOf(reply), [reply])
  return (
    <div className={cx('column', css.timeline)}>
      {reply.run.ended_at !== null && (
        <Banner
          icon="clock"
          title="You look at the past:"
          action={
            <Link className="button small" {...NEEDS_YOU}>
              Back to now
            </Link>
          }
        >
          ended {clock(reply.run.ended_at, now)}. Nothing can be changed.
        </Banner>
      )}
      <RunHead run={reply.run} at={reply.at} now={now} />
      <section className={cx('pane padded', css.timelinePane)} aria-label="Timeline">
        <div className={cx('row', css.timelineTools)}>
          <Segments
            label="Look"
            of={[
              { value: 'expanded', text: 'Expanded' },
              { value: 'compact', text: 'Compact' },
            ]}
            chosen={isCompact ? 'compact' : 'expanded'}
            onChoose={(value) => change({ as: value === 'compact' ? 'compact' : undefined })}
          />
          <span className="second grow">
            {clockWithSeconds(new Date(fromMs).toISOString())} to {clockWithSeconds(new Date(toMs).toISOString())} · the
            range is in the address
            {reply.left_out > 0 && ` · ${plural(reply.left_out, 'call')} left out, zoom in`}
          </span>
          <span className={cx('row', css.timelineMoves)}>
            <Button size="small" label="Zoom in" onPress={() => zoom(0.6)}>
              +
            </Button>
            <Button size="small" label="Zoom out" onPress={() => zoom(1.6)}>
              −
            </Button>
            <span className="meta">zoom</span>
            <Button size="small" label="Earlier" onPress={() => shift(-0.25)}>
              ←
            </Button>
            <Button size="small" label="Later" onPress={() => shift(0.25)}>
              →
            </Button>
            <span className="meta">move</span>
          </span>
          <Button size="small" onPress={whole} after="0">
            Whole run
          </Button>
        </div>
        <Overview
          lanes={allLanes}
          run={{ fromMs: wholeFrom, toMs: wholeTo }}
          shown={{ fromMs, toMs }}
          onDrag={setDragged}
          onLook={(range) => {
            setDragged(undefined)
            if (range.fromMs <= wholeFrom && range.toMs >= wholeTo) whole()
            else show(range.fromMs, range.toMs)
          }}
          onWhole={whole}
        />
        <LanesCanvas
          lanes={lanes}
          fromMs={fromMs}
          toMs={toMs}
          nowMs={reply.run.ended_at === null ? now : null}
          holder={reply.run.agent_id ?? ''}
          selected={selected}
          isCompact={isCompact}
          onSelect={select}
          onZoom={zoom}
        />
        <p className={cx('meta legend', css.timelineLegend)}>
          <Swatch of="uncached">working</Swatch>
          <Swatch of="waits">waits for you, taller</Swatch>
          <Swatch of="call">call, as long as it took</Swatch>
          <LegendIcon name="back" tone="is-clash">
            refused
          </LegendIcon>
          <LegendIcon name="pause">throttled</LegendIcon>
          <LegendIcon name="arrow">handoff</LegendIcon>
          <LegendIcon name="bow" tone="is-clash">
            incursion
          </LegendIcon>
          <span className="grow" />
          Times are the hub’s{skewText(skewMs)}
        </p>
        {bars.length > 0 && (
          <>
            <div className={cx('row', css.timelineTokens)}>
              <h3>Tokens</h3>
              <span className="meta legend grow">
                <Swatch of="uncached">uncached</Swatch>
                <Swatch of="cached">cached reads</Swatch>
                {bars.some(({ cost }) => cost !== null) && <Swatch of="line">cost so far</Swatch>}
              </span>
              {reply.tokens_source !== null && <span className="meta">source: {reply.tokens_source}</span>}
            </div>
            <Bars label="Tokens" bars={bars} height={150} along={{ fromMs, toMs, leftPx: namesPx }} />
          </>
        )}
      </section>
      <div className={css.timelineLower}>
        <Happened spans={reply.spans} selected={selected} run={reply.run} onSelect={select} />
        <Recording run={reply.run} seekTo={selected === null ? null : Date.parse(selected.from) - wholeFrom} />
        <RunChanges run={reply.run} />
      </div>
    </div>
  )
}

interface LegendIconProps {
  readonly name: IconName
  readonly tone?: string
  readonly children: ReactNode
}

/** A sign and its word stay on one line. */
const LegendIcon = ({ name, tone = '', children }: LegendIconProps): ReactNode => (
  <span className={css.legendOne}>
    <span className={tone}>
      <Icon name={name} size={12} />
    </span>
    {children}
  </span>
)

const Swatch = ({ of, children }: { readonly of: string; readonly children: ReactNode }): ReactNode => (
  <span className={css.legendOne}>
    <i className={of} />
    {children}
  </span>
)

/** As far as one can look past either end: as long as the run is. */
const farthest = (fromMs: number, toMs: number, way: -1 | 1): number =>
  way < 0 ? fromMs - (toMs - fromMs) : toMs + (toMs - fromMs)

/** The range of the address. Invalid times, and those far from the run, are ignored. */
function rangeWithin(
  search: { readonly from?: string | undefined; readonly to?: string | undefined },
  run: TimeRange,
): TimeRange {
  const low = farthest(run.fromMs, run.toMs, -1)
  const high = farthest(run.fromMs, run.toMs, 1)
  const at = (name: 'from' | 'to', otherwise: number): number => {
    const ms = Date.parse(search[name] ?? '')
    return ms >= low - 1 && ms <= high + 1 ? ms : otherwise
  }
  const range = { fromMs: at('from', run.fromMs), toMs: at('to', run.toMs) }
  return range.fromMs < range.toMs ? range : run
}

/** Shown from half a second on. */
const skewText = (skewMs: number): string =>
  Math.abs(skewMs) < 500
    ? '.'
    : `; your browser is ${(Math.abs(skewMs) / 1_000).toFixed(1)} s ${skewMs > 0 ? 'behind' : 'ahead'}.`

function barsOf(reply: TimelineReply): { atMs: number; cached: number; uncached: number; cost: number | null }[] {
  let cost = 0
  return reply.tokens.map(({ at, cached, uncached, cost_usd }) => {
    cost += cost_usd ?? 0
    return { atMs: Date.parse(at), cached, uncached, cost: cost_usd === null ? null : cost }
  })
}

interface RunHeadProps {
  readonly run: RunRow
  /** When that was told. */
  readonly at: string
  readonly now: number
}

/** A wait that is open grows while one looks. */
const waitedNow = ({ waited: { ms, is_open: isOpen } }: RunRow, at: string, now: number): number =>
  isOpen ? ms + sinceMs(at, now) : ms

/** For a person, or for what another agent holds or was asked for. */
function waitedLabel({ count, ms, for_you_ms: forYouMs }: RunRow['waited']): string {
  if (count === 0 || forYouMs === ms) return 'Waited for you'
  return forYouMs === 0 ? 'Waited for an agent' : 'Waited for you and agents'
}

function RunHead({ run, at, now }: RunHeadProps): ReactNode {
  const agent = useStore((watch) => (run.agent_id === null ? undefined : watch.agents.get(run.agent_id)))
  const wallMs = (run.ended_at === null ? now : Date.parse(run.ended_at)) - Date.parse(run.started_at)
  const { count, is_open: isOpen } = run.waited
  const waitedMs = waitedNow(run, at, now)
  const waits = count === 0 ? 'not once' : `${plural(count, 'wait')}${isOpen ? ', still open' : ''}`
  const workedMs = Math.max(0, wallMs - waitedMs)
  const sums: readonly (readonly [string, string, string])[] = [
    ['Wall time', age(wallMs), `since ${clock(run.started_at, now)}`],
    ['Worked', age(workedMs), `${Math.round((workedMs / Math.max(1, wallMs)) * 100)} % of it`],
    [waitedLabel(run.waited), count === 0 ? '–' : age(waitedMs), waits],
    ['Calls', whole(run.calls), `${run.decisions.refused_with_hint} refused, ${run.decisions.throttled} throttled`],
    ...(run.tokens === null
      ? []
      : ([
          [
            'Tokens',
            tokenCount(run.tokens.total),
            `${Math.round((run.tokens.cached / Math.max(1, run.tokens.total)) * 100)} % cached reads`,
          ],
          [
            'Cost',
            run.tokens.cost_usd === null ? 'not known' : dollars(run.tokens.cost_usd),
            run.tokens.prices_of === null ? 'no prices' : `prices of ${run.tokens.prices_of}`,
          ],
        ] as const)),
  ]
  return (
    <header className={cx('middle', css.runHead)}>
      <AgentMark name={run.agent_id ?? '?'} large />
      <div className="grow">
        <div className="row">
          <h1 className="session-name">Run of {run.agent_id ?? 'an unknown agent'}</h1>
          <Copy text={run.run_id} label={shortRun(run.run_id)} className="button plain small mono" />
          {agent !== undefined && agent.run_id === run.run_id ? (
            <StateWord state={agent.state} />
          ) : (
            <span className="second">{run.status}</span>
          )}
        </div>
        <p className="meta">
          {run.task ?? 'no task'} · started {clockWithSeconds(run.started_at)}
          {run.mode !== null && ` · ${run.mode}`}
          {run.agent_id !== null && (
            <>
              {' · '}
              <Link
                className="is-work underlined"
                to="/decisions/{-$run}/{-$call}"
                params={{ run: undefined, call: undefined }}
                search={{ run: run.run_id }}
              >
                its decisions
              </Link>
              {' · '}
              <Link className="is-work underlined" to="/session/$agent" params={{ agent: run.agent_id }}>
                its session
              </Link>
            </>
          )}
        </p>
      </div>
      <dl className={css.runSums}>
        {sums.map(([name, value, note]) => (
          <div key={name}>
            <dt className="meta">{name}</dt>
            <dd>
              <b>{value}</b>
              <span className="meta">{note}</span>
            </dd>
          </div>
        ))}
      </dl>
    </header>
  )
}
