// heimdall approvals list: what agents want to do and a person has to allow.
import { escapeControls } from '../../../ids.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { approvalsList } from '../../table/policy.ts'
import { askingRuns, shown, withApprovals } from './stores.ts'

export const run: Run<typeof approvalsList> = async (context, { flags }) => {
  const requests = askingRuns(context)
    .flatMap((folder) => withApprovals(folder, (approvals) => approvals.list()))
    .filter(({ answer, run_id: runId }) => (flags.all === true || answer === null) && (flags.run ?? runId) === runId)
    .sort((a, b) => a.asked_at.localeCompare(b.asked_at))
    .map(shown)
  const rows = requests.map(
    ({ id, agent_id: agent, server_name: server, tool_name: tool, args_preview: args, question, answer }) => [
      id,
      answer ?? 'open',
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
