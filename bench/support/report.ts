// What a person sees of a comparison.
import type { ComparisonResult, PeerResult, SideResult } from './bench.ts'

/** One line per side: median, the middle half of the samples, ratio to ours, and whether the goal was met. */
export function comparisonText({ what, unit, rounds, ours, peers }: ComparisonResult): string {
  const rows = [row(ours), ...peers.map((peer) => [...row(peer), ratioText(peer)])]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  const lines = rows.map((cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  )
  return [`  ${what} (${unit}, ${rounds} rounds: median, middle half)`, ...lines.map((line) => `    ${line}`)].join(
    '\n',
  )
}

/** Whose work a figure was taken beside: the averages of one and five minutes. */
export function loadText(before: readonly number[], after: readonly number[]): string {
  const text = (load: readonly number[]): string =>
    load
      .slice(0, 2)
      .map((value) => value.toFixed(1))
      .join(', ')
  return `load average ${text(before)} before, ${text(after)} after`
}

function row({ name, summary }: SideResult): string[] {
  return [name, figure(summary.median), `${figure(summary.lowerQuartile)}–${figure(summary.upperQuartile)}`]
}

function ratioText({ ratio, goal, passed }: PeerResult): string {
  const text = `ours/peer ${ratio.toFixed(2)}`
  return goal === null ? text : `${text}, goal ${goal}: ${passed ? 'met' : 'MISSED'}`
}

function figure(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return value.toPrecision(3)
}
