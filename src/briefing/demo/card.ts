// What the demo prints: the seed's four lines, then what a fair reader asks next.
import { changeText } from '../token-report.ts'
import type { Demo } from './demo.ts'
import { breakEven, CACHE_READ, CACHE_WRITE, cachedCost, rawCost } from './pricing.ts'

export function demoLines(demo: Demo): string[] {
  const { baseline, tokens, spawns, fidelity } = demo
  const change = changeText(baseline, tokens)
  const thousands = `${Math.round(baseline / 1_000)}k`
  const kinds = ['symbol_table', 'delta_brief', 'task_result'].map((kind) =>
    demo.rows.filter((row) => row.kind === kind),
  )
  const list = (rows: Demo['rows']): string => rows.map((row) => row.tokens).join(' + ')
  const facts = fidelity.inBrief + fidelity.oneReferenceAway + fidelity.lost.length
  return [
    `v1 orchestration (briefing ${spawns} spawns, verbatim): ${baseline} tokens (baseline)`,
    `v2 orchestration (symbol table + ${spawns} delta briefs + ${spawns} typed results): ${tokens} tokens`,
    `measured delta: orchestration: ${baseline} -> ${tokens} tokens (${change})`,
    `The summary-card line: orchestration: ${thousands} → ${tokens} tokens, measured.`,
    '',
    `counted with ${demo.tokenizer}: symbol table ${list(kinds[0] ?? [])}, briefs ${list(kinds[1] ?? [])}, results ${list(kinds[2] ?? [])}`,
    `with prompt caching priced in for both (write ${CACHE_WRITE}, read ${CACHE_READ}), in input-token equivalents:`,
    ...[spawns, 10].map((count) => cachedLine(demo, count)),
    breakEvenLine(demo),
    `not counted above: the capsules and facts that earlier waves wrote, ${demo.before} tokens once`,
    `with every reference opened by every spawn: ${demo.opened} tokens (${changeText(baseline, demo.opened)})`,
    `fidelity: ${fidelity.inBrief + fidelity.oneReferenceAway} of ${facts} facts that the tasks need are reachable (${fidelity.inBrief} in the brief, ${fidelity.oneReferenceAway} one reference away)`,
    ...fidelity.lost.map((fact) => `  lost: ${fact}`),
  ]
}

function cachedLine({ verbatim, protocol }: Demo, spawns: number): string {
  const theirs = Math.round(cachedCost(verbatim, spawns))
  const ours = Math.round(cachedCost(protocol, spawns))
  return `  ${spawns} spawns: ${theirs} -> ${ours} (${changeText(theirs, ours)}); uncached ${Math.round(rawCost(verbatim, spawns))} -> ${Math.round(rawCost(protocol, spawns))}`
}

function breakEvenLine({ verbatim, protocol }: Demo): string {
  const { from, upTo } = breakEven(protocol, verbatim)
  if (from === undefined) return 'break-even: never ahead of cached verbatim'
  const end = Number.isFinite(upTo) ? `up to ${upTo} spawns of one wave` : 'with no upper end'
  return `break-even: ahead of cached verbatim from ${from} ${from === 1 ? 'spawn' : 'spawns'} on, ${end}`
}
