// What is to be said of a run: who, since when, how it went so far, and how much room it takes.
import fs from 'node:fs'
import { basename } from 'node:path'
import { bootId } from '../boot-id.ts'
import { isErrno } from '../errors.ts'
import type { RunIdentity, RunStatus, UsageTotal } from '../events/types.ts'
import { isAlive } from './process-start.ts'
import { type RecordLine, RecordReader } from './record-reader.ts'
import { emptyBooks, enterStored, isStatus, type RunBooks } from './run-books.ts'
import { costOf } from './run-cost.ts'
import type { RunFolder } from './run-folder.ts'
import { booksPath, readBooks, recordPath } from './run-log.ts'
import { lookAtMembers } from './run-members.ts'

export interface RunFacts {
  /** Null where nothing of the record can be read. */
  readonly run_id: string | null
  readonly folder: string
  /** Lost where the record tells of no end and all that could have written one is gone; unknown where it tells of no start. */
  readonly state: 'open' | 'ended' | 'lost' | 'unknown'
  /** Of a run that goes on, the worst that was reported so far. */
  readonly status: RunStatus | 'unknown'
  readonly segment: number
  readonly agent_id: string | null
  readonly client: string | null
  readonly haid: string | null
  readonly session_id: string | null
  readonly started_at: string | null
  readonly changed_at: string
  readonly calls: RunBooks['counts']
  /** What its models have cost so far; null where none was heard of. */
  readonly cost: UsageTotal | null
  /** Processes that take part in it now. */
  readonly members: number
  readonly bytes: number
}

export function factsOf({ runDir, changedMs, bytes }: RunFolder): RunFacts {
  const who = identityIn(runDir)
  const books = booksOf(runDir)
  const { alive, dead } = lookAtMembers(runDir)
  return {
    run_id: who?.run_id ?? null,
    folder: basename(runDir),
    state: stateOf(books, alive.length, dead.length),
    status: books.segment > 0 && isStatus(books.status) ? books.status : 'unknown',
    segment: books.segment,
    agent_id: who?.agent_id ?? null,
    client: who?.client ?? null,
    haid: who?.haid ?? null,
    session_id: who?.session_id ?? null,
    started_at: books.startedMs === null ? null : new Date(books.startedMs).toISOString(),
    changed_at: new Date(changedMs).toISOString(),
    calls: books.counts,
    cost: costOf(runDir) ?? null,
    members: alive.length,
    bytes,
  }
}

function stateOf(books: RunBooks, alive: number, dead: number): RunFacts['state'] {
  if (alive > 0) return 'open'
  if (books.segment === 0) return 'unknown'
  if (books.hasEnded) return 'ended'
  return isProvedLost(books, dead) ? 'lost' : 'open'
}

/** Nobody takes part, and whoever the run was about is gone: its process, or the boot that it ran under. Of a run that is about nobody, those who took part and left no word are proof enough. Whoever may write closes it. */
function isProvedLost({ parent, bootId: boot }: RunBooks, dead: number): boolean {
  if (parent === null) return dead > 0
  // Books that were made anew from the record do not know the boot.
  return (boot !== '' && boot !== bootId()) || !isAlive(parent)
}

/** The books, with what stands in the record beyond them. */
export function booksOf(runDir: string): RunBooks {
  const stored = storedBooks(runDir)
  const books = stored !== undefined && stored.bytes <= sizeOf(recordPath(runDir)) ? stored : emptyBooks()
  eachLine(runDir, books.bytes, ({ text, event }) => {
    enterStored(books, text)
    if (event.type === 'run_end') books.status = event.run?.status as RunStatus
    return true
  })
  return books
}

function storedBooks(runDir: string): RunBooks | undefined {
  let fd: number
  try {
    fd = fs.openSync(booksPath(runDir), 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    return readBooks(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** Of the first event that the record tells. */
export function identityIn(runDir: string): RunIdentity | undefined {
  let found: RunIdentity | undefined
  eachLine(runDir, 0, ({ event }) => {
    found = event as unknown as RunIdentity
    return false
  })
  return found
}

function eachLine(runDir: string, from: number, visit: (line: RecordLine) => boolean): void {
  const reader = new RecordReader(runDir, from)
  try {
    for (;;) {
      const lines = reader.read()
      if (lines === 'gone' || lines.length === 0) return
      for (const line of lines) if (!visit(line)) return
    }
  } finally {
    reader.close()
  }
}

function sizeOf(path: string): number {
  return fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
