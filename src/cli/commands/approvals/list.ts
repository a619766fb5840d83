// heimdall approvals list: what agents want to do and a person has to allow.
import { escapeControls } from '../../../ids.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import { settleRuns } from '../../settle-runs.ts'
import type { approvalsList } from '../../table/policy.ts'
import { knownRun } from '../../../runs/known-run.ts'
import { askingFolders, withApprovals } from '../../../runs/open-questions.ts'
import { runsDirOf } from '../../../paths.ts'
import { closeAbandonedRuns } from '../../../runs/run-close.ts'
import { shown } from './answer.ts'

export const run: Run<typeof approvalsList> = async (context, { flags }) => {
  const runsDir = runsDirOf(context.env)
  // Whoever looks at runs ends those that nobody takes part in any more: their questions are nobody's.
  await settleRuns(context)
  closeAbandonedRuns(runsDir, context.clock)
  if (flags.run !== undefined) knownRun(runsDir, flags.run)
  const requests = askingFolders(runsDir)
    .flatMap((folder) => withApprovals(folder, (approvals) => approvals.list()))
    .filter(
      ({ answer, closed_at: closed, run_id: runId }) =>
        (flags.all === true || (answer === null && closed === null)) && (flags.run ?? runId) === runId,
    )
    .sort((a, b) => a.asked_at.localeCompare(b.asked_at))
    .map(shown)
  const rows = requests.map(
    ({
      id,
      agent_id: agent,
      server_name: server,
      tool_name: tool,
      args_preview: args,
      question,
      answer,
      closed_at: closed,
    }) => [
      id,
      answer ?? (closed === null ? 'open' : 'closed'),
      escapeControls(agent),
      escapeControls(`${server}/${tool}`),
      escapeControls(question),
      escapeControls(args),
    ],
  )
  return {
    data: { requests },
    text:
      requests.length === 0
        ? 'Nobody waits for an answer.'
        : renderTable(context.style, ['ID', 'STATE', 'AGENT', 'TOOL', 'QUESTION', 'ARGUMENTS'], rows),
  }
}
