// What can be done with a run that is on record: its terminal played again, and its calls decided by another policy.
import { basename, join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { HUB_CAST_BYTES_MAX, HUB_ROWS_MAX } from '../../limits.ts'
import { compileBundle } from '../../policy/bundle/compile.ts'
import type { RecordedDecision } from '../../policy/replay/recorded.ts'
import type { Snapshot } from '../../policy/types.ts'
import { eventsOfRecord, type SetAside } from '../../runs/event-source.ts'
import { objectIn, textIn } from '../../runs/index/call-facts.ts'
import { findRun, type RunFolder, runFolders } from '../../runs/run-folder.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { replayEvents, replayNotes } from '../../spine/replay-run.ts'
import type { ReplayReply } from '../contract.ts'
import { firstEvent } from '../../runs/run-project.ts'
import type { RunsOfProject } from './run-project.ts'

export function folderOf(runsDir: string, runId: string): RunFolder {
  const folder = findRun(runsDir, runId)
  if (folder === undefined || 'why' in folder)
    throw new HeimdallError('RUN_NOT_FOUND', 'no run of this id is on record', { hint: 'heimdall runs list' })
  return folder
}

export interface RunBeginning {
  readonly runId: string
  readonly startedAt: string | null
  /** Where it worked, and the commit that this stood at. */
  readonly cwd: string | null
  readonly commit: string | null
}

/** As it was noted when the run began. */
function beginningIn(runDir: string): (RunBeginning & { readonly agent: string | null }) | undefined {
  const event = firstEvent(runDir)
  const run = objectIn(event, 'run')
  const meta = objectIn(run, 'meta')
  const runId = textIn(event, 'run_id')
  if (runId === null) return undefined
  const [startedAt, cwd, commit] = [textIn(run, 'started_at'), textIn(meta, 'cwd'), textIn(meta, 'commit')]
  return { runId, agent: textIn(event, 'agent_id'), startedAt, cwd, commit }
}

/** The run of that id; of an agent that is over, which has none, the last that it had. */
export function beginningOf(
  runsDir: string,
  runs: RunsOfProject,
  agent: string,
  runId: string | null,
): RunBeginning | undefined {
  if (runId !== null) {
    const folder = findRun(runsDir, runId)
    return folder === undefined || 'why' in folder ? undefined : beginningIn(folder.runDir)
  }
  for (const { runDir } of runFolders(runsDir).runs.slice(0, HUB_ROWS_MAX)) {
    const begun = runs.has(basename(runDir)) ? beginningIn(runDir) : undefined
    if (begun?.agent === agent) return begun
  }
  return undefined
}

/** The asciicast that `heimdall run` has written; of a long one the end, which is what was seen last. */
export function recordingOf(runsDir: string, runId: string): string {
  const bytes = readFileIfThere(join(folderOf(runsDir, runId).runDir, 'terminal.cast'))
  if (bytes === undefined)
    throw new HeimdallError('CAST_INVALID', 'the terminal of this run was not recorded', {
      hint: 'heimdall run records unless it is told --no-record',
    })
  if (bytes.length <= HUB_CAST_BYTES_MAX) return bytes.toString('utf8')
  const header = bytes.subarray(0, bytes.indexOf(10) + 1)
  const tail = bytes.subarray(bytes.length - HUB_CAST_BYTES_MAX)
  return header.toString('utf8') + tail.subarray(tail.indexOf(10) + 1).toString('utf8')
}

/** It came without a file, which the usual hint would name. */
async function compilePasted(policy: string): Promise<Snapshot> {
  try {
    return await compileBundle(policy, { name: 'the policy' })
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    const { code, message, details } = error
    throw new HeimdallError(code, message, {
      hint: 'save it as a file, then: heimdall policy lint FILE',
      ...(details !== undefined && { details }),
      cause: error,
    })
  }
}

export async function replayed(runsDir: string, runId: string, policy: string): Promise<ReplayReply> {
  const snapshot = await compilePasted(policy)
  const aside: SetAside = { unreadable: 0, newer: 0 }
  const events = eventsOfRecord(folderOf(runsDir, runId).runDir, aside)
  const known = { annotationsOf: () => undefined, arePathsWritten: false }
  const { tally } = await replayEvents(events, snapshot, known, 'different', aside)
  const { calls, rows, rows_left_off: left } = tally.data()
  const shown = rows.slice(0, HUB_ROWS_MAX)
  return {
    policy: { name: snapshot.policy_id, version: snapshot.version, mode: snapshot.mode },
    counts: calls,
    rows: shown.map((row) => ({
      at: row.ts,
      server: row.server_name,
      tool: row.tool_name,
      outcome: row.outcome,
      recorded: decisionText(row.recorded),
      replayed: row.replayed === null ? null : decisionText(row.replayed),
    })),
    left_off: left + rows.length - shown.length,
    notes: replayNotes(snapshot, tally, false),
  }
}

const decisionText = ({ action, rule_id: rule, reason_code: reason }: RecordedDecision): string =>
  [action, reason, ...(rule === null ? [] : [`by ${rule}`])].join(' ')
