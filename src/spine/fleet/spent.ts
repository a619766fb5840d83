// What the token ledger says of the runs of a project.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Totals } from '../../briefing/token-report.ts'
import type { Clock } from '../../clock.ts'
import type { Project } from '../../paths.ts'
import type { TokenTotals } from './fleet.ts'

export interface Spent {
  readonly byRun: ReadonlyMap<string, TokenTotals>
  readonly inAll: TokenTotals | null
}

export const NOTHING_SPENT: Spent = { byRun: new Map(), inAll: null }

export async function tokensOf({
  project,
  clock,
}: {
  readonly project: Project
  readonly clock: Clock
}): Promise<Spent> {
  if (!existsSync(join(project.planningDir, 'protocol/ledger.jsonl'))) return NOTHING_SPENT
  // Loaded here: most projects have none, and a prompt waits for the answer.
  const [{ openPlanning }, { readLedger }, { countedRows, totalsBy, totalsOf }] = await Promise.all([
    import('../../briefing/planning.ts'),
    import('../../briefing/token-ledger.ts'),
    import('../../briefing/token-report.ts'),
  ])
  const { rows } = readLedger(openPlanning(project, clock, () => undefined))
  const counted = countedRows(rows)
  const byRun = new Map([...totalsBy(counted, ({ run_id: run }) => run ?? '')].map(([run, own]) => [run, shown(own)]))
  return { byRun, inAll: counted.length === 0 ? null : shown(totalsOf(counted)) }
}

const shown = ({ tokens, cached, measured, declared }: Totals): TokenTotals => ({
  total: tokens,
  cached,
  measured,
  declared,
})
