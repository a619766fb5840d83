// heimdall fact list: the whole blackboard, one row per fact.
import { listFacts } from '../../../briefing/blackboard.ts'
import { row } from '../../../storage/columns.ts'
import type { Run } from '../../command.ts'
import type { factList } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof factList> = async (context) => {
  const facts = listFacts(planningOf(context))
  return {
    data: { facts: facts.map(({ key, value, by = null, ts = null }) => ({ key, value, by, ts })) },
    text: facts.map(({ key, value }) => row(key, value)).join('\n'),
  }
}
