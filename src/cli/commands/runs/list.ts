// heimdall runs list: runs of this user, those that changed last first.
import { HeimdallError } from '../../../errors.ts'
import { escapeControls } from '../../../ids.ts'
import { runsDirOf } from '../../../paths.ts'
import { factsOf } from '../../../runs/run-facts.ts'
import { runFolders } from '../../../runs/run-folder.ts'
import type { Run } from '../../command.ts'
import { size } from '../../render/size.ts'
import { renderTable } from '../../render/style.ts'
import type { runsList } from '../../table/runs.ts'

export const run: Run<typeof runsList> = async ({ env, style, json, note }, { flags }) => {
  const runsDir = runsDirOf(env)
  if (flags.limit < 0) throw new HeimdallError('USAGE', `--limit takes 0 or more, got ${flags.limit}`)
  const { runs: folders, foreign } = runFolders(runsDir)
  const most = flags.limit === 0 ? Infinity : flags.limit
  const runs = []
  for (const folder of folders) {
    if (runs.length >= most) break
    const facts = factsOf(folder)
    if (flags.open !== true || facts.state === 'open') runs.push(facts)
  }
  const rows = runs.map(({ run_id, folder, state, status, agent_id, started_at, calls, bytes }) => [
    escapeControls(run_id ?? folder),
    state === 'ended' ? status : state,
    escapeControls(agent_id ?? '-'),
    started_at ?? '-',
    String(calls.total),
    String(calls.blocked + calls.throttled),
    size(bytes),
  ])
  const table =
    rows.length === 0
      ? 'No runs.'
      : renderTable(style, ['RUN', 'STATE', 'AGENT', 'STARTED', 'CALLS', 'REFUSED', 'SIZE'], rows)
  // Not among the rows, which programs read.
  if (!json)
    for (const { name, why } of foreign) note(`foreign, left alone: ${escapeControls(name)} (${escapeControls(why)})`)
  return { data: { runs, total: folders.length, foreign }, text: table }
}
