// The shared record of a run, as one of its members writes it: joining, writing, leaving.
import { rmSync, writeFileSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import { printable } from '../ids.ts'
import { RUN_JOIN_MS } from '../limits.ts'
import { ensureFolder, removeIfThere } from '../storage/atomic-file.ts'
import type { EventLines, QueuedEvent } from '../events/event-lines.ts'
import { EventText } from '../events/event-text.ts'
import { isAlive } from './process-start.ts'
import type { RunFold } from './run-fold.ts'
import { momentOf, recordedMoment } from './run-moment.ts'
import { type MemberFields, type ParentProcess, type RunTotals, summaryOf, worse } from './run-totals.ts'
import { closeIfOver, moveAway, openMark } from './run-close.ts'
import { RunLog } from './run-log.ts'
import { joinMembers, lookAtMembers, type RunMembership } from './run-members.ts'
import type { RunIdentity, RunStart, RunStatus } from '../events/types.ts'

const NOTHING: Buffer = Buffer.alloc(0)

export interface Record {
  /** The `run_start` that a stream of this member's events begins with; in the record only where this member opened the run. */
  readonly opening: Buffer
  /** What the record adds up to, with what this member has counted and not written. */
  readonly fold: RunFold
  /**
   * Writes the lines and returns their bytes, or nothing when it cannot be done at this moment without waiting. `decide` is
   * called once all that others have written is known, and no other process can write; what it puts is written as well.
   */
  write(lines: EventLines, decide?: () => void): Buffer | undefined
  /** Reads what others have written, where that needs no waiting. */
  refresh(): void
  /** True when everything written is out of this process, where no kill can take it back; a pipe may hold some for a slow reader. */
  isDelivered(): boolean
  /** Leaves the run; ends it if it is over. Returns what a stream of this member's events ends with (`run_end` last), or nothing when it must be tried again. */
  leave(status: RunStatus, eventsLost: number): Buffer | undefined
  close(): void
}

export interface Joining {
  readonly runsDir: string
  readonly folder: string
  readonly identity: RunIdentity
  readonly start: RunStart
  readonly role: 'shim' | 'owner'
  /**
   * Whose shims take part; a run without owner stays open while it lives, and somebody may yet come. Of an owner: the
   * process that the run is about, which keeps it open whoever else has died.
   */
  readonly parent: ParentProcess | null
  /** How long such a run stays open when nobody comes. */
  readonly quietMs: number
  readonly clock: Clock
  /** Events that this process has counted and not written yet. */
  readonly queued?: () => readonly QueuedEvent[]
}

/** Takes part in a run, opening it if nobody has. A run that has ended goes on as its next segment. */
export async function joinRun(joining: Joining): Promise<Record> {
  const record = await join(joining, true)
  if (record === undefined) throw new HeimdallError('INTERNAL', 'a run that may be opened was not')
  return record
}

/** For whoever goes on with a part that somebody began: nothing where the run is not open any more, and so it stays. */
export function rejoinRun(joining: Joining): Promise<Record | undefined> {
  return join(joining, false)
}

async function join(joining: Joining, mayOpen: boolean): Promise<Record | undefined> {
  const { runsDir, folder, identity, role, clock } = joining
  const runDir = joinPath(runsDir, folder)
  const log = new RunLog(runDir, joining.queued)
  const text = new EventText(identity, () => clock.wallMs())
  const member: MemberFields = { is_owner: role === 'owner', parent: joining.parent, quiet_ms: joining.quietMs }
  let membership: RunMembership | undefined
  const append = (put: () => void): Buffer => {
    text.lines.clear()
    put()
    return log.append(text.lines)
  }
  /** Returns what it wrote. */
  const enterRun = ({ totals }: RunFold): Buffer => {
    ensureFolder(joinPath(runsDir, '.open'))
    writeFileSync(openMark(runsDir, folder), '', { mode: 0o600 })
    // Whoever closed the run has removed the file by which this member was known.
    membership?.leave()
    membership = joinMembers(runDir, identity.source.shim_id)
    const isOpening = totals.segment === 0 || totals.hasEnded
    if (role === 'owner' && !isOpening) refuseSecondOwner(joining, totals)
    const moment = recordedMoment(momentOf(clock))
    if (isOpening) return append(() => text.runStart({ ...joining.start, segment: totals.segment + 1 }, member, moment))
    return isNews(member, totals) ? append(() => text.runJoined(member, moment)) : NOTHING
  }
  /** Lines for a stream of this member's events alone: every producer has a start and an end (seed 004 §1.2). */
  const streamed = (put: () => void): Buffer => {
    text.lines.clear()
    put()
    return text.lines.encode()
  }
  const startOf = (fold: RunFold): Buffer => {
    const segment = fold.totals.hasEnded ? fold.totals.segment + 1 : Math.max(1, fold.totals.segment)
    enterRun(fold)
    return streamed(() => text.runStart({ ...joining.start, segment }, undefined, recordedMoment(momentOf(clock))))
  }
  const enterIfOpen = (fold: RunFold): Buffer | 'ended' =>
    !mayOpen && (fold.totals.segment === 0 || fold.totals.hasEnded) ? 'ended' : startOf(fold)
  const streamEnd = ({ totals }: RunFold): Buffer => {
    const now = momentOf(clock)
    const endedAt = new Date(now.wallMs).toISOString()
    return streamed(() => text.runEnd(totals.status, endedAt, totals.segment, summaryOf(totals, now)))
  }
  let opening: Buffer | 'ended'
  try {
    while (!log.readAhead()) await pause(clock, 0)
    opening = await insist(clock, log.path, () => log.locked(enterIfOpen), RUN_JOIN_MS)
  } catch (error) {
    membership?.leave()
    undoOpening(joining, log)
    log.close()
    throw error
  }
  if (opening === 'ended') {
    log.close()
    return undefined
  }
  return {
    opening,
    get fold() {
      return log.fold
    },
    write: (lines, decide) =>
      log.locked((fold) => {
        // Another process took this member for dead and closed the run.
        const reopening = fold.totals.hasEnded ? enterRun(fold) : NOTHING
        decide?.()
        const written = lines.count === 0 ? NOTHING : log.append(lines, true)
        return reopening.length === 0 ? written : Buffer.concat([reopening, written])
      }),
    refresh: () => log.refresh(),
    isDelivered: () => true,
    leave: (reported, eventsLost) =>
      log.locked((fold) => {
        membership?.leave()
        membership = undefined
        const { totals } = fold
        if (totals.hasEnded) return streamEnd(fold)
        // Hosts end their servers by a signal when they are done: of a run that has an owner, the owner says how it ended.
        const isHeard = role === 'owner' || reported !== 'CANCELLED' || !totals.isOwned
        const status = isHeard ? worse(totals.status, reported) : totals.status
        const isLast = lookAtMembers(runDir).alive.length === 0
        // What an owned run is about is over; that its process may yet be there keeps nothing open.
        if (role === 'owner') totals.parent = null
        const closed = closeIfOver({ runsDir, folder, log, identity, clock }, fold, { status, eventsLost })
        if (closed !== undefined) return closed
        if (status !== totals.status || eventsLost > 0 || isLast || role === 'owner')
          append(() =>
            text.runLeft(
              { status, events_lost: eventsLost, is_last: isLast, is_owner: role === 'owner' },
              recordedMoment(momentOf(clock)),
            ),
          )
        return streamEnd(fold)
      }),
    close() {
      membership?.leave()
      log.close()
    },
  }
}

/** Whether a run that is open is waited for otherwise since this member has joined. */
function isNews({ is_owner: isOwner, parent, quiet_ms: quietMs }: MemberFields, totals: RunTotals): boolean {
  if (isOwner) return !totals.isOwned || !isSameProcess(parent, totals.parent)
  // What its owner says counts.
  if (totals.isOwned) return false
  return (
    totals.quietSince !== null ||
    quietMs !== totals.quietMs ||
    (parent !== null && !isSameProcess(parent, totals.parent))
  )
}

const isSameProcess = (a: ParentProcess | null, b: ParentProcess | null): boolean =>
  a?.pid === b?.pid && a?.start === b?.start

/** Two owners of one run would each close it, and neither would know when. */
function refuseSecondOwner({ identity, parent }: Joining, { isOwned, parent: owner }: RunTotals): void {
  if (!isOwned || owner === null || !isAlive(owner)) return
  if (isSameProcess(owner, parent)) return
  throw new HeimdallError('RUN_AT_WORK', `run ${printable(identity.run_id)} goes on already: process ${owner.pid}`, {
    hint: 'give another id, or wait for its end',
  })
}

/** A run that could not be begun has never been. What of it is in the way stays, and is pruned some day. */
function undoOpening({ runsDir, folder }: Joining, log: RunLog): void {
  try {
    log.locked(() => {
      if (log.bytes > 0 || lookAtMembers(joinPath(runsDir, folder)).alive.length > 0) return
      rmSync(moveAway(runsDir, folder, log), { recursive: true, force: true })
      removeIfThere(openMark(runsDir, folder))
    })
  } catch (error) {
    if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
  }
}

/** Repeats what another process may be in the way of, in short pauses, until the time for a lock is over. */
export async function insist<T>(clock: Clock, path: string, act: () => T | undefined, waitMs: number): Promise<T> {
  const deadlineMs = clock.monoMs() + waitMs
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 20)) {
    const result = act()
    if (result !== undefined) return result
    if (clock.monoMs() >= deadlineMs)
      throw new HeimdallError('STORE_BUSY', `another process has held ${path} for ${waitMs} ms`)
    await pause(clock, pauseMs)
  }
}
