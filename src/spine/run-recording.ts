// Finds the recording that a run made of its session.
import { join } from 'node:path'
import { identityIn } from '../runs/run-facts.ts'
import { runFolders } from '../runs/run-folder.ts'
import { type Cast, parseCast } from '../sessions/cast.ts'
import type { Located } from '../sessions/locate.ts'
import { readFileIfThere } from '../storage/atomic-file.ts'

/** Several runs may have had this id, one after the other: the recording must be from this session’s lifetime. */
export function runRecording(runsDir: string, { id, isRunning, holder, exit }: Located): Cast | undefined {
  const startedMs = isRunning || exit === undefined ? holder?.startedAtMs : Date.parse(exit.started_at)
  if (startedMs === undefined) return undefined
  const endedMs = isRunning || exit === undefined ? Number.POSITIVE_INFINITY : Date.parse(exit.ended_at)
  for (const { runDir, changedMs } of runFolders(runsDir).runs) {
    // Most recently changed first: the rest is older than the session.
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
