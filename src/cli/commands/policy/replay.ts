// heimdall policy replay: a recorded run under another policy, and what it would have decided otherwise.
import { EXIT } from '../../../errors.ts'
import { escapeControls } from '../../../ids.ts'
import type { RecordedDecision } from '../../../policy/replay/recorded.ts'
import type { SetAside } from '../../../runs/event-source.ts'
import type { Context, Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { policyReplay } from '../../table/policy.ts'
import { loadSnapshot } from './file.ts'
import { recordedEvents } from './recorded-events.ts'
import type { ReplayRow, ReplayTally } from '../../../policy/replay/tally.ts'
import { replayEvents, replayNotes } from '../../../spine/replay-run.ts'
import { annotationsIn, readTools } from './tools-file.ts'

export const run: Run<typeof policyReplay> = async (context, { args, flags }) => {
  const snapshot = await loadSnapshot(context, args.file)
  const known = {
    annotationsOf: annotationsIn(await readTools(context, flags.tools)),
    arePathsWritten: flags['paths-as-written'] === true,
  }
  const aside: SetAside = { unreadable: 0, newer: 0 }
  const events = recordedEvents(context, flags, aside)
  const shown = flags.all === true ? 'all' : 'different'
  const { tally, runs, undecided } = await replayEvents(events, snapshot, known, shown, aside)
  const { policy_id, version, policy_hash, mode } = snapshot
  const notes = replayNotes(snapshot, tally, known.arePathsWritten)
  const data = {
    policy: { policy_id, policy_version: version, policy_hash, mode },
    runs,
    ...tally.data(),
    set_aside: { ...aside, undecided },
    notes,
  }
  return {
    data,
    text: textOf(context, data.policy, tally, data.set_aside, notes),
    ...(flags['exit-code'] === true && tally.differing > 0 ? { exit: EXIT.failure } : {}),
  }
}

function textOf(
  { style }: Context,
  policy: { readonly policy_id: string; readonly policy_version: string },
  tally: ReplayTally,
  aside: SetAside & { readonly undecided: number },
  notes: readonly string[],
): string {
  const { calls, undecidable, recorded, rows, rows_left_off: left } = tally.data()
  const doubts = Object.entries(undecidable).flatMap(([why, count]) => (count === 0 ? [] : [`${why} ${count}`]))
  const lines = [
    ...(rows.length === 0
      ? []
      : [
          renderTable(
            style,
            HEADER,
            rows.map((row) => cellsOf(row).map(escapeControls)),
          ),
        ]),
    ...(left === 0 ? [] : [`${left} more rows are not shown`]),
    calls.total === 0
      ? 'no call with a decision in it'
      : `${calls.total} calls under ${policy.policy_id} ${policy.policy_version}: ${calls.same} the same, ${calls.stricter} refused now, ${calls.looser} passed now, ${calls.other} by another rule or reason, ${calls.undecidable} undecidable${doubts.length === 0 ? '' : ` (${doubts.join(', ')})`}`,
    ...recorded.map(({ policy_id, policy_version, policy_hash, calls: count, different }) =>
      escapeControls(
        `${count} were decided by ${policy_id} ${policy_version} (${policy_hash.slice(0, 12)}), ${different} of them otherwise`,
      ),
    ),
    ...(aside.unreadable + aside.newer + aside.undecided === 0
      ? []
      : [
          `set aside: ${aside.unreadable} lines that cannot be read, ${aside.newer} of a newer version, ${aside.undecided} calls without a decision`,
        ]),
    ...notes.map((note) => `note: ${note}`),
  ]
  return lines.join('\n')
}

const HEADER = ['CALL', 'SERVER', 'TOOL', 'OUTCOME', 'THEN', 'NOW']

function cellsOf({ seq, server_name, tool_name, outcome, recorded, replayed, why }: ReplayRow): string[] {
  const now = replayed === null ? `? ${why.join(', ')}` : said(replayed)
  return [seq === null ? '-' : String(seq), server_name, tool_name, outcome, said(recorded), now]
}

function said({ action, rule_id, reason_code, enforced }: RecordedDecision): string {
  return `${action} ${rule_id ?? reason_code}${enforced ? '' : ' (not enforced)'}`
}
