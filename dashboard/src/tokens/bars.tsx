// Stacked bars over time, drawn by uPlot: cached reads below, the rest on top, and a line where money is known.
import 'uplot/dist/uPlot.min.css'
import { type ReactNode, useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { dollars, tokenCount } from '../components/format.ts'
import { useTheme } from '../data/preferences.ts'

export interface Bar {
  readonly atMs: number
  readonly cached: number
  readonly uncached: number
  /** So far, if it is known. */
  readonly cost?: number | null
}

interface BarsProps {
  readonly label: string
  readonly bars: readonly Bar[]
  readonly height: number
  /** `hours`: a bar and its sum for each. Otherwise the axis of what stands above, from the pixel where it begins. */
  readonly along:
    | 'hours'
    | { readonly fromMs: number; readonly toMs: number; readonly leftPx: (width: number) => number }
}

const HOUR_MS = 3_600_000
const RIGHT_PX = 8
const HOUR_LABEL_PX = 56
const FONT = '11px "Inter Variable", sans-serif'
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hour12: false })

const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

export function Bars({ label, bars, height, along }: BarsProps): ReactNode {
  const ground = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  const parts = along === 'hours' ? [0, 0] : [along.fromMs, along.toMs]
  useEffect(() => {
    const element = ground.current
    if (element === null || bars.length === 0) return
    let plot: uPlot | undefined
    let width = 0
    // Created again for another width: the labels of the axis depend on it.
    const sizes = new ResizeObserver(() => {
      if (element.clientWidth === width) return
      width = element.clientWidth
      plot?.destroy()
      plot = new uPlot(options({ bars, height, along, width }), dataOf(bars, along), element)
    })
    sizes.observe(element)
    return () => {
      sizes.disconnect()
      plot?.destroy()
    }
  }, [bars, height, theme, along === 'hours', ...parts])
  const sum = bars.reduce((total, { cached, uncached }) => total + cached + uncached, 0)
  return (
    <div
      className="bars"
      ref={ground}
      style={{ minHeight: height }}
      role="img"
      aria-label={`${label}: ${tokenCount(sum)} tokens in ${bars.length} steps`}
    />
  )
}

/** What was spent stays spent: the line goes on to the end of the axis, where no bar is. */
function dataOf(bars: readonly Bar[], along: BarsProps['along']): uPlot.AlignedData {
  const end = along === 'hours' ? undefined : lastCost(bars)
  const more = end === undefined || along === 'hours' || along.toMs <= end.atMs ? [] : [along.toMs]
  return [
    [...bars.map(({ atMs }) => atMs), ...more].map((atMs) => atMs / 1_000),
    [...bars.map(({ cached, uncached }) => cached + uncached), ...more.map(() => null)],
    [...bars.map(({ cached }) => cached), ...more.map(() => null)],
    [...bars.map(({ cost }) => cost ?? null), ...more.map(() => end?.cost ?? null)],
  ]
}

const lastCost = (bars: readonly Bar[]): Bar | undefined => bars.findLast(({ cost }) => cost != null)

type Plotted = Pick<BarsProps, 'bars' | 'height' | 'along'> & { readonly width: number }

function options({ bars, height, along, width }: Plotted): uPlot.Options {
  const isHours = along === 'hours'
  // An hour stands above its name; a step begins where it begins.
  const paths = uPlot.paths.bars?.({ size: [0.66, 64], align: isHours ? 0 : 1 })
  const axis = { stroke: color('--text3'), ticks: { show: false }, font: FONT }
  const bar = (fill: string): uPlot.Series => ({
    fill,
    stroke: fill,
    width: 0,
    points: { show: false },
    ...(paths !== undefined && { paths }),
  })
  return {
    width,
    height,
    padding: [isHours ? 22 : 12, isHours ? 0 : RIGHT_PX, isHours ? 0 : 8, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: true, range: rangeOf(bars, along) },
      y: { range: (_, __, max) => [0, Math.max(1, isHours ? max : max * 1.1)] },
      cost: { range: (_, __, max) => [0, Math.max(0.01, max * 1.1)] },
    },
    axes: isHours
      ? [{ ...axis, size: 24, gap: 6, grid: { show: false }, ...hourNames(bars, width) }, { show: false }]
      : [
          { show: false },
          {
            ...axis,
            size: along.leftPx(width),
            grid: { stroke: color('--line'), width: 1 },
            values: (_, ticks) => ticks.map(shortCount),
          },
        ],
    series: [
      {},
      bar(color('--work')),
      bar(color('--series2')),
      {
        scale: 'cost',
        stroke: color('--text'),
        width: 1.5,
        points: { show: false },
        show: bars.some(({ cost }) => cost != null),
      },
    ],
    hooks: { draw: [(plot) => finish(plot, bars, isHours)] },
  }
}

/** Whole hours with half of one on either side; six at least, so that one alone is no wall. */
function rangeOf(bars: readonly Bar[], along: BarsProps['along']): [number, number] {
  if (along !== 'hours') return [along.fromMs / 1_000, along.toMs / 1_000]
  const [first, last] = [bars[0]?.atMs ?? 0, bars.at(-1)?.atMs ?? 0]
  const from = Math.min(first, last - 5 * HOUR_MS)
  return [(from - HOUR_MS / 2) / 1_000, (last + HOUR_MS / 2) / 1_000]
}

/** Of as many hours as have room, the last among them. */
function hourNames(bars: readonly Bar[], width: number): Pick<uPlot.Axis, 'splits' | 'values'> {
  const [from, to] = rangeOf(bars, 'hours')
  const hours = Math.round((to - from) / 3_600)
  const every = Math.max(1, Math.ceil((hours * HOUR_LABEL_PX) / Math.max(1, width)))
  const last = bars.at(-1)?.atMs ?? 0
  return {
    splits: () =>
      Array.from(
        { length: Math.floor((hours - 1) / every) + 1 },
        (_, n) => (last - n * every * HOUR_MS) / 1_000,
      ).toReversed(),
    values: (_, times) => times.map((at) => CLOCK.format(at * 1_000)),
  }
}

/** 120 k, 1.5 M: where a figure marks a height and counts nothing. */
const shortCount = (value: number): string =>
  value >= 1e6 ? `${value / 1e6} M` : value >= 1e3 ? `${value / 1e3} k` : String(value)

/** The ground that bars stand on; above hours their sums, at the end of the line what it came to. */
function finish(plot: uPlot, bars: readonly Bar[], isHours: boolean): void {
  const { ctx: pen, bbox } = plot
  const ratio = devicePixelRatio
  pen.save()
  pen.fillStyle = color('--edge')
  pen.fillRect(bbox.left, bbox.top + bbox.height - ratio / 2, bbox.width, ratio)
  const size = (weight: number): string => `${weight} ${FONT.replace('11px', `${11 * ratio}px`)}`
  pen.textBaseline = 'bottom'
  if (isHours) {
    pen.font = size(450)
    pen.fillStyle = color('--text2')
    pen.textAlign = 'center'
    const room = Math.abs(plot.valToPos(HOUR_MS / 1_000, 'x', true) - plot.valToPos(0, 'x', true))
    for (const { atMs, cached, uncached } of bars) {
      const text = tokenCount(cached + uncached)
      if (pen.measureText(text).width < room - 4 * ratio)
        pen.fillText(
          text,
          plot.valToPos(atMs / 1_000, 'x', true),
          plot.valToPos(cached + uncached, 'y', true) - 4 * ratio,
        )
    }
  } else {
    const last = lastCost(bars)
    if (last?.cost != null) {
      pen.font = size(650)
      pen.fillStyle = color('--text')
      pen.textAlign = 'right'
      pen.fillText(dollars(last.cost), bbox.left + bbox.width, plot.valToPos(last.cost, 'cost', true) - 3 * ratio)
    }
  }
  pen.restore()
}
