// Stacked bars over time, drawn by uPlot: cached reads below, the rest on top, and a line where money is known.
import 'uplot/dist/uPlot.min.css'
import { type ReactNode, useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { tokenCount } from '../parts/format.ts'
import { useShownTheme } from '../shell/taste.ts'

export interface Bar {
  readonly atMs: number
  readonly cached: number
  readonly uncached: number
  /** So far, if it is known. */
  readonly cost?: number | null
}

const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

interface BarsProps {
  readonly label: string
  readonly bars: readonly Bar[]
  readonly height: number
  readonly range?: readonly [number, number]
}

export function Bars({ label, bars, height, range }: BarsProps): ReactNode {
  const ground = useRef<HTMLDivElement>(null)
  const theme = useShownTheme()
  useEffect(() => {
    const element = ground.current
    if (element === null || bars.length === 0) return
    const plot = new uPlot(options(element.clientWidth, height, range, bars), dataOf(bars), element)
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    sizes.observe(element)
    return () => {
      sizes.disconnect()
      plot.destroy()
    }
  }, [bars, height, range, theme])
  const sum = bars.reduce((total, { cached, uncached }) => total + cached + uncached, 0)
  return (
    <div
      className="bars"
      ref={ground}
      role="img"
      aria-label={`${label}: ${tokenCount(sum)} tokens in ${bars.length} steps`}
    />
  )
}

function dataOf(bars: readonly Bar[]): uPlot.AlignedData {
  return [
    bars.map(({ atMs }) => atMs / 1_000),
    bars.map(({ cached, uncached }) => cached + uncached),
    bars.map(({ cached }) => cached),
    bars.map(({ cost }) => cost ?? null),
  ]
}

function options(width: number, height: number, range: BarsProps['range'], bars: readonly Bar[]): uPlot.Options {
  const paths = uPlot.paths.bars?.({ size: [0.72, 60], align: 0 })
  const axis = {
    stroke: color('--text3'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '11px Inter Variable',
  }
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
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: range === undefined ? { time: true } : { time: true, range: [range[0] / 1_000, range[1] / 1_000] },
      y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] },
      cost: { range: (_, __, max) => [0, Math.max(0.01, max * 1.1)] },
    },
    axes: [axis, { ...axis, size: 64, values: (_, ticks) => ticks.map(tokenCount) }],
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
  }
}
