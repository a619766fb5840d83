// The costs of a run that is kept: where its messages are looked for, whose they are, and that they are booked in its record and on its sheet.
import type { Clock } from '../../clock.ts'
import type { ProcessRef } from '../../coordination/who/process-ref.ts'
import type { Env } from '../../paths.ts'
import { readStat } from '../../processes.ts'
import type { KeptRecord } from '../../runs/kept-record.ts'
import { bookedUsage } from '../../runs/run-cost.ts'
import type { KeptSheet } from '../kept-sheet.ts'
import { openRuns } from '../open-runs.ts'
import { treeOf } from '../run-tree.ts'
import { CostWatch } from './cost-watch.ts'
import { heardSessions } from './run-transcripts.ts'

export interface RunCostsParts {
  readonly sheet: KeptSheet
  readonly record: KeptRecord
  /** What all of the session descends from; nothing while it is not known. */
  readonly child: () => ProcessRef | undefined
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
}

export function watchCosts({ sheet, record, child, env, clock, note }: RunCostsParts): CostWatch {
  return new CostWatch({
    run: sheet.run,
    booked: bookedUsage(sheet.runDir),
    book: (usage) => record.modelUsage(usage),
    onChange: (cost, hostSessions) => sheet.put({ cost, hostSessions }),
    heard() {
      const root = child()
      return root === undefined ? [] : heardSessions(sheet.run.project, root)
    },
    others: () =>
      openRuns(sheet.runsDir).flatMap(({ run, isLost }) => (isLost || run.folder === sheet.run.folder ? [] : [run])),
    isMember: (pid) =>
      readStat(pid) === undefined
        ? undefined
        : treeOf(sheet.run)
            ?.members()
            .some((one) => one.pid === pid) === true,
    env,
    clock,
    note,
  })
}
