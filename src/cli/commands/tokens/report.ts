// heimdall tokens report: totals of the ledger per role.
import { readLedger } from '../../../briefing/token-ledger.ts'
import { countedRows, reportLines, spanOf, totalsBy, totalsOf } from '../../../briefing/token-report.ts'
import type { Run } from '../../command.ts'
import type { tokensReport } from '../../table/briefing.ts'
import { planningOf, runIdOf, runToSum } from '../../planning-of.ts'

export const run: Run<typeof tokensReport> = async (context, { flags }) => {
  const { rows, unreadable } = readLedger(planningOf(context))
  const run = runToSum(context, flags, rows)
  const counted = countedRows(rows, run)
  const span = spanOf(counted)
  const total = totalsOf(counted)
  if (unreadable > 0) context.note(`note: ${unreadable} lines of the ledger cannot be read and are not counted`)
  const over = run === undefined ? 'all runs' : run === runIdOf(context) ? 'this run' : `run ${run}`
  const lines = reportLines(counted, over)
  // The seed's own command prints the seed's lines and no others.
  if (!context.isSeedName)
    lines.push(
      `  measured ${total.measured}, declared ${total.declared}; cached ${total.cached}, uncached ${total.uncached}`,
      span.from === null
        ? '  over no rows'
        : `  over ${span.rows} rows of ${span.runs} runs, ${span.from} to ${span.to}`,
    )
  const data = {
    roles: Object.fromEntries(totalsBy(counted, (row) => row.role)),
    runs: Object.fromEntries(totalsBy(counted, (row) => row.run_id ?? '')),
    total,
    over: { run: run ?? null, ...span },
    unreadable,
  }
  return { data, text: lines.join('\n') }
}
