// Where a shim's events go: the shared record of a run, or a stream of its own.
import { rmSync, writeFileSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { type Clock, pause } from '../clock.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import { printable } from '../ids.ts'
import { RUN_JOIN_MS } from '../limits.ts'
import { ensureFolder, removeIfThere } from '../storage/atomic-file.ts'
import type { EventLines } from '../events/event-lines.ts'
import { EventText } from '../events/event-text.ts'
import { isAlive } from './process-start.ts'
import { momentOf } from './run-moment.ts'
import {
  beginSegment,
  emptyBooks,
  enterQueued,
  type ParentProcess,
  type RunBooks,
  summaryOf,
  worse,
} from './run-books.ts'
import { closeIfOver, moveAway, openMark } from './run-close.ts'
import { RunLog } from './run-log.ts'
import { joinMembers, lookAtMembers, type RunMembership } from './run-members.ts'
import type { RunIdentity, RunStart, RunStatus } from '../events/types.ts'

const NOTHING: Buffer = Buffer.alloc(0)

export interface Record {
  /** The `run_start` that a stream of this member's events begins with; in the record only where this member opened the run. */
  readonly opening: Buffer
  /** Writes the lines and returns their bytes, or nothing when it cannot be done at this moment without waiting. */
  write(lines: EventLines): Buffer | undefined
  /** True when everything written is out of this process, where no kill can take it back; a pipe may hold some for a slow reader. */
  isDelivered(): boolean
  /** Leaves the run; ends it if it is over. Returns what a stream of this member's events ends with (`run_end` last), or nothing when it must be tried again. */
  leave(status: RunStatus, eventsLost: number): Buffer | undefined
  close(): void
}

/**
 * The run of a shim alone: its own numbers, its own start and end. `out` takes whole lines and nothing else of the
 * buffer's life, or says false when it is full; it takes no line at all only when all it took before has gone out.
 */
export function soloRecord(text: EventText, start: RunStart, clock: Clock, out: (lines: Buffer) => boolean): Record {
  const books = emptyBooks()
  beginSegment(books, momentOf(clock))
  const { identity } = text
  const own = new EventText(identity, () => clock.wallMs())
  let hasStarted = false
  let end: Buffer | undefined
  const begin = (): boolean => {
    if (hasStarted) return true
    own.lines.clear()
    own.runStart({ ...start, segment: books.segment })
    hasStarted = out(own.lines.encode())
    return hasStarted
  }
  const write = (lines: EventLines): Buffer | undefined => {
    if (!begin()) return undefined
    const before = { ...books, counts: { ...books.counts } }
    enterQueued(books, lines.events)
    const bytes = lines.encode()
    let isTaken = false
    try {
      isTaken = out(bytes)
    } finally {
      if (!isTaken) Object.assign(books, before)
    }
    return isTaken ? bytes : undefined
  }
  return {
    opening: NOTHING,
    write,
    isDelivered: () => out(NOTHING),
    leave(status, eventsLost) {
      if (end === undefined && begin()) {
        const now = momentOf(clock)
        const endedAt = new Date(now.wallMs).toISOString()
        own.lines.clear()
        own.runEnd(status, endedAt, books.segment, summaryOf({ ...books, eventsLost }, now))
        end = write(own.lines)
      }
      // Whoever closes a pipe must wait until it has sent all it took.
      return end !== undefined && out(NOTHING) ? end : undefined
    },
    close() {},
  }
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
  const log = new RunLog(runDir)
  const text = new EventText(identity, () => clock.wallMs())
  let membership: RunMembership | undefined
  /** Returns what it wrote. */
  const enterRun = (books: RunBooks): Buffer => {
    ensureFolder(joinPath(runsDir, '.open'))
    writeFileSync(openMark(runsDir, folder), '', { mode: 0o600 })
    // Whoever closed the run has removed the file by which this member was known.
    membership?.leave()
    membership = joinMembers(runDir, identity.source.shim_id)
    const isOpening = books.segment === 0 || books.hasEnded
    if (role === 'owner' && !isOpening) refuseSecondOwner(joining, books)
    if (isOpening) beginSegment(books, momentOf(clock))
    if (role === 'owner') {
      books.isOwned = true
      books.parent = joining.parent
    } else if (joining.parent !== null && !books.isOwned) books.parent = joining.parent
    books.quietMs = joining.quietMs
    books.quietSinceMs = null
    if (!isOpening) {
      log.saveBooks()
      return NOTHING
    }
    text.lines.clear()
    text.runStart({ ...joining.start, segment: books.segment })
    return log.append(text.lines)
  }
  /** Lines for a stream of this member's events alone: every producer has a start and an end (seed 004 §1.2). */
  const streamed = (put: () => void): Buffer => {
    text.lines.clear()
    put()
    return text.lines.encode()
  }
  const startOf = (books: RunBooks): Buffer => {
    const written = enterRun(books)
    return written.length > 0 ? written : streamed(() => text.runStart({ ...joining.start, segment: books.segment }))
  }
  const enterIfOpen = (books: RunBooks): Buffer | 'ended' =>
    !mayOpen && (books.segment === 0 || books.hasEnded) ? 'ended' : startOf(books)
  const streamEnd = (books: RunBooks): Buffer => {
    const now = momentOf(clock)
    const endedAt = new Date(now.wallMs).toISOString()
    return streamed(() => text.runEnd(books.status, endedAt, books.segment, summaryOf(books, now)))
  }
  let opening: Buffer | 'ended'
  try {
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
    write: (lines) =>
      log.appendNext(lines) ??
      log.locked((books) => {
        // Somebody took this member for dead and closed the run.
        const reopening = books.hasEnded ? enterRun(books) : NOTHING
        const written = log.append(lines)
        return reopening.length === 0 ? written : Buffer.concat([reopening, written])
      }),
    isDelivered: () => true,
    leave: (status, eventsLost) =>
      log.locked((books) => {
        membership?.leave()
        membership = undefined
        if (books.hasEnded) return streamEnd(books)
        // What the run is about is over; that its process may yet be there keeps nothing open.
        if (role === 'owner') books.parent = null
        // Hosts end their servers by a signal when they are done: what is said of a run that somebody keeps, that one says.
        if (role === 'owner' || status !== 'CANCELLED' || !books.isOwned) books.status = worse(books.status, status)
        books.eventsLost += eventsLost
        log.saveBooks()
        return closeIfOver({ runsDir, folder, log, identity, clock }, books) ?? streamEnd(books)
      }),
    close() {
      membership?.leave()
      log.close()
    },
  }
}

/** Two owners of one run would each close it, and neither would know when. */
function refuseSecondOwner({ identity, parent }: Joining, books: RunBooks): void {
  const { isOwned, parent: owner } = books
  if (!isOwned || owner === null || !isAlive(owner)) return
  if (owner.pid === parent?.pid && owner.start === parent.start) return
  throw new HeimdallError('RUN_AT_WORK', `run ${printable(identity.run_id)} goes on already: process ${owner.pid}`, {
    hint: 'give another id, or wait for its end',
  })
}

/** A run that could not be begun has never been. What of it is in the way stays, and is pruned some day. */
function undoOpening({ runsDir, folder }: Joining, log: RunLog): void {
  try {
    log.locked(({ bytes }) => {
      if (bytes > 0 || lookAtMembers(joinPath(runsDir, folder)).alive.length > 0) return
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
