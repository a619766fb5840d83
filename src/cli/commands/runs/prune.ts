// heimdall runs prune: removes the records of runs that are too old or take too much room.
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import type { Clock } from '../../../clock.ts'
import { loadConfig } from '../../../config.ts'
import { HeimdallError } from '../../../errors.ts'
import { escapeControls } from '../../../ids.ts'
import { refuseAgent } from '../../../person.ts'
import { pruneRuns } from '../../../runs/prune.ts'
import { retentionOf } from '../../../runs/retention.ts'
import { runsDirOf } from '../../../paths.ts'
import type { Run } from '../../command.ts'
import { size } from '../../render/size.ts'
import type { runsPrune } from '../../table/runs.ts'

/** Rows of runs that are gone go with them; where another process is indexing, it sees to that. */
async function forgetInIndex(runsDir: string, clock: Clock): Promise<string[]> {
  const { indexPath } = await import('../../../runs/index/run-index.ts')
  if (!existsSync(indexPath(runsDir))) return []
  const { catchUp } = await import('../../../runs/index/catch-up.ts')
  try {
    await catchUp({ runsDir, clock, note: () => undefined, forMs: 0 })
    return []
  } catch (error) {
    // The records are gone, and that was asked for; the next question takes their rows out.
    if (!(error instanceof HeimdallError)) throw error
    return [`the run index still knows them: ${error.message}`]
  }
}

export const run: Run<typeof runsPrune> = async ({ cwd, env, configFile, clock }, { flags }) => {
  if (flags['dry-run'] !== true) refuseAgent('removing records of runs')
  const { 'older-than': ageMs, 'keep-mib': mib, 'dry-run': isDry = false } = flags
  // As a setting 0 is no bound, and as a bound it would leave nothing: nobody is to lose all by the wrong guess.
  if (mib !== undefined && mib < 1)
    throw new HeimdallError('USAGE', `--keep-mib takes 1 or more, got ${mib}`, {
      hint: 'leave it out for no bound; --older-than 0s removes all runs that have ended',
    })
  const keep =
    ageMs === undefined && mib === undefined
      ? retentionOf(await loadConfig({ cwd, env, file: configFile }))
      : { ageMs: ageMs ?? null, bytes: mib === undefined ? null : mib * 2 ** 20 }
  const runsDir = runsDirOf(env)
  const { removed, problems: inTheWay } = pruneRuns(runsDir, keep, clock, isDry)
  const problems = isDry || removed.length === 0 ? inTheWay : [...inTheWay, ...(await forgetInIndex(runsDir, clock))]
  const bytes = removed.reduce((sum, one) => sum + one.bytes, 0)
  const word = isDry ? 'Would remove' : 'Removed'
  return {
    data: {
      removed: removed.map((one) => ({
        folder: basename(one.runDir),
        changed_at: new Date(one.changedMs).toISOString(),
        bytes: one.bytes,
      })),
      bytes,
      problems,
      dry_run: isDry,
    },
    text: [
      ...(isDry ? removed.map(({ runDir }) => escapeControls(basename(runDir))) : []),
      `${word} ${removed.length} ${removed.length === 1 ? 'run' : 'runs'}, ${size(bytes)}.`,
      ...problems,
    ].join('\n'),
  }
}
