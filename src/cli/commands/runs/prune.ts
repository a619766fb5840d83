// heimdall runs prune: removes the records of runs that are too old or take too much room.
import { basename } from 'node:path'
import { loadConfig } from '../../../config.ts'
import { HeimdallError } from '../../../errors.ts'
import { escapeControls } from '../../../ids.ts'
import { pruneRuns } from '../../../runs/prune.ts'
import { retentionOf } from '../../../runs/retention.ts'
import { runsDirOf } from '../../../runs/run-close.ts'
import type { Run } from '../../command.ts'
import { size } from '../../render/size.ts'
import type { runsPrune } from '../../table/runs.ts'

export const run: Run<typeof runsPrune> = async ({ cwd, env, configFile, clock }, { flags }) => {
  const { 'older-than': ageMs, 'keep-mib': mib, 'dry-run': isDry = false } = flags
  if (mib !== undefined && mib < 0) throw new HeimdallError('USAGE', `--keep-mib takes 0 or more, got ${mib}`)
  const keep =
    ageMs === undefined && mib === undefined
      ? retentionOf(await loadConfig({ cwd, env, file: configFile }))
      : { ageMs: ageMs ?? null, bytes: mib === undefined ? null : mib * 2 ** 20 }
  const { removed, problems } = pruneRuns(runsDirOf(env), keep, clock, isDry)
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
