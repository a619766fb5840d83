// The demo: one wave briefed three times, every figure counted from the texts, and the delta computed by the ledger.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureBaseline, readBaselines } from '../baselines.ts'
import { type Planning, planningAt } from '../planning.ts'
import { type LedgerRow, logText, readLedger } from '../token-ledger.ts'
import { countedRows, totalsOf } from '../token-report.ts'
import { measure, type Measured, sumMeasured } from '../tokens.ts'
import { type Arm, byHandArm, protocolArm, verbatimArm } from './arms.ts'
import { type Corpus, loadCorpus } from './corpus.ts'
import { checkFidelity, type Fidelity } from './fidelity.ts'
import type { Spend } from './pricing.ts'

export const ROLE = 'orchestration'

export interface Demo {
  readonly tokenizer: string
  readonly spawns: number
  /** Totals of the ledger and its baseline. */
  readonly baseline: number
  readonly tokens: number
  readonly rows: readonly LedgerRow[]
  readonly verbatim: Spend
  /** The brief that a careful person writes: what it costs, and what it leaves out. */
  readonly byHand: Spend & { readonly tokens: number; readonly fidelity: Fidelity }
  readonly protocol: Spend
  /** Capsules and facts that earlier waves wrote, once for all later ones. */
  readonly before: number
  /** The same if every spawn also opens every reference of its brief: the invariants, and ids that capsules mention. */
  readonly opened: Spend & { readonly tokens: number }
  readonly fidelity: Fidelity
  readonly arms: { readonly verbatim: Arm; readonly byHand: Arm; readonly protocol: Arm }
}

/** Works in a planning folder of its own, so that the ledger of the project is not touched. */
export async function runDemo(clock: Planning['clock'], corpus: Corpus = loadCorpus()): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'heimdall-demo-'))
  const planning = planningAt({ dir: join(folder, '.planning'), clock, note: () => {} }, [corpus.dir])
  try {
    return await measureArms(planning, corpus)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureArms(planning: Planning, corpus: Corpus): Promise<Demo> {
  const verbatim = verbatimArm(corpus)
  const byHand = byHandArm(corpus)
  const protocol = await protocolArm(planning, corpus)
  await measureVerbatim(planning, corpus)
  await logText(planning, { role: ROLE, kind: 'symbol_table', msgId: 'symbols' }, protocol.once)
  for (const { task, text, prefix } of protocol.briefs)
    await logText(
      planning,
      { role: ROLE, kind: 'delta_brief', msgId: `b-${task}` },
      text,
      prefix === undefined ? {} : { prefix },
    )
  for (const [index, text] of protocol.results.entries())
    await logText(planning, { role: ROLE, kind: 'task_result', msgId: `r-${index}` }, text)
  const rows = countedRows(readLedger(planning).rows)
  const tokens = totalsOf(rows).tokens
  return {
    tokenizer: rows[0]?.tokenizer ?? '',
    spawns: corpus.wave.tasks.length,
    baseline: readBaselines(planning).get(ROLE)?.tokens ?? 0,
    tokens,
    rows,
    verbatim: spendOf(verbatim),
    byHand: {
      ...spendOf(byHand),
      tokens: byHand.briefs.reduce((sum, { text }) => sum + measure(text).tokens, 0),
      fidelity: checkFidelity(corpus, byHand),
    },
    protocol: spendOf(protocol),
    before: measure(protocol.before).tokens,
    opened: openedSpend(protocol, tokens),
    fidelity: checkFidelity(corpus, protocol),
    arms: { verbatim, byHand, protocol },
  }
}

/** The number to beat: the same wave with everything in every brief. */
export async function measureVerbatim(planning: Planning, corpus: Corpus): Promise<void> {
  await measureBaseline(planning, ROLE, sumOf(verbatimArm(corpus).briefs.map(({ text }) => measure(text))))
}

function sumOf(parts: readonly Measured[]): Measured {
  const [first = measure(''), ...rest] = parts
  return sumMeasured([first, ...rest])
}

function spendOf({ briefs, once, results }: Arm): Spend {
  const shared = measure(commonPrefix(briefs.map(({ text }) => text))).tokens
  const sent = briefs.reduce((sum, { text }) => sum + measure(text).tokens, 0)
  const answered = results.reduce((sum, text) => sum + measure(text).tokens, 0)
  return { shared, own: (sent + answered) / briefs.length - shared, once: measure(once).tokens }
}

function openedSpend(arm: Arm, tokens: number): Demo['opened'] {
  const read = arm.briefs.reduce((sum, { references = '' }) => sum + measure(references).tokens, 0)
  const spend = spendOf(arm)
  return { ...spend, own: spend.own + read / arm.briefs.length, tokens: tokens + read }
}

export function commonPrefix(texts: readonly string[]): string {
  const [first = '', ...others] = texts
  let length = first.length
  for (const text of others) {
    let same = 0
    while (same < length && text[same] === first[same]) same += 1
    length = same
  }
  return first.slice(0, length)
}
