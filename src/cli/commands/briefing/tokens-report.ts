// heimdall tokens report: totals of the ledger per role.
import { readLedger } from '../../../briefing/token-ledger.ts'
import { countedRows, reportLines, totalsBy, totalsOf } from '../../../briefing/token-report.ts'
import type { Run } from '../../command.ts'
import type { tokensReport } from '../../table/briefing.ts'
import { planningOf } from './planning.ts'

export const run: Run<typeof tokensReport> = async (context, { flags }) => {
  const { rows, unreadable } = readLedger(planningOf(context))
  const counted = countedRows(rows, flags.run)
  const total = totalsOf(counted)
  if (unreadable > 0) context.note(`note: ${unreadable} lines of the ledger cannot be read and are not counted`)
  const lines = reportLines(counted)
  // The seed's own command prints the seed's lines and no others.
  if (!context.isSeedName)
    lines.push(
      `  measured ${total.measured}, declared ${total.declared}; cached ${total.cached}, uncached ${total.uncached}`,
    )
  const data = {
    roles: Object.fromEntries(totalsBy(counted, (row) => row.role)),
    runs: Object.fromEntries(totalsBy(counted, (row) => row.run_id ?? '')),
    total,
    unreadable,
  }
  return { data, text: lines.join('\n') }
}
