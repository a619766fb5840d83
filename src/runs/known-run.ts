// The run that somebody means by an id, or a refusal that says what there is.
import { basename } from 'node:path'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { didYouMean } from '../suggest.ts'
import { findRun, type RunFolder, runFolders } from './run-folder.ts'

export function knownRun(runsDir: string, runId: string): RunFolder {
  const found = findRun(runsDir, runId)
  if (found === undefined || 'why' in found) throw runNotFound(runsDir, runId, found?.why)
  return found
}

function runNotFound(runsDir: string, runId: string, why: string | undefined): HeimdallError {
  const ids = runFolders(runsDir).runs.map(({ runDir }) => basename(runDir))
  const foreign = why === undefined ? '' : `; what lies there is foreign: ${printable(why)}`
  return new HeimdallError('RUN_NOT_FOUND', `no run has the id ${printable(runId)}${foreign}`, {
    hint: didYouMean(runId, ids, 'heimdall runs list shows those that are there'),
  })
}
