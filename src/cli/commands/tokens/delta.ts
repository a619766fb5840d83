// heimdall tokens delta: what the ledger holds against the baselines, role by role.
import { readBaselines } from '../../../briefing/baselines.ts'
import { readLedger } from '../../../briefing/token-ledger.ts'
import { countedRows, DELTA_HEADER, deltaLine, totalsOf } from '../../../briefing/token-report.ts'
import type { Run } from '../../command.ts'
import type { tokensDelta } from '../../table/briefing.ts'
import { planningOf, runToSum } from '../../planning-of.ts'

export const run: Run<typeof tokensDelta> = async (context, { flags }) => {
  const planning = planningOf(context)
  const baselines = readBaselines(planning)
  const { rows } = readLedger(planning)
  const counted = countedRows(rows, runToSum(context, flags, rows))
  const names = flags.role === undefined ? [...baselines.keys()].sort() : [flags.role]
  const roles = names.map((role) => ({
    role,
    baseline: baselines.get(role) ?? null,
    ...totalsOf(counted.filter((row) => row.role === role)),
  }))
  const declared = roles.filter((entry) => entry.declared > 0 || entry.baseline?.source === 'declared')
  if (declared.length > 0)
    context.note(`note: some figures of ${declared.map(({ role }) => role).join(', ')} were declared, not measured`)
  return {
    data: { roles },
    text: [DELTA_HEADER, ...roles.map(({ role, baseline, tokens }) => deltaLine(role, baseline?.tokens, tokens))].join(
      '\n',
    ),
  }
}
