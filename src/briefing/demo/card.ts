// What the demo prints: the seed's four lines, then what a fair reader asks next.
import { changeText } from '../token-report.ts'
import type { Demo } from './three-briefings.ts'
import { breakEven, CACHE_READ, CACHE_WRITE, cachedCost, rawCost, type Spend } from './pricing.ts'

export function demoLines(demo: Demo): string[] {
  const { baseline, byHand, tokens, spawns, fidelity } = demo
  const change = changeText(baseline, tokens)
  const thousands = `${Math.round(baseline / 1_000)}k`
  const kinds = ['symbol_table', 'delta_brief', 'task_result'].map((kind) =>
    demo.rows.filter((row) => row.kind === kind),
  )
  const list = (rows: Demo['rows']): string => rows.map((row) => row.tokens).join(' + ')
  return [
    `v1 orchestration (briefing ${spawns} spawns, verbatim): ${baseline} tokens (baseline)`,
    `v2 orchestration (symbol table + ${spawns} delta briefs + ${spawns} typed results): ${tokens} tokens`,
    `measured delta: orchestration: ${baseline} -> ${tokens} tokens (${change})`,
    `The summary-card line: orchestration: ${thousands} → ${tokens} tokens, measured.`,
    'That is against verbatim briefs: the whole plan for every spawn. Against briefs that a careful person writes by hand',
    `(own section, own criteria, invariants, reports of earlier waves): ${byHand.tokens} -> ${tokens} tokens (${changeText(byHand.tokens, tokens)})`,
    '',
    `counted with ${demo.tokenizer}: symbol table ${list(kinds[0] ?? [])}, briefs ${list(kinds[1] ?? [])}, results ${list(kinds[2] ?? [])}`,
    `with prompt caching priced in for all (write ${CACHE_WRITE}, read ${CACHE_READ}), in input-token equivalents:`,
    ...[spawns, 10].flatMap((count) => [
      cachedLine('verbatim', demo.verbatim, demo.protocol, count),
      cachedLine('by hand', byHand, demo.protocol, count),
    ]),
    breakEvenLine('verbatim', demo.verbatim, demo.protocol),
    breakEvenLine('by hand', byHand, demo.protocol),
    `not counted above: the capsules and facts that earlier waves wrote, ${demo.before} tokens once`,
    `with every reference opened by every spawn: ${demo.opened.tokens} tokens (${changeText(baseline, demo.opened.tokens)})`,
    cachedLine('by hand', byHand, demo.opened, spawns),
    breakEvenLine('by hand', byHand, demo.opened),
    `fidelity: ${reachable(fidelity)} facts that the tasks' acceptance needs are reachable (${fidelity.inBrief} in the brief, ${fidelity.oneReferenceAway} one reference away); by hand ${reachable(byHand.fidelity)}`,
    ...fidelity.lost.map(({ task, source, fact }) => `  lost: ${task}, ${source}: ${fact}`),
  ]
}

function reachable({ inBrief, oneReferenceAway, lost }: Demo['fidelity']): string {
  const found = inBrief + oneReferenceAway
  return `${found} of ${found + lost.length}`
}

function cachedLine(name: string, theirs: Spend, ours: Spend, spawns: number): string {
  const [before, after] = [theirs, ours].map((spend) => Math.round(cachedCost(spend, spawns))) as [number, number]
  const raw = [theirs, ours].map((spend) => Math.round(rawCost(spend, spawns))).join(' -> ')
  return `  ${spawns} spawns, ${name}: ${before} -> ${after} (${changeText(before, after)}); uncached ${raw}`
}

function breakEvenLine(name: string, theirs: Spend, ours: Spend): string {
  const { from, upTo } = breakEven(ours, theirs)
  if (from === undefined) return `break-even: never ahead of cached ${name}`
  const end = Number.isFinite(upTo) ? `up to ${upTo} spawns of one wave` : 'with no upper end'
  return `break-even: ahead of cached ${name} from ${from} ${from === 1 ? 'spawn' : 'spawns'} on, ${end}`
}
