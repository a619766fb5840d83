// heimdall dispatch explain: which worker would get a task, and why each would or would not.
import { needsOf } from '../../../dispatch/needs.ts'
import type { Route } from '../../../dispatch/routing.ts'
import { explainNeeds, explainTask } from '../../../dispatch/tasks.ts'
import type { Run } from '../../command.ts'
import { withRoomToRead } from '../../coordination-door.ts'
import { renderTable } from '../../render/style.ts'
import type { dispatchExplain } from '../../table/dispatch.ts'
import { requirementsFrom } from './requirements.ts'

const NOBODY: Route = { chosen: undefined, verdicts: [] }

export const run: Run<typeof dispatchExplain> = (context, { args, flags }) => {
  const answer = ({ chosen, verdicts }: Route) => {
    const rows = verdicts.map(({ workerId, lacks, score }) => [
      workerId === chosen ? `* ${workerId}` : `  ${workerId}`,
      score === null
        ? lacks.map(({ text }) => text).join('; ')
        : `can: tier ${score[0]}, ${score[1] === 0 ? 'near' : 'far'}, load ${score[2].toFixed(2)}`,
    ])
    return {
      data: {
        chosen: chosen ?? null,
        workers: verdicts.map(({ workerId, lacks, score }) => ({ worker: workerId, lacks, score })),
      },
      text: rows.length === 0 ? 'no worker is known' : renderTable(context.style, ['  WORKER', 'WHY'], rows),
    }
  }
  return withRoomToRead(
    context,
    (room) => {
      if (args.task !== undefined) return answer(explainTask(room, args.task))
      const needs = needsOf(
        { requirements: requirementsFrom(flags) },
        { briefTokens: 1, not: [], only: flags.worker ?? null },
      )
      return answer(explainNeeds(room, needs, flags.scope))
    },
    () => answer(NOBODY),
  )
}
