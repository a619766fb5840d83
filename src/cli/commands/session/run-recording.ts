// The recording that `heimdall run` has made of a session: it lies with the run, which may have been one of many under this id.
import { join } from 'node:path'
import { identityIn } from '../../../runs/run-facts.ts'
import { runFolders } from '../../../runs/run-folder.ts'
import { readFileIfThere } from '../../../storage/atomic-file.ts'
import { type Cast, parseCast } from './cast.ts'
import type { Located } from './locate.ts'

/** An id means one session at a time: what was recorded under it while this one lived is of this one. */
export function runRecording(runsDir: string, { id, isRunning, holder, exit }: Located): Cast | undefined {
  const startedMs = isRunning || exit === undefined ? holder?.startedAtMs : Date.parse(exit.started_at)
  if (startedMs === undefined) return undefined
  const endedMs = isRunning || exit === undefined ? Number.POSITIVE_INFINITY : Date.parse(exit.ended_at)
  for (const { runDir, changedMs } of runFolders(runsDir).runs) {
    // The last that changed come first: none of the others can be of it.
    if (changedMs < startedMs) return undefined
    if (identityIn(runDir)?.session_id !== id) continue
    const path = join(runDir, 'terminal.cast')
    const bytes = readFileIfThere(path)
    if (bytes === undefined) continue
    const cast = parseCast(bytes.toString('utf8'), path)
    // In whole seconds, rounded down.
    const recordedMs = Number(cast.header['timestamp']) * 1_000
    if (recordedMs > startedMs - 1_000 && recordedMs <= endedMs) return cast
  }
  return undefined
}
