// heimdall runs list: runs of this user, those that changed last first.
import { HeimdallError } from '../../../errors.ts'
import { escapeControls } from '../../../ids.ts'
import { closeAbandonedRuns, runsDirOf } from '../../../runs/run-close.ts'
import { factsOf, runFolders } from '../../../runs/run-facts.ts'
import type { Run } from '../../command.ts'
import { size } from '../../render/size.ts'
import { renderTable } from '../../render/style.ts'
import type { runsList } from '../../table/runs.ts'

export const run: Run<typeof runsList> = async ({ env, clock, style }, { flags }) => {
  const runsDir = runsDirOf(env)
  if (flags.limit < 0) throw new HeimdallError('USAGE', `--limit takes 0 or more, got ${flags.limit}`)
  closeAbandonedRuns(runsDir, clock)
  const folders = runFolders(runsDir)
  const most = flags.limit === 0 ? Infinity : flags.limit
  const runs = []
  for (const folder of folders) {
    if (runs.length >= most) break
    const facts = factsOf(folder)
    if (flags.open !== true || facts.state === 'open') runs.push(facts)
  }
  const rows = runs.map(({ run_id, folder, state, status, agent_id, started_at, calls, bytes }) => [
    escapeControls(run_id ?? folder),
    state === 'open' ? 'open' : status,
    escapeControls(agent_id ?? '-'),
    started_at ?? '-',
    String(calls.total),
    String(calls.blocked + calls.throttled),
    size(bytes),
  ])
  return {
    data: { runs, total: folders.length },
    text:
      rows.length === 0
        ? 'No runs.'
        : renderTable(style, ['RUN', 'STATE', 'AGENT', 'STARTED', 'CALLS', 'REFUSED', 'SIZE'], rows),
  }
}
