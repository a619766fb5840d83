// The end of a run: open calls of the dead are ended, then the one run_end is written, by whoever is last or comes to look.
import { lstatSync, renameSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import { HeimdallError, isErrno, isSystemError } from '../errors.ts'
import { ABANDONED_RUNS_MAX } from '../limits.ts'
import { EventLines } from '../events/event-lines.ts'
import { type CallNames, EventText } from '../events/event-text.ts'
import { PREVIEW_NONE } from '../events/preview.ts'
import { isAlive } from './process-start.ts'
import { sweepSoloFolders } from './questions.ts'
import { momentOf, recordedMoment } from './run-moment.ts'
import type { RecordedEvent } from './recorded-event.ts'
import type { RunFold } from './run-fold.ts'
import { isQuiet, type RunMoment, type RunTotals, summaryOf, worse } from './run-totals.ts'
import { RunLog } from './run-log.ts'
import { forgetMembers, lookAtMembers } from './run-members.ts'
import type { RunIdentity, RunStatus } from '../events/types.ts'
import { namesIn } from '../storage/folder-names.ts'

/** One empty file per run that has not ended, so that a look for abandoned runs does not read all runs that ever were. */
export const openMark = (runsDir: string, folder: string): string => join(runsDir, '.open', folder)

/** Folders on their way out begin so; what a killed process has left of them goes the next time. */
export const LEAVING = '.leaving-'

/** Takes a run its name and its record, whose lock must be held; returns where the rest of it is. */
export function moveAway(runsDir: string, folder: string, log: RunLog): string {
  const leaving = join(runsDir, `${LEAVING}${process.pid}-${folder}`)
  renameSync(join(runsDir, folder), leaving)
  // Whoever waits for the lock with the old record open finds it without a name, and begins anew under the old one.
  log.removeAt(leaving)
  return leaving
}

export interface Closing {
  readonly runsDir: string
  readonly folder: string
  readonly log: RunLog
  readonly clock: Clock
  /** Envelope of run_end; without it, that of the run's own run_start. */
  readonly identity?: RunIdentity
}

/** What a member that leaves reports. */
interface LastReport {
  readonly status: RunStatus
  readonly eventsLost: number
}

/**
 * Ends the run if no process takes part in it any more: at once where it has an owner and what that runs is over, or where
 * its host is gone, else after a quiet time. Returns the lines written, or nothing if the run goes on. The record must be locked.
 */
export function closeIfOver(closing: Closing, fold: RunFold, report?: LastReport): Buffer | undefined {
  const { totals } = fold
  if (totals.hasEnded) return undefined
  const runDir = join(closing.runsDir, closing.folder)
  const { alive, dead } = lookAtMembers(runDir)
  if (alive.length > 0) return undefined
  const now = momentOf(closing.clock)
  const reported = report?.status ?? totals.status
  // A shim that died without leaving did not end well, and neither did the run.
  const status = dead.length > 0 ? worse(reported, 'FAILED') : reported
  if (isAwaited({ ...totals, quietSince: totals.quietSince ?? now }, now)) {
    // Every shim comes here once a minute: nothing is read for a run that is quiet already.
    if (totals.quietSince !== null || report !== undefined) return undefined
    const identity = identityOfRun(closing)
    if (identity !== undefined) {
      const text = new EventText(identity, () => now.wallMs)
      text.runLeft({ status, is_last: true }, recordedMoment(now))
      closing.log.append(text.lines)
    }
    return undefined
  }
  const written: Buffer[] = []
  const identity = identityOfRun(closing)
  if (identity !== undefined) {
    if (dead.length > 0 && fold.hasOpenCalls) written.push(closing.log.append(endsOfOpenCalls(closing.log, now.wallMs)))
    const text = new EventText(identity, () => now.wallMs)
    const eventsLost = totals.eventsLost + (report?.eventsLost ?? 0)
    const endedAt = new Date(now.wallMs).toISOString()
    text.runEnd(status, endedAt, totals.segment, summaryOf({ ...totals, eventsLost }, now))
    written.push(closing.log.append(text.lines))
    closing.log.checkpoint()
  }
  clearAway(closing)
  return Buffer.concat(written)
}

/** What is left to do when the end stands in the record. Where that fails the mark stays, and the next command that looks does it. */
function clearAway({ runsDir, folder }: Pick<Closing, 'runsDir' | 'folder'>): void {
  forgetMembers(join(runsDir, folder))
  removeMark(openMark(runsDir, folder))
}

/** A process takes part in the run, or it has not ended and its host may yet start another shim of it. */
export function isLive(runDir: string, totals: RunTotals, clock: Clock): boolean {
  if (lookAtMembers(runDir).alive.length > 0) return true
  const now = momentOf(clock)
  return totals.segment > 0 && !totals.hasEnded && isAwaited({ ...totals, quietSince: totals.quietSince ?? now }, now)
}

/** What the run is about goes on; or, of a run without owner, its host may start another shim of it. */
function isAwaited(totals: RunTotals, now: RunMoment): boolean {
  const { parent, isOwned, startedAt } = totals
  return parent !== null && (isOwned ? startedAt?.bootId === now.bootId : !isQuiet(totals, now)) && isAlive(parent)
}

export interface ClosedRuns {
  readonly closed: number
  /** Runs that go on: somebody takes part in them, or their host lives. */
  readonly open: number
  /** What stood in the way of closing others. */
  readonly problems: readonly string[]
}

/** Closes runs whose members are all dead and for whom nobody waits, and removes what dead shims have left of their questions. A run that is busy at this moment is left alone. */
export function closeAbandonedRuns(runsDir: string, clock: Clock): ClosedRuns {
  const folders = openRuns(runsDir)
  // Not always the same ones first: with many runs open, the dead among the last would never be looked at.
  const from = folders.length <= ABANDONED_RUNS_MAX ? 0 : Math.floor(clock.wallMs()) % folders.length
  const some = [...folders.slice(from), ...folders.slice(0, from)].slice(0, ABANDONED_RUNS_MAX)
  const problems: string[] = []
  let closed = 0
  sweepSoloFolders(runsDir, clock.wallMs())
  for (const folder of some) {
    try {
      if (closeAbandoned(runsDir, folder, clock)) closed += 1
    } catch (error) {
      if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      problems.push(`run ${folder} cannot be closed: ${error.message}`)
    }
  }
  return { closed, open: folders.length - closed - problems.length, problems }
}

/** True when this has closed it; false when it was, goes on, or is busy at this moment. */
export function closeAbandoned(runsDir: string, folder: string, clock: Clock): boolean {
  const runDir = join(runsDir, folder)
  // To open a run that somebody has removed would make it anew.
  if (lstatSync(runDir, { throwIfNoEntry: false }) === undefined) {
    removeMark(openMark(runsDir, folder))
    return true
  }
  const log = new RunLog(runDir)
  try {
    const text = log.locked((fold) => {
      if (fold.totals.hasEnded) clearAway({ runsDir, folder })
      return closeIfOver({ runsDir, folder, log, clock }, fold)
    })
    return text !== undefined
  } finally {
    log.close()
  }
}

const openRuns = (runsDir: string): string[] => namesIn(join(runsDir, '.open'))

function removeMark(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
  }
}

type StoredCall = RecordedEvent & RunIdentity & { readonly call: CallNames }

const CALL_NAMES = ['call_id', 'server_name', 'tool_name', 'args_hash'] as const satisfies readonly (keyof CallNames)[]

const namesOf = ({ call_id, server_name, tool_name, args_hash }: CallNames): CallNames => ({
  call_id,
  server_name,
  tool_name,
  args_hash,
})

/** Whether the end of a call can be written from its start. */
const isStoredCall = (event: RecordedEvent): event is StoredCall =>
  typeof event['run_id'] === 'string' &&
  CALL_NAMES.every((name) => typeof (event.call as Partial<CallNames> | undefined)?.[name] === 'string')

/** Calls that began and never ended: their shim was killed. Each is ended in the name of that shim. */
function endsOfOpenCalls(log: RunLog, nowMs: number): EventLines {
  const open = new Map<string, StoredCall>()
  log.read((event) => {
    if (!isStoredCall(event)) return
    if (event.type === 'tool_call_start') open.set(event.call.call_id, event)
    else if (event.type === 'tool_call_end') open.delete(event.call.call_id)
  })
  const lines = new EventLines()
  for (const start of open.values()) {
    const startedMs = Date.parse(String(start.ts))
    const text = new EventText(start, () => nowMs, lines)
    text.callEnd(
      namesOf(start.call),
      {
        status: 'ERROR',
        latencyMs: Number.isNaN(startedMs) ? 0 : Math.max(0, Math.floor(nowMs - startedMs)),
        bytesOut: 0,
        error: { class: 'transport', message: 'the shim ended before the answer came', retryable: false },
      },
      PREVIEW_NONE,
    )
  }
  return lines
}

/** Without one of its own, that of the first `run_start`, which the record begins with. */
function identityOfRun({ identity, log }: Closing): RunIdentity | undefined {
  return identity ?? log.first(isRunStart)
}

const isRunStart = (event: RecordedEvent): event is RecordedEvent & RunIdentity =>
  event.type === 'run_start' && typeof event['run_id'] === 'string'
