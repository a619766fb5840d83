// heimdall capsule deps: the ids that hydrating a capsule would print, dependencies first.
import { readClosure } from '../../../briefing/capsules.ts'
import type { Run } from '../../command.ts'
import type { capsuleDeps } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof capsuleDeps> = async (context, { args }) => {
  const ids = readClosure(planningOf(context), args.ids).map(({ id }) => id)
  return { data: { closure: ids }, text: ids.join('\n') }
}
